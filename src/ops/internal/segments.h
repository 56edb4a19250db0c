// SPDX-License-Identifier: Apache-2.0
// What the operators of onnxseq.internal on packed values share. They compute on all elements of a sequence at once. A
// packed value is N tensors that differ in size along one axis, one after the other along it; an int64 tensor `lengths`
// [N] holds their sizes there. A stacked value is N tensors of one shape as [N, that shape]. An attribute 'axis' counts
// in the dims of an element, from the back when negative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// The formal of lengths.
inline const Formal kLengthsFormal{.name = "lengths", .types = {TensorType::kInt64}};

// Where the elements lie along the axis they differ in: element e is [starts[e], starts[e + 1]).
struct Segments {
  std::vector<int64_t> starts = {0};

  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t total() const { return starts.back(); }
  int64_t start(int64_t e) const { return starts[static_cast<size_t>(e)]; }
  int64_t length(int64_t e) const { return starts[static_cast<size_t>(e) + 1] - starts[static_cast<size_t>(e)]; }
  // The element that has this place.
  int64_t At(int64_t place) const { return std::ranges::upper_bound(starts, place) - starts.begin() - 1; }
};

// From the lengths in input i; InvalidArgument when one is negative, for another rank than 1, and for a sum beyond 64
// bits.
Segments ReadSegments(const RunContext& ctx, int i);
// InvalidArgument unless they fill `axis` of input `packed`; i: the input they were read from.
void CheckFilled(const RunContext& ctx, const Segments& segments, int i, int packed, int axis);
// InvalidArgument unless the first dim of input `stacked` is their number.
void CheckStacked(const RunContext& ctx, const Segments& segments, int i, int stacked);

// An axis seen as the middle one of [outer, n, inner].
struct AxisView {
  int64_t outer, n, inner;
};
AxisView ViewAlong(const Shape& shape, int axis);

// Output 0, of this shape = rows of `row` elements of input 0. `offsets(first, into)` says where the rows from number
// `first` on begin in the input; it is called on any thread, for few rows at a time.
void GatherSegments(RunContext& ctx, int64_t row, Shape shape,
                    FunctionRef<void(int64_t first, std::span<int64_t> into)> offsets);

// Shape rules: N, from the lengths in input i.
OptimDim SegmentCount(InferScope& scope, int i);

}  // namespace ONNX_LIGHT_NAMESPACE
