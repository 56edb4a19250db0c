// SPDX-License-Identifier: Apache-2.0
// Declared types to what is known, and back.
#include <algorithm>
#include <set>

#include "onnx_optim/shapes/shape_value.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

// Types nest no deeper in any model; a deeper one is taken as unknown.
constexpr int kMaxNesting = 32;

template <class Fn>
void ForEachShape(const TypeProto& type, int depth, const Fn& fn) {
  if (depth > kMaxNesting) return;
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      fn(type.tensor_type().shape());
      return;
    case TypeProto::kSparseTensorType:
      fn(type.sparse_tensor_type().shape());
      return;
    case TypeProto::kSequenceType:
      return ForEachShape(type.sequence_type().elem_type(), depth + 1, fn);
    case TypeProto::kOptionalType:
      return ForEachShape(type.optional_type().elem_type(), depth + 1, fn);
    case TypeProto::kMapType:
      return ForEachShape(type.map_type().value_type(), depth + 1, fn);
    default:
      return;
  }
}

// A shape too long to hold is as good as unknown.
OptimShape ReadShape(bool present, const TensorShapeProto& proto, ShapesContext& ctx) {
  if (!present || static_cast<size_t>(proto.dim_size()) > OptimShape::kMaxRank) return OptimShape::Unknown();
  std::vector<OptimDim> dims;
  for (const auto& dim : proto.dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.emplace_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      dims.push_back(ctx.DimFromParam(dim.dim_param()));
    } else {
      dims.push_back(ctx.FreshDim());
    }
  }
  return OptimShape(std::move(dims));
}

ShapeValue Read(const TypeProto& type, int depth, ShapesContext& ctx) {
  if (depth > kMaxNesting) return ShapeValue();
  switch (type.value_case()) {
    case TypeProto::kTensorType: {
      const auto& tensor = type.tensor_type();
      return ShapeValue::Tensor(DataTypeToTensorType(tensor.elem_type()),
                                ReadShape(tensor.has_shape(), tensor.shape(), ctx));
    }
    case TypeProto::kSparseTensorType: {
      const auto& tensor = type.sparse_tensor_type();
      return ShapeValue::Sparse(DataTypeToTensorType(tensor.elem_type()),
                                ReadShape(tensor.has_shape(), tensor.shape(), ctx));
    }
    case TypeProto::kSequenceType:
      return ShapeValue::Sequence(
          SequenceInfo::Summary(ctx.FreshDim("len"), Read(type.sequence_type().elem_type(), depth + 1, ctx)));
    case TypeProto::kOptionalType:
      return ShapeValue::Optional(Read(type.optional_type().elem_type(), depth + 1, ctx), std::nullopt);
    case TypeProto::kMapType:
      return ShapeValue::Map(DataTypeToTensorType(type.map_type().key_type()),
                             Read(type.map_type().value_type(), depth + 1, ctx));
    default:
      return ShapeValue();
  }
}

// `varying`: the symbols that must not be written.
void WriteShape(const OptimShape& shape, const std::set<std::string>& varying, TensorShapeProto& proto) {
  proto.Clear();
  for (const OptimDim& dim : shape) {
    auto* written = proto.add_dim();
    if (dim.IsInt()) {
      written->set_dim_value(dim.AsInt());
      continue;
    }
    const std::vector<std::string> names = Symbols(dim);
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return varying.contains(name); })) {
      written->set_dim_param(dim.AsExpr());
    }
  }
}

bool Write(const ShapeValue& value, std::set<std::string> varying, TypeProto& type) {
  switch (value.kind()) {
    case ShapeValue::Kind::kUnknown:
      return false;
    case ShapeValue::Kind::kTensor:
      if (value.Dtype() == TensorType::kUndefined) return false;
      type.mutable_tensor_type()->set_elem_type(TensorTypeToDataType(value.Dtype()));
      if (value.HasRank()) WriteShape(value.Shape(), varying, *type.mutable_tensor_type()->mutable_shape());
      return true;
    case ShapeValue::Kind::kSparse:
      if (value.Dtype() == TensorType::kUndefined) return false;
      type.mutable_sparse_tensor_type()->set_elem_type(TensorTypeToDataType(value.Dtype()));
      if (value.HasRank()) WriteShape(value.Shape(), varying, *type.mutable_sparse_tensor_type()->mutable_shape());
      return true;
    case ShapeValue::Kind::kSequence: {
      const SequenceInfo& info = value.SequenceOf();
      varying.insert(info.varying.begin(), info.varying.end());
      return Write(info.elem, std::move(varying), *type.mutable_sequence_type()->mutable_elem_type());
    }
    case ShapeValue::Kind::kOptional:
      return Write(value.Elem(), std::move(varying), *type.mutable_optional_type()->mutable_elem_type());
    case ShapeValue::Kind::kMap:
      type.mutable_map_type()->set_key_type(TensorTypeToDataType(value.Dtype()));
      return Write(value.Elem(), std::move(varying), *type.mutable_map_type()->mutable_value_type());
  }
  return false;
}

}  // namespace

void DeclareSymbols(const TypeProto& type, ShapesContext& ctx) {
  ForEachShape(type, 0, [&](const TensorShapeProto& shape) {
    for (const auto& dim : shape.dim()) {
      if (dim.has_dim_param() && expr::IsIdentifier(dim.dim_param())) ctx.DeclareSymbol(dim.dim_param());
    }
  });
}

ShapeValue FromTypeProto(const TypeProto& type, ShapesContext& ctx) {
  DeclareSymbols(type, ctx);
  return Read(type, 0, ctx);
}

bool ToTypeProto(const ShapeValue& value, TypeProto& type) {
  TypeProto written;
  if (!Write(value, {}, written)) return false;
  type = std::move(written);
  return true;
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
