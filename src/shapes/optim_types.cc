// SPDX-License-Identifier: Apache-2.0
// OptimShape, OptimTensor, OptimSequence.
#include <algorithm>
#include <ostream>

#include "base/checked.h"
#include "fmt/format.h"
#include "onnx_optim/optim_sequence.h"
#include "onnx_optim/optim_tensor.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

namespace {

void CheckRank(size_t rank) {
  if (rank > OptimShape::kMaxRank) {
    throw ErrorOf<std::length_error>(fmt::format("a shape of {} dims is longer than {}", rank, OptimShape::kMaxRank));
  }
}

}  // namespace

OptimShape::OptimShape(std::initializer_list<OptimDim> dims) : dims_(dims) { CheckRank(dims_.size()); }
OptimShape::OptimShape(std::vector<OptimDim> dims) : dims_(std::move(dims)) { CheckRank(dims_.size()); }
OptimShape::OptimShape(const std::vector<int64_t>& dims) : dims_(dims.begin(), dims.end()) { CheckRank(dims_.size()); }

OptimShape OptimShape::Unknown() {
  OptimShape shape;
  shape.unknown_ = true;
  return shape;
}

void OptimShape::PushBack(OptimDim dim) {
  CheckRank(dims_.size() + 1);
  dims_.push_back(std::move(dim));
  unknown_ = false;
}

void OptimShape::ThrowAxis(size_t axis) const {
  if (unknown_) throw OutOfRange(fmt::format("axis {} of a shape of unknown rank", axis));
  throw OutOfRange(fmt::format("axis {} of shape {} of rank {}", axis, ToString(), Rank()));
}

bool OptimShape::IsFullyKnown() const noexcept {
  return !unknown_ && std::all_of(dims_.begin(), dims_.end(), [](const OptimDim& dim) { return dim.IsInt(); });
}

int64_t OptimShape::NumElements() const {
  if (!IsFullyKnown())
    throw ErrorOf<std::runtime_error>(fmt::format("shape {} has no known number of elements", ToString()));
  std::vector<int64_t> sizes;
  for (const OptimDim& dim : dims_) sizes.push_back(dim.AsInt());
  const auto product = CheckedProduct(sizes);
  if (!product)
    throw ErrorOf<std::runtime_error>(fmt::format("shape {} has more elements than 64 bits count", ToString()));
  return *product;
}

std::optional<OptimDim> OptimShape::SymbolicNumElements() const {
  if (unknown_) return std::nullopt;
  return Product(dims_);
}

std::string OptimShape::ToString() const {
  if (unknown_) return "[?]";
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i != 0) text += ',';
    text += dims_[i].ToString();
  }
  return text + "]";
}

size_t OptimShape::Hash() const noexcept {
  size_t hash = dims_.size();
  for (const OptimDim& dim : dims_) hash = hash * 1099511628211u + dim.Hash();
  return hash;
}

std::ostream& OptimShape::Print(std::ostream& out, const OptimShape& shape) { return out << shape.ToString(); }

BadValueAccess::BadValueAccess(std::string fact) : Error({}, std::move(fact)) {}

void OptimTensor::ThrowNoValue() { throw BadValueAccess("the tensor has no known value"); }

std::string OptimTensor::ToString() const {
  return ToTypeString(dtype_) + (shape_.IsUnknown() ? std::string() : shape_.ToString());
}

std::ostream& OptimTensor::Print(std::ostream& out, const OptimTensor& tensor) { return out << tensor.ToString(); }

OptimSequence::OptimSequence(TensorType elem_dtype, std::vector<OptimShape> elem_shapes) : dtype_(elem_dtype) {
  SetElemShapes(std::move(elem_shapes));
}
OptimSequence::OptimSequence(TensorType elem_dtype, std::initializer_list<OptimShape> elem_shapes)
    : OptimSequence(elem_dtype, std::vector<OptimShape>(elem_shapes)) {}

void OptimSequence::SetElemShapes(std::vector<OptimShape> shapes) {
  length_ = OptimDim(shapes.size());
  shapes_ = std::move(shapes);
  has_shapes_ = true;
}

void OptimSequence::ClearElemShapes() noexcept {
  shapes_.clear();
  has_shapes_ = false;
}

const OptimTensor& OptimSequence::Elem() const {
  if (!elem_) throw BadValueAccess("the sequence has no known element");
  return *elem_;
}

std::string OptimSequence::ToString() const {
  OptimShape shape = OptimShape::Unknown();
  if (elem_) {
    shape = elem_->Shape();
  } else if (!shapes_.empty() && std::all_of(shapes_.begin(), shapes_.end(),
                                             [&](const OptimShape& s) { return SameShape(s, shapes_[0]); })) {
    shape = shapes_[0];
  }
  return fmt::format("seq({}, length {})", OptimTensor(nullptr, dtype_, shape).ToString(), length_.ToString());
}

std::ostream& OptimSequence::Print(std::ostream& out, const OptimSequence& sequence) {
  return out << sequence.ToString();
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
