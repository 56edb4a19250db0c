// SPDX-License-Identifier: Apache-2.0
#include "ops/internal/segments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "kernels/indexed/indexed.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {

Segments ReadSegments(const RunContext& ctx, int i) {
  CheckRank(ctx, i, 1);
  Segments segments;
  segments.starts.reserve(static_cast<size_t>(ctx.tensor(i).dim(0)) + 1);
  for (const int64_t length : ctx.tensor(i).View<int64_t>()) {
    if (length < 0) ctx.FailInput(i, fmt::format("element {} must not be negative, got {}", segments.count(), length));
    const auto end = CheckedAdd(segments.total(), length);
    if (!end) ctx.FailInput(i, "the sum cannot be counted in 64 bits");
    segments.starts.push_back(*end);
  }
  return segments;
}

void CheckFilled(const RunContext& ctx, const Segments& segments, int i, int packed, int axis) {
  const int64_t n = ctx.tensor(packed).dim(axis);
  if (segments.total() != n)
    ctx.FailInput(i, fmt::format("the sum must be {}, dim {} of {}, got {}", n, axis, ctx.InputSubject(packed),
                                 segments.total()));
}

void CheckStacked(const RunContext& ctx, const Segments& segments, int i, int stacked) {
  const int64_t n = ctx.tensor(stacked).dim(0);
  if (segments.count() != n)
    ctx.FailInput(i, fmt::format("must have as many elements as {} has, {}, got {}", ctx.InputSubject(stacked), n,
                                 segments.count()));
}

AxisView ViewAlong(const Shape& shape, int axis) {
  return {DimsProduct(shape.dims(), 0, axis), shape[axis], DimsProduct(shape.dims(), axis + 1, shape.rank())};
}

void GatherSegments(RunContext& ctx, std::span<const int64_t> offsets, int64_t row, Shape shape) {
  const Tensor from = ctx.tensor(0);
  Tensor& out = ctx.AllocateOutput(0, from.dtype(), std::move(shape));
  if (out.NumElements() == 0) return;
  auto* const to = static_cast<std::byte*>(out.mutable_data());
  const size_t bytes = static_cast<size_t>(row) * onnx_optim::BytesOf(from.dtype());
  ctx.ParallelFor(
      static_cast<int64_t>(offsets.size()), std::max<int64_t>(1, kElementGrain / row), [&](int64_t begin, int64_t end) {
        const auto first = static_cast<size_t>(begin);
        kernels::GatherRows(from.dtype(), from.data(), offsets.subspan(first, static_cast<size_t>(end - begin)), row,
                            to + first * bytes);
      });
}

OptimDim SegmentCount(InferScope& scope, int i) {
  const OptimShape* const lengths = RankedInput(scope, i, 1);
  return lengths != nullptr ? (*lengths)[0] : scope.Fresh("N");
}

}  // namespace ONNX_LIGHT_NAMESPACE
