// SPDX-License-Identifier: Apache-2.0
#include "runtime/declared_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/declared_types.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailFeed(std::string_view name, std::string fact) {
  throw InvalidArgument(std::move(fact),
                        {.op_type = {}, .node_name = {}, .subject = fmt::format("input \"{}\"", name), .path = {}});
}

constexpr int kMaxTypeDepth = 16;  // of sequences and maps in each other

}  // namespace

DeclaredType::DeclaredType(const ValueInfoProto& info, std::string_view what) {
  const ErrorWhere where{
      .op_type = {}, .node_name = {}, .subject = fmt::format("{} \"{}\"", what, info.name().as_string()), .path = {}};
  text_ = DescribeType(info.type());
  optional_ = info.type().has_optional_type();
  type_ = Read(optional_ ? info.type().optional_type().elem_type() : info.type(), where, 0);
}

DeclaredType::Type DeclaredType::Read(const TypeProto& type, const ErrorWhere& where, int depth) const {
  if (type.value_case() == TypeProto::VALUE_NOT_SET) throw InvalidArgument("has no type", where);
  Type read;
  if (depth < kMaxTypeDepth && (type.has_sequence_type() || type.has_map_type())) {
    const bool map = type.has_map_type();
    read.kind = map ? Type::Kind::kMap : Type::Kind::kSequence;
    if (map) {
      read.dtype = onnx_optim::DataTypeToTensorType(type.map_type().key_type());
      if (read.dtype != TensorType::kString && !onnx_optim::IsIntegerTensorType(read.dtype))
        throw InvalidArgument(fmt::format("has key type {}", onnx_optim::TensorTypeName(read.dtype)), where);
    }
    const TypeProto& elem = map ? type.map_type().value_type() : type.sequence_type().elem_type();
    read.elem = std::make_unique<Type>(Read(elem, where, depth + 1));
    return read;
  }
  if (!type.has_tensor_type()) throw Unsupported(fmt::format("has type {}", text_), where);
  const TypeProto::Tensor& tensor = type.tensor_type();
  read.dtype = onnx_optim::DataTypeToTensorType(tensor.elem_type());
  if (read.dtype == TensorType::kUndefined)
    throw InvalidArgument(tensor.elem_type() == 0 ? std::string("has no element type")
                                                  : fmt::format("has unknown element type {}", tensor.elem_type()),
                          where);
  read.has_shape = tensor.has_shape();
  for (const TensorShapeProto::Dimension& dim : tensor.shape().dim()) {
    Dim& mine = read.dims.emplace_back();
    if (dim.has_dim_value()) mine.size = std::max<int64_t>(-1, dim.dim_value());  // a negative one stands for unknown
    if (dim.has_dim_param()) mine.symbol = dim.dim_param();
  }
  return read;
}

bool DeclaredType::Matches(const Type& type, const Tensor& tensor) {
  if (tensor.dtype() != type.dtype) return false;
  if (!type.has_shape) return true;
  if (static_cast<size_t>(tensor.rank()) != type.dims.size()) return false;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (type.dims[i].size >= 0 && type.dims[i].size != tensor.dim(static_cast<int>(i))) return false;
  return true;
}

// "" when `value` is of the type; otherwise what there is in its place, and where.
std::string DeclaredType::Misfit(const Type& type, const Value& value) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return value.IsTensor() && Matches(type, value.tensor()) ? std::string() : value.TypeString();
    case Type::Kind::kSequence: {
      if (!value.IsSequence()) return value.TypeString();
      const Sequence& sequence = value.sequence();
      const bool of_tensors = type.elem->kind == Type::Kind::kTensor;
      if (of_tensors && !sequence.empty() && sequence.dtype() != type.elem->dtype) return value.TypeString();
      if (!of_tensors && sequence.dtype() != TensorType::kUndefined) return value.TypeString();
      return MisfitOfElements(*type.elem, sequence, "element");
    }
    case Type::Kind::kMap:
      if (!value.IsMap() || value.map().key_type() != type.dtype) return value.TypeString();
      return MisfitOfElements(*type.elem, value.map().values(), "value");
  }
  return {};
}

std::string DeclaredType::MisfitOfElements(const Type& type, const Sequence& elements, std::string_view what) {
  for (int64_t i = 0; i < elements.size(); ++i) {
    const std::string misfit = Misfit(type, elements.ValueAt(i));
    if (!misfit.empty()) return fmt::format("{} as {} {}", misfit, what, i);
  }
  return {};
}

void DeclaredType::Check(std::string_view name, Value& value, SymbolSizes& symbols) const {
  const auto fail = [&](std::string_view got) { FailFeed(name, fmt::format("expected {}, got {}", text_, got)); };
  if (value.IsNone()) {
    if (!optional_) fail(value.TypeString());
    return;
  }
  if (type_.kind != Type::Kind::kTensor) {
    if (value.IsSequence() && type_.kind == Type::Kind::kSequence && type_.elem->kind == Type::Kind::kTensor &&
        value.sequence().empty()) {
      const TensorType known = value.sequence().dtype();
      if (known == TensorType::kUndefined) value = Sequence(type_.elem->dtype);
      if (known != TensorType::kUndefined && known != type_.elem->dtype) fail(value.TypeString());
      return;
    }
    const std::string misfit = Misfit(type_, value);
    if (!misfit.empty()) fail(misfit);
    return;
  }
  if (!value.IsTensor()) fail(value.TypeString());
  const Tensor& tensor = value.tensor();
  if (!Matches(type_, tensor)) fail(value.TypeString());
  for (size_t i = 0; i < type_.dims.size(); ++i) {
    const Dim& dim = type_.dims[i];
    if (dim.symbol.empty()) continue;
    const int64_t size = tensor.dim(static_cast<int>(i));
    const auto seen = std::ranges::find(symbols, dim.symbol, &SymbolSize::symbol);
    if (seen == symbols.end()) {
      symbols.push_back({dim.symbol, size, name});
    } else if (seen->size != size) {
      FailFeed(name, fmt::format("expected {}, got {}: {} is {} in input \"{}\"", text_, tensor.TypeString(),
                                 dim.symbol, seen->size, seen->input));
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
