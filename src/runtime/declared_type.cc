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

}  // namespace

DeclaredType::DeclaredType(const ValueInfoProto& info, std::string_view what) {
  const ErrorWhere where{
      .op_type = {}, .node_name = {}, .subject = fmt::format("{} \"{}\"", what, info.name().as_string()), .path = {}};
  text_ = DescribeType(info.type());
  const TypeProto* type = &info.type();
  if (type->has_optional_type()) {
    optional_ = true;
    type = &type->optional_type().elem_type();
  }
  if (type->has_sequence_type()) {
    sequence_ = true;
    type = &type->sequence_type().elem_type();
  }
  if (type->value_case() == TypeProto::VALUE_NOT_SET) throw InvalidArgument("has no type", where);
  if (!type->has_tensor_type()) throw Unsupported(fmt::format("has type {}", text_), where);
  const TypeProto::Tensor& tensor = type->tensor_type();
  dtype_ = onnx_optim::DataTypeToTensorType(tensor.elem_type());
  if (dtype_ == TensorType::kUndefined)
    throw InvalidArgument(tensor.elem_type() == 0 ? std::string("has no element type")
                                                  : fmt::format("has unknown element type {}", tensor.elem_type()),
                          where);
  has_shape_ = tensor.has_shape();
  for (const TensorShapeProto::Dimension& dim : tensor.shape().dim()) {
    Dim& mine = dims_.emplace_back();
    if (dim.has_dim_value()) mine.size = std::max<int64_t>(-1, dim.dim_value());  // a negative one stands for unknown
    if (dim.has_dim_param()) mine.symbol = dim.dim_param();
  }
}

bool DeclaredType::Matches(const Tensor& tensor) const {
  if (tensor.dtype() != dtype_) return false;
  if (!has_shape_) return true;
  if (static_cast<size_t>(tensor.rank()) != dims_.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i)
    if (dims_[i].size >= 0 && dims_[i].size != tensor.dim(static_cast<int>(i))) return false;
  return true;
}

void DeclaredType::Check(std::string_view name, Value& value, SymbolSizes& symbols) const {
  const auto fail = [&] { FailFeed(name, fmt::format("expected {}, got {}", text_, value.TypeString())); };
  if (value.IsNone()) {
    if (!optional_) fail();
    return;
  }
  if (value.IsSequence() != sequence_) fail();
  if (sequence_) {
    const Sequence& sequence = value.sequence();
    if (sequence.dtype() == TensorType::kUndefined && sequence.empty()) {
      value = Sequence(dtype_);
      return;
    }
    if (sequence.dtype() != dtype_) fail();
    for (int64_t i = 0; i < sequence.size(); ++i)
      if (!Matches(sequence[i]))
        FailFeed(name, fmt::format("expected {}, got {} as element {}", text_, sequence[i].TypeString(), i));
    return;
  }
  const Tensor& tensor = value.tensor();
  if (!Matches(tensor)) fail();
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].symbol.empty()) continue;
    const int64_t size = tensor.dim(static_cast<int>(i));
    const auto seen = std::ranges::find(symbols, dims_[i].symbol, &SymbolSize::symbol);
    if (seen == symbols.end()) {
      symbols.push_back({dims_[i].symbol, size, name});
    } else if (seen->size != size) {
      FailFeed(name, fmt::format("expected {}, got {}: {} is {} in input \"{}\"", text_, tensor.TypeString(),
                                 dims_[i].symbol, seen->size, seen->input));
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
