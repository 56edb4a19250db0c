// SPDX-License-Identifier: Apache-2.0
// SegmentReduce (onnxseq.internal 1): Reduce<op> of each element of a packed value, over its ragged axis and whatever
// others `axes` names, into a stacked one. segments.h has the words.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr const Reduction* kReductions[] = {&kReduceL1,  &kReduceL2,       &kReduceLogSum, &kReduceLogSumExp,
                                            &kReduceMax, &kReduceMean,     &kReduceMin,    &kReduceProd,
                                            &kReduceSum, &kReduceSumSquare};

struct State : OpState {
  const Reduction* reduction = nullptr;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<State>();
  const std::string op = ctx.attrs().String("op", "");
  std::string names;
  for (const Reduction* reduction : kReductions) {
    const std::string_view name = reduction->type.substr(std::string_view("Reduce").size());
    if (op == name) state->reduction = reduction;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (state->reduction == nullptr) FailAttribute("op", fmt::format("must be one of {}, got \"{}\"", names, op));
  return state;
}

// One flag per axis of an element.
template <class Context>
std::vector<char> ReducedAxes(Context& ctx, int axis, int rank) {
  std::vector<int64_t> axes = ctx.attrs().Ints("axes");
  if (axes.empty()) axes.push_back(axis);
  std::vector<char> reduced(static_cast<size_t>(rank));
  for (const int reduced_axis : NormalizeAxes(ctx, axes, rank, "attribute 'axes'"))
    reduced[static_cast<size_t>(reduced_axis)] = 1;
  if (reduced[static_cast<size_t>(axis)] == 0)
    ctx.Fail("attribute 'axes'", fmt::format("must name {}, the axis elements differ in", axis));
  return reduced;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Reduction& reduction = *ctx.state<State>().reduction;
  if (!reduction.types.Has(x.dtype()))
    ctx.FailInput(0, fmt::format("{} is not defined for {}", reduction.type, onnx_optim::ToTypeString(x.dtype())));
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis"), x.rank());
  const std::vector<char> reduced = ReducedAxes(ctx, axis, x.rank());
  const Segments segments = ReadSegments(ctx, 1);
  CheckFilled(ctx, segments, 1, 0, axis);
  Shape shape{segments.count()};
  for (int d = 0; d < x.rank(); ++d) {
    if (reduced[static_cast<size_t>(d)] == 0) {
      shape.push_back(x.dim(d));
    } else if (ctx.attrs().Int("keepdims", 1) != 0) {
      shape.push_back(1);
    }
  }
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), std::move(shape));
  if (y.NumElements() == 0) return;
  const kernels::ReduceFns fns = reduction.fns(x.dtype());
  const int64_t outputs = y.NumElements() / segments.count();
  const std::vector<int64_t> strides = DenseStrides(x.shape().dims());
  const auto* const from = static_cast<const std::byte*>(x.data());
  auto* const to = static_cast<std::byte*>(y.mutable_data());
  const int64_t work = std::max(x.NumElements(), y.NumElements());
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, work / segments.count()));
  ctx.ParallelFor(segments.count(), grain, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>(outputs) * fns.acc_size;
    const auto acc = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
    std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
    for (int64_t e = begin; e < end; ++e) {
      dims[static_cast<size_t>(axis)] = segments.length(e);
      const kernels::ReduceLoops loops(dims, reduced, strides);
      if (reduction.Refuses(x.dtype(), loops.count()))
        ctx.FailInput(0, fmt::format("element {}: the mean of no integers is no integer", e));
      const int64_t start = segments.start(e) * strides[static_cast<size_t>(axis)];
      loops.Run(0, loops.slices(), from + static_cast<size_t>(start) * fns.in_size, acc.get(),
                to + static_cast<size_t>(e * outputs) * fns.out_size, fns);
    }
  });
}

void ShapeRule(InferScope& scope) {
  const OptimShape& packed = scope.InputShape(0);
  OptimShape shape{SegmentCount(scope, 1)};
  if (packed.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const auto rank = static_cast<int>(packed.Rank());
  const std::vector<char> reduced = ReducedAxes(scope, scope.NormalizeAxis(scope.attrs().Int("axis"), rank), rank);
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d] == 0) {
      shape.PushBack(packed[d]);
    } else if (scope.attrs().Int("keepdims", 1) != 0) {
      shape.PushBack(1);
    }
  }
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> segment_reduce_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentReduce",
       .since_version = 1,
       .inputs = {{"packed", ReduceExtremeList::kSet, "T"}, kLengthsFormal},
       .outputs = {{"stacked", ReduceExtremeList::kSet, "T"}},
       .attributes = {{"op", AttrKind::kString, true},
                      {"axis", AttrKind::kInt, true},
                      {"axes", AttrKind::kInts},
                      {"keepdims", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
