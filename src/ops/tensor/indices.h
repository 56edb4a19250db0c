// SPDX-License-Identifier: Apache-2.0
// What operators share that take elements from, or store them at, places named by an input: Gather, GatherElements,
// GatherND, ScatterElements, ScatterND.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "kernels/indexed/indexed.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// The elements of an int32 or int64 tensor of any rank.
std::vector<int64_t> ReadIntegers(const Tensor& t);
// The elements of int32 or int64 input i, each of [-n, n-1], as indices in [0, n); InvalidArgument naming the element
// otherwise.
std::vector<int64_t> ReadIndices(const RunContext& ctx, int i, int64_t n);

// Input i, an index tensor of the rank of `data`, names along `axis` one element of `data` for each of its own, at its
// own place along the other axes. Calls fn(first, base, row) for its rows, in parts: `row` holds the indices from
// element `first` on, and the first of them stands for places in `data` from `base` on. fn returns how many of them are
// indices before one that lies outside. InvalidArgument for such a one, for another rank, and for dims that reach
// beyond those of `data`.
using IndexRowFn = FunctionRef<int64_t(int64_t first, int64_t base, const kernels::IndexRow& row)>;
void ForEachIndexRow(const RunContext& ctx, int i, const Shape& data, int axis, IndexRowFn fn);

// Input i holds along its last axis tuples of indices into the axes of `data` from `batch` on; below the first `batch`
// axes, which both have, each names a slice of `data`.
struct TupleOffsets {
  std::vector<int64_t> offsets;
  int64_t row = 1;  // elements of a slice
  int depth = 0;    // indices in a tuple
};
TupleOffsets ReadTuples(const RunContext& ctx, int i, const Shape& data, int batch);

// Attribute 'reduction': "none" (the default), "add", "mul", and with `extremes` "min" and "max"; InvalidArgument for
// any other, and for one that elements of `type` do not have.
kernels::ScatterReduction ReadReduction(const RunContext& ctx, TensorType type, bool extremes);
// Output 0 = input 0 with the rows of input 2 stored at the offsets; in the memory of input 0 where nobody needs it.
void RunScatter(RunContext& ctx, kernels::ScatterReduction reduction, std::span<const int64_t> offsets, int64_t row);

// Scatter and ScatterElements: each of the updates (input 2) goes to its index (input 1, of the same shape) along
// attribute 'axis', at its own place along the other axes.
void RunScatterElements(RunContext& ctx, kernels::ScatterReduction reduction);

// Shape rules: Fails for known elements of index input i outside [-n, n-1].
void CheckKnownIndices(InferScope& scope, int i, const OptimDim& n);
// The type and shape of input 0; and where that is a vector with known elements, as are the indices (input 1, one for
// each of the updates, input 2), the elements after the scatter.
void ScatterShape(InferScope& scope);
// That of Scatter and ScatterElements, whose known indices are checked against the axis.
void ScatterElementsShape(InferScope& scope);

}  // namespace ONNX_LIGHT_NAMESPACE
