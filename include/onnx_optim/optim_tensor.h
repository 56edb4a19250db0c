// SPDX-License-Identifier: Apache-2.0
// OptimShape and OptimTensor: what is known of a tensor before it exists. Values with no owner but their holder;
// distinct objects may be used by distinct threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx_optim/optim_dim.h"
#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

// Asking a tensor for a value it does not carry.
class ONNXSEQ_API BadValueAccess : public std::bad_optional_access, public Error {
 public:
  explicit BadValueAccess(std::string fact);
  const char* what() const noexcept override { return Error::what(); }
};

// The dims of a tensor, outermost first: at most 64 (one more: std::length_error).
class ONNXSEQ_API OptimShape {
 public:
  static constexpr size_t kMaxRank = 64;

  // A scalar: rank 0.
  OptimShape() noexcept = default;
  OptimShape(std::initializer_list<OptimDim> dims);  // NOLINT(google-explicit-constructor): {2, "N"} is a shape
  OptimShape(std::vector<OptimDim> dims);            // NOLINT(google-explicit-constructor)
  explicit OptimShape(const std::vector<int64_t>& dims);
  // A shape of unknown rank. Its Rank() is 0, and == to outside code cannot tell it from a scalar; SameShape can.
  static OptimShape Unknown();
  bool IsUnknown() const noexcept { return unknown_; }

  size_t Rank() const noexcept { return dims_.size(); }
  bool Empty() const noexcept { return dims_.empty(); }
  // std::out_of_range past the rank.
  const OptimDim& operator[](size_t axis) const {
    if (axis >= dims_.size()) ThrowAxis(axis);
    return dims_[axis];
  }
  OptimDim& operator[](size_t axis) {
    if (axis >= dims_.size()) ThrowAxis(axis);
    return dims_[axis];
  }
  // Makes an unknown shape one of rank 1.
  void PushBack(OptimDim dim);
  const std::vector<OptimDim>& Dims() const noexcept { return dims_; }
  auto begin() const noexcept { return dims_.begin(); }
  auto end() const noexcept { return dims_.end(); }

  // The rank is known and every dim is an integer. (An unknown shape is not.)
  bool IsFullyKnown() const noexcept;
  // The product of the dims, 1 for rank 0. std::runtime_error when a dim is symbolic, the rank unknown, or the product
  // too large.
  int64_t NumElements() const;
  // As NumElements but an expression; nothing when the rank is unknown.
  std::optional<OptimDim> SymbolicNumElements() const;
  // "[2,N]", "[]", "[?]" for unknown rank.
  std::string ToString() const;
  size_t Hash() const noexcept;

  friend bool operator==(const OptimShape& a, const OptimShape& b) noexcept { return a.dims_ == b.dims_; }
  friend std::ostream& operator<<(std::ostream& out, const OptimShape& shape) { return Print(out, shape); }

 private:
  [[noreturn]] void ThrowAxis(size_t axis) const;
  static std::ostream& Print(std::ostream& out, const OptimShape& shape);
  std::vector<OptimDim> dims_;
  bool unknown_ = false;
};

// Equality that tells an unknown rank from a scalar: unknown is the same as unknown only.
[[nodiscard]] inline bool SameShape(const OptimShape& a, const OptimShape& b) noexcept {
  return a.IsUnknown() == b.IsUnknown() && a == b;
}

// A non-owning descriptor: where the data lies (or null), its element type, its shape, and, for a small integer tensor
// whose elements are known, these elements written as a shape: {1,2} is the value-shape {1,2}, the scalar v is {v} with
// Shape() rank 0.
class ONNXSEQ_API OptimTensor {
 public:
  // No data, undefined type, unknown rank.
  OptimTensor() : shape_(OptimShape::Unknown()) {}
  OptimTensor(void* data, TensorType dtype, OptimShape shape) : data_(data), dtype_(dtype), shape_(std::move(shape)) {}

  void* Data() const noexcept { return data_; }
  bool IsNull() const noexcept { return data_ == nullptr; }
  TensorType Dtype() const noexcept { return dtype_; }
  const OptimShape& Shape() const noexcept { return shape_; }
  OptimShape& Shape() noexcept { return shape_; }

  void SetValueAsShape(OptimShape value) { value_ = std::move(value); }
  void ClearValueAsShape() noexcept { value_.reset(); }
  bool HasValueAsShape() const noexcept { return value_.has_value(); }
  // std::bad_optional_access when there is none.
  const OptimShape& ValueAsShape() const {
    if (!value_) ThrowNoValue();
    return *value_;
  }
  OptimShape& ValueAsShape() {
    if (!value_) ThrowNoValue();
    return *value_;
  }
  // "tensor(float)[2,N]"; no brackets when the rank is unknown.
  std::string ToString() const;

  friend bool operator==(const OptimTensor& a, const OptimTensor& b) noexcept {
    return a.data_ == b.data_ && a.dtype_ == b.dtype_ && a.shape_ == b.shape_ && a.value_ == b.value_;
  }
  friend std::ostream& operator<<(std::ostream& out, const OptimTensor& tensor) { return Print(out, tensor); }

 private:
  [[noreturn]] static void ThrowNoValue();
  static std::ostream& Print(std::ostream& out, const OptimTensor& tensor);
  void* data_ = nullptr;
  TensorType dtype_ = TensorType::kUndefined;
  OptimShape shape_;
  std::optional<OptimShape> value_;
};

}  // namespace onnx_optim

using onnx_optim::OptimShape;
using onnx_optim::OptimTensor;
using onnx_optim::SameShape;

}  // namespace ONNX_LIGHT_NAMESPACE
