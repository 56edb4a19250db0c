// SPDX-License-Identifier: Apache-2.0
// What many operators need alike: reading axes and sizes given as tensors, and known values in shape rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_optim/shapes/shape_value.h"
#include "onnxseq/value.h"
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::KnownElements;
using onnx_optim::shapes::KnownFloats;

// Running
// ------------------------------------------------------------------------------------------------------------------------

// The elements of a small int32 or int64 input of rank 0 or 1 (InvalidArgument for a higher one).
std::vector<int64_t> ReadInts(const RunContext& ctx, int i);
// The element of an int32 or int64 input that has one (InvalidArgument otherwise).
int64_t ReadInt(const RunContext& ctx, int i);
// axis in [-rank, rank-1] -> [0, rank-1]; InvalidArgument about `subject` otherwise.
int NormalizeAxis(const RunContext& ctx, int64_t axis, int rank, std::string_view subject = "attribute 'axis'");
// All of them; InvalidArgument for one named twice.
std::vector<int> NormalizeAxes(const RunContext& ctx, std::span<const int64_t> axes, int rank,
                               std::string_view subject);
// Row-major strides in elements.
std::vector<int64_t> DenseStrides(std::span<const int64_t> dims);
// The product of dims[begin, end).
int64_t DimsProduct(std::span<const int64_t> dims, int begin, int end);
// A new output 0 that copies a view of `from` (any element type with a C++ type) with these dims and strides, `offset`
// elements in. The output has shape *shape, of as many elements, where given.
void CopyStrided(RunContext& ctx, const Tensor& from, int64_t offset, std::span<const int64_t> strides, Shape dims,
                 const Shape* shape = nullptr);
// Outputs worth a thread of their own when each costs about as much as one addition.
inline constexpr int64_t kElementGrain = 32768;

// Shape rules
// --------------------------------------------------------------------------------------------------------------------

// A tensor with known elements, as many as `shape` says; dropped when the shape is not fully known or too large.
void SetTensorWithElements(InferScope& scope, int output, TensorType dtype, OptimShape shape, KnownElements elements);
// The known elements of input i, when all its dims are integers.
const KnownElements* InputElements(const InferScope& scope, int i);
// The elements of a list of sizes, a fresh one where nothing is known; nothing when not even their number is. They are
// required to be >= 0: Fails for one that is not.
std::optional<std::vector<OptimDim>> InputSizes(InferScope& scope, int i);
// The integers of attribute `name`, or of input i when the operator takes them there. Nothing when they are not known;
// `given` tells whether they are there at all.
struct IntsArgument {
  bool given = false;
  std::optional<std::vector<int64_t>> values;
  std::optional<int64_t> count;  // how many there are, when that is known
  std::string subject;
};
IntsArgument ReadIntsArgument(const InferScope& scope, std::string_view attribute, int input);
// How many elements a vector has that lists the dims of a tensor, whose rank that is: when known and a rank inference
// follows.
std::optional<int> ListLength(const OptimShape& list);
// All of them in [0, rank-1]; Fails for one out of range or named twice.
std::vector<int> NormalizeAxes(InferScope& scope, std::span<const int64_t> axes, int rank, std::string_view subject);
// The integers are known: the rule of arithmetic on them holds for this element type without regard to its width. Only
// int32 and int64 carry shapes; a result that does not fit is dropped by Fits.
bool CarriesValues(TensorType dtype);
bool Fits(const OptimDim& value, TensorType dtype);
// Input 0's type with this shape and no value.
void SetLikeInput(InferScope& scope, int output, OptimShape shape);

}  // namespace ONNX_LIGHT_NAMESPACE
