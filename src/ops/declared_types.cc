// SPDX-License-Identifier: Apache-2.0
#include "ops/declared_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::Problem;

namespace {

// Types nest by their own messages; what is deeper is written as "...".
constexpr int kMaxTypeDepth = 16;

std::string DescribeShape(const TensorShapeProto& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.dim().size(); ++i) {
    const auto& dim = shape.dim(i);
    if (i > 0) text += ",";
    if (dim.has_dim_value()) {
      text += fmt::format("{}", dim.dim_value());
    } else {
      text += dim.has_dim_param() && !dim.dim_param().empty() ? dim.dim_param().as_string() : "?";
    }
  }
  return text + "]";
}

std::string Describe(const TypeProto& type, int depth) {
  if (depth > kMaxTypeDepth) return "...";
  if (type.has_tensor_type() || type.has_sparse_tensor_type()) {
    const bool dense = type.has_tensor_type();
    const int32_t elem_type = dense ? type.tensor_type().elem_type() : type.sparse_tensor_type().elem_type();
    const bool has_shape = dense ? type.tensor_type().has_shape() : type.sparse_tensor_type().has_shape();
    std::string text = (dense ? "" : "sparse_") + onnx_optim::ToTypeString(onnx_optim::DataTypeToTensorType(elem_type));
    if (has_shape) text += DescribeShape(dense ? type.tensor_type().shape() : type.sparse_tensor_type().shape());
    return text;
  }
  if (type.has_sequence_type()) return fmt::format("seq({})", Describe(type.sequence_type().elem_type(), depth + 1));
  if (type.has_optional_type())
    return fmt::format("optional({})", Describe(type.optional_type().elem_type(), depth + 1));
  if (type.has_map_type()) {
    return fmt::format("map({},{})",
                       onnx_optim::TensorTypeName(onnx_optim::DataTypeToTensorType(type.map_type().key_type())),
                       Describe(type.map_type().value_type(), depth + 1));
  }
  return "unknown";
}

void CheckDims(const TypeProto& type, int depth) {
  if (depth > kMaxTypeDepth) return;
  const auto check = [](const TensorShapeProto& shape) {
    for (const auto& dim : shape.dim()) {
      if (dim.has_dim_value() && dim.dim_value() < 0)
        throw InvalidArgument(fmt::format("has a negative dim, {}", dim.dim_value()));
    }
    if (shape.dim().size() > OptimShape::kMaxRank) {
      throw InvalidArgument(fmt::format("has {} dims, more than {}", shape.dim().size(), OptimShape::kMaxRank));
    }
  };
  if (type.has_tensor_type()) check(type.tensor_type().shape());
  if (type.has_sparse_tensor_type()) check(type.sparse_tensor_type().shape());
  if (type.has_sequence_type()) CheckDims(type.sequence_type().elem_type(), depth + 1);
  if (type.has_optional_type()) CheckDims(type.optional_type().elem_type(), depth + 1);
  if (type.has_map_type()) CheckDims(type.map_type().value_type(), depth + 1);
}

Agreement CompareShapes(const OptimShape& inferred, const TensorShapeProto& declared, const ShapesContext& ctx) {
  if (inferred.IsUnknown()) return Agreement::kAgree;
  if (inferred.Rank() != declared.dim().size()) return Agreement::kContradict;
  Agreement result = Agreement::kAgree;
  for (size_t i = 0; i < inferred.Rank(); ++i) {
    const auto& dim = declared.dim(i);
    const OptimDim mine = ctx.Simplify(inferred[i]);
    if (dim.has_dim_value()) {
      if (ctx.ProvablyDifferent(mine, OptimDim(dim.dim_value()))) return Agreement::kContradict;
      continue;
    }
    if (!dim.has_dim_param() || dim.dim_param().empty()) continue;
    const OptimDim theirs = ctx.Simplify(ctx.DimFromParam(dim.dim_param()));
    const std::vector<std::string> symbols = onnx_optim::Symbols(theirs);
    // Only names the model's inputs gave a meaning to can be contradicted.
    if (!std::all_of(symbols.begin(), symbols.end(),
                     [&](const std::string& symbol) { return ctx.IsKnownSymbol(symbol); }))
      continue;
    if (ctx.ProvablyDifferent(mine, theirs)) return Agreement::kContradict;
    if (mine.IsExpr() && theirs.IsExpr() && !onnx_optim::MentionsFresh(mine) && !ctx.Equal(mine, theirs))
      result = Agreement::kDoubtful;
  }
  return result;
}

Agreement Compare(const ShapeValue& inferred, const TypeProto& declared, const ShapesContext& ctx, int depth) {
  using Kind = ShapeValue::Kind;
  if (inferred.IsUnknown() || depth > kMaxTypeDepth) return Agreement::kAgree;
  if (declared.has_optional_type()) {
    const ShapeValue& held = inferred.IsOptional() ? inferred.Elem() : inferred;
    return Compare(held, declared.optional_type().elem_type(), ctx, depth + 1);
  }
  if (inferred.IsOptional()) return Compare(inferred.Elem(), declared, ctx, depth + 1);
  const auto tensor = [&](int32_t elem_type, bool has_shape, const TensorShapeProto& shape) {
    const TensorType type = onnx_optim::DataTypeToTensorType(elem_type);
    if (type != TensorType::kUndefined && inferred.Dtype() != TensorType::kUndefined && type != inferred.Dtype()) {
      return Agreement::kContradict;
    }
    return has_shape ? CompareShapes(inferred.Shape(), shape, ctx) : Agreement::kAgree;
  };
  if (declared.has_tensor_type()) {
    if (inferred.kind() != Kind::kTensor) return Agreement::kContradict;
    return tensor(declared.tensor_type().elem_type(), declared.tensor_type().has_shape(),
                  declared.tensor_type().shape());
  }
  if (declared.has_sparse_tensor_type()) {
    if (inferred.kind() != Kind::kSparse && inferred.kind() != Kind::kTensor) return Agreement::kContradict;
    return tensor(declared.sparse_tensor_type().elem_type(), declared.sparse_tensor_type().has_shape(),
                  declared.sparse_tensor_type().shape());
  }
  if (declared.has_sequence_type()) {
    if (inferred.kind() != Kind::kSequence) return Agreement::kContradict;
    const onnx_optim::shapes::SequenceInfo& info = inferred.SequenceOf();
    // The dims of elements that are not there contradict nothing.
    if (info.IsKnownEmpty()) return Agreement::kAgree;
    return Compare(info.elem, declared.sequence_type().elem_type(), ctx, depth + 1);
  }
  if (declared.has_map_type()) {
    const TensorType key = onnx_optim::DataTypeToTensorType(declared.map_type().key_type());
    if (inferred.kind() != Kind::kMap || inferred.Dtype() != key) return Agreement::kContradict;
    return Compare(inferred.Elem(), declared.map_type().value_type(), ctx, depth + 1);
  }
  return Agreement::kAgree;
}

// The names the file gives dims that nothing else names.
void AdoptNames(ShapesContext& ctx, const std::string& name, const TypeProto& declared) {
  if (!declared.has_tensor_type() || !declared.tensor_type().has_shape()) return;
  const OptimShape shape = ctx.GetValue(name).Shape();
  const TensorShapeProto& names = declared.tensor_type().shape();
  if (shape.Rank() != names.dim().size()) return;
  for (size_t i = 0; i < shape.Rank(); ++i) {
    const OptimDim dim = ctx.Simplify(shape[i]);
    if (!onnx_optim::IsFresh(dim) || !names.dim(i).has_dim_param()) continue;
    const std::string& text = names.dim(i).dim_param();
    const OptimDim symbol = OptimDim::Symbol(text);
    if (text.empty() || ctx.IsKnownSymbol(text) || onnx_optim::IsFresh(symbol)) continue;
    ctx.DeclareSymbol(text);
    ctx.AddConstraint(symbol, dim);
  }
}

}  // namespace

std::string DescribeType(const TypeProto& type) { return Describe(type, 0); }

void CheckDims(const TypeProto& type) { CheckDims(type, 0); }

Agreement CompareTypes(const ShapeValue& inferred, const TypeProto& declared, const ShapesContext& ctx) {
  return Compare(inferred, declared, ctx, 0);
}

void CompareWithDeclared(ShapesContext& ctx, const std::string& name, const TypeProto& declared, ErrorWhere where) {
  const ShapeValue* inferred = ctx.Find(name);
  if (inferred == nullptr || inferred->IsUnknown()) return;
  const Agreement agreement = CompareTypes(*inferred, declared, ctx);
  if (agreement != Agreement::kAgree) {
    const InvalidArgument text(
        fmt::format("is {}, declared {}", InferScope::Simplified(ctx, *inferred).ToString(), DescribeType(declared)),
        std::move(where));
    ctx.AddProblem(agreement == Agreement::kContradict ? Problem::Level::kError : Problem::Level::kWarning,
                   text.what());
    return;
  }
  if (inferred->IsTensor()) AdoptNames(ctx, name, declared);
}

}  // namespace ONNX_LIGHT_NAMESPACE
