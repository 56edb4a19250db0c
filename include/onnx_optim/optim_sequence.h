// SPDX-License-Identifier: Apache-2.0
// OptimSequence: what is known of a sequence of tensors before it exists.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

// An element type, a length, and, where they are known one by one, the shapes of the elements. A value; distinct
// objects may be used by distinct threads.
class ONNXSEQ_API OptimSequence {
 public:
  // Element type unknown, no element shapes, length 0.
  OptimSequence() = default;
  // The length is the number of shapes. HasElemShapes() holds even when there are none.
  OptimSequence(TensorType elem_dtype, std::vector<OptimShape> elem_shapes);
  OptimSequence(TensorType elem_dtype, std::initializer_list<OptimShape> elem_shapes);
  // No element shapes.
  OptimSequence(TensorType elem_dtype, OptimDim length) : dtype_(elem_dtype), length_(std::move(length)) {}

  TensorType ElemDtype() const noexcept { return dtype_; }
  bool HasElemDtype() const noexcept { return dtype_ != TensorType::kUndefined; }
  // kUndefined clears it.
  void SetElemDtype(TensorType dtype) noexcept { dtype_ = dtype; }

  bool HasElemShapes() const noexcept { return has_shapes_; }
  // Empty when they are not recorded.
  const std::vector<OptimShape>& ElemShapes() const noexcept { return shapes_; }
  // Editing in place does not change Length().
  std::vector<OptimShape>& ElemShapes() noexcept { return shapes_; }
  // Sets the length too.
  void SetElemShapes(std::vector<OptimShape> shapes);
  // Keeps the length.
  void ClearElemShapes() noexcept;

  const OptimDim& Length() const noexcept { return length_; }
  OptimDim& Length() noexcept { return length_; }
  void SetLength(OptimDim length) { length_ = std::move(length); }

  // What is true of every element, whether or not shapes are recorded one by one.
  bool HasElem() const noexcept { return elem_.has_value(); }
  // std::bad_optional_access when there is none.
  const OptimTensor& Elem() const;
  void SetElem(OptimTensor elem) { elem_ = std::move(elem); }
  void ClearElem() noexcept { elem_.reset(); }

  // "seq(tensor(float)[N,3], length 4)".
  std::string ToString() const;

  friend bool operator==(const OptimSequence& a, const OptimSequence& b) noexcept {
    return a.dtype_ == b.dtype_ && a.has_shapes_ == b.has_shapes_ && a.length_ == b.length_ && a.shapes_ == b.shapes_ &&
           a.elem_ == b.elem_;
  }
  friend std::ostream& operator<<(std::ostream& out, const OptimSequence& sequence) { return Print(out, sequence); }

 private:
  static std::ostream& Print(std::ostream& out, const OptimSequence& sequence);
  TensorType dtype_ = TensorType::kUndefined;
  bool has_shapes_ = false;
  OptimDim length_;
  std::vector<OptimShape> shapes_;
  std::optional<OptimTensor> elem_;
};

}  // namespace onnx_optim

using onnx_optim::OptimSequence;

}  // namespace ONNX_LIGHT_NAMESPACE
