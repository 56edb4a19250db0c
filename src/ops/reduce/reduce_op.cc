// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool AxesAreInput(const OpDef& op) { return op.inputs.size() > 1; }

// One flag per axis.
std::vector<char> ReducedAxes(const RunContext& ctx, int rank) {
  std::vector<int64_t> axes;
  std::string subject = "attribute 'axes'";
  if (!AxesAreInput(ctx.op())) {
    axes = ctx.attrs().Ints("axes");
  } else if (ctx.HasInput(1)) {
    axes = ReadInts(ctx, 1);
    subject = ctx.InputSubject(1);
  }
  std::vector<char> reduced(static_cast<size_t>(rank),
                            axes.empty() && ctx.attrs().Int("noop_with_empty_axes", 0) == 0 ? 1 : 0);
  for (const int axis : NormalizeAxes(ctx, axes, rank, subject)) reduced[static_cast<size_t>(axis)] = 1;
  return reduced;
}

// The one group of known elements all of which are reduced, or each by itself.
void SetFolded(InferScope& scope, const OptimShape& shape, const std::vector<char>& reduced, FoldValues fold) {
  const KnownElements* elements = InputElements(scope, 0);
  const bool all = std::all_of(reduced.begin(), reduced.end(), [](char r) { return r != 0; });
  if (fold == nullptr || elements == nullptr || !all || !CarriesValues(scope.InputType(0))) return;
  std::vector<OptimDim> values;
  for (const std::optional<OptimDim>& element : *elements) {
    if (!element) return;
    values.push_back(*element);
  }
  std::optional<OptimDim> value = fold(scope, values);
  if (value && Fits(*value, scope.InputType(0)))
    SetTensorWithElements(scope, 0, scope.InputType(0), shape, {std::move(value)});
}

}  // namespace

void RunReduce(RunContext& ctx, const Reduction& reduction) {
  const Tensor x = ctx.tensor(0);
  const kernels::ReduceFns fns = reduction.fns(x.dtype());
  const std::vector<char> reduced = ReducedAxes(ctx, x.rank());
  const bool keep = ctx.attrs().Int("keepdims", 1) != 0;
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (reduced[static_cast<size_t>(d)] == 0) {
      shape.push_back(x.dim(d));
    } else if (keep) {
      shape.push_back(1);
    }
  }
  Tensor y(x.dtype(), std::move(shape));
  const kernels::ReduceLoops loops(x.shape().dims(), reduced);
  if (reduction.Refuses(x.dtype(), loops.count()) && loops.outputs() > 0)
    ctx.FailInput(0, fmt::format("{}: the mean of no integers is no integer", x.TypeString()));
  void* const out = y.mutable_data();
  const int64_t slice = loops.slice_outputs();
  const int64_t work = std::max<int64_t>(1, slice * std::max<int64_t>(1, loops.count()));
  const int64_t grain = std::max<int64_t>(1, kElementGrain / work);
  ctx.ParallelFor(loops.slices(), grain, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>((end - begin) * slice) * fns.acc_size;
    const auto acc = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
    loops.Run(begin, end, x.data(), acc.get(), out, fns);
  });
  ctx.SetOutput(0, std::move(y));
}

void ReduceShapeWith(InferScope& scope, FoldValues fold) {
  // The input form has no attribute 'axes'; in the attribute form there is no second input.
  const bool axes_are_input = scope.input_size() > 1;
  const IntsArgument axes = ReadIntsArgument(scope, "axes", axes_are_input ? 1 : -1);
  const OptimShape& in = scope.InputShape(0);
  const bool keep = scope.attrs().Int("keepdims", 1) != 0;
  const bool noop = scope.attrs().Int("noop_with_empty_axes", 0) != 0;
  const bool none = !axes.given || axes.count == 0;
  if (in.IsUnknown()) {
    const bool scalar = none && !noop && !keep;
    return SetLikeInput(scope, 0, scalar ? OptimShape() : OptimShape::Unknown());
  }
  const auto rank = static_cast<int>(in.Rank());
  if (!none && !axes.values) {
    // Which axes is open. How many is known at best, and an axis of one may be among them, so only the rank can be
    // said.
    if (keep) return SetLikeInput(scope, 0, scope.FreshShape(rank));
    if (axes.count && *axes.count <= rank)
      return SetLikeInput(scope, 0, scope.FreshShape(rank - static_cast<int>(*axes.count)));
    return SetLikeInput(scope, 0, OptimShape::Unknown());
  }
  std::vector<char> reduced(static_cast<size_t>(rank), none && !noop ? 1 : 0);
  if (!none) {
    for (const int axis : NormalizeAxes(scope, *axes.values, rank, axes.subject))
      reduced[static_cast<size_t>(axis)] = 1;
  }
  OptimShape shape;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d] == 0) {
      shape.PushBack(in[d]);
    } else if (keep) {
      shape.PushBack(1);
    }
  }
  SetLikeInput(scope, 0, shape);
  SetFolded(scope, shape, reduced, fold);
}

std::vector<OpDef> ReduceOps(const Reduction& reduction, int input_since, void (*run)(RunContext&),
                             void (*shape)(InferScope&)) {
  const TypeSet types = reduction.types;
  const OpDef attribute_form{.domain = "",
                             .type = reduction.type,
                             .since_version = 1,
                             .inputs = {{"data", types, "T"}},
                             .outputs = {{"reduced", types, "T"}},
                             .attributes = {{"axes", AttrKind::kInts}, {"keepdims", AttrKind::kInt}},
                             .shape = shape,
                             .run = run};
  OpDef input_form = attribute_form;
  input_form.since_version = input_since;
  input_form.inputs.push_back({.name = "axes", .types = {TensorType::kInt64}, .count = FormalCount::kOptional});
  input_form.attributes = {{"keepdims", AttrKind::kInt}, {"noop_with_empty_axes", AttrKind::kInt}};
  return {attribute_form, input_form};
}

}  // namespace ONNX_LIGHT_NAMESPACE
