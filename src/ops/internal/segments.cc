// SPDX-License-Identifier: Apache-2.0
#include "ops/internal/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

void GatherSegments(RunContext& ctx, int64_t row, Shape shape,
                    FunctionRef<void(int64_t first, std::span<int64_t> into)> offsets) {
  const Tensor from = ctx.tensor(0);
  Tensor& out = ctx.AllocateOutput(0, from.dtype(), std::move(shape));
  if (out.NumElements() == 0) return;
  auto* const to = static_cast<std::byte*>(out.mutable_data());
  const size_t bytes = static_cast<size_t>(row) * onnx_optim::BytesOf(from.dtype());
  ctx.ParallelFor(out.NumElements() / row, std::max<int64_t>(1, kElementGrain / row), [&](int64_t begin, int64_t end) {
    std::array<int64_t, 256> block;
    while (begin < end) {
      const auto rows = std::span(block).first(static_cast<size_t>(std::min<int64_t>(std::ssize(block), end - begin)));
      offsets(begin, rows);
      kernels::GatherRows(from.dtype(), from.data(), rows, row, to + static_cast<size_t>(begin) * bytes);
      begin += std::ssize(rows);
    }
  });
}

OptimDim SegmentCount(InferScope& scope, int i) {
  const OptimShape* const lengths = RankedInput(scope, i, 1);
  return lengths != nullptr ? (*lengths)[0] : scope.Fresh("N");
}

}  // namespace ONNX_LIGHT_NAMESPACE
