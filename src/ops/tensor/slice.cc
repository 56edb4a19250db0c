// SPDX-License-Identifier: Apache-2.0
// Slice: along each given axis the elements start, start+step, ... before end. Bounds count from the back when negative
// and are held within the axis; a negative step walks backwards. Starts, ends and axes are attributes before version
// 10, inputs from then on, with steps. https://onnx.ai/onnx/operators/onnx__Slice.html
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Bounds {
  std::vector<int64_t> starts, ends, axes, steps;
};

bool IsAttributeForm(const OpDef& op) { return op.since_version < 10; }

Bounds ReadBounds(const RunContext& ctx) {
  Bounds b;
  if (IsAttributeForm(ctx.op())) {
    b.starts = ctx.attrs().Ints("starts");
    b.ends = ctx.attrs().Ints("ends");
    b.axes = ctx.attrs().Ints("axes");
    b.steps.assign(b.starts.size(), 1);
    if (b.ends.size() != b.starts.size())
      ctx.Fail("attribute 'ends'", fmt::format("has {} entries for {} starts", b.ends.size(), b.starts.size()));
    if (ctx.attrs().Has("axes") && b.axes.size() != b.starts.size())
      ctx.Fail("attribute 'axes'", fmt::format("has {} entries for {} starts", b.axes.size(), b.starts.size()));
    if (ctx.attrs().Has("axes")) return b;
  } else {
    b.starts = ReadInts(ctx, 1);
    b.ends = ReadInts(ctx, 2);
    const auto check = [&](int i, size_t count) {
      if (count != b.starts.size())
        ctx.FailInput(i, fmt::format("has {} entries for {} starts", count, b.starts.size()));
    };
    check(2, b.ends.size());
    b.steps.assign(b.starts.size(), 1);
    if (ctx.HasInput(4)) {
      b.steps = ReadInts(ctx, 4);
      check(4, b.steps.size());
    }
    if (ctx.HasInput(3)) {
      b.axes = ReadInts(ctx, 3);
      check(3, b.axes.size());
      return b;
    }
  }
  for (size_t i = 0; i < b.starts.size(); ++i) b.axes.push_back(static_cast<int64_t>(i));
  return b;
}

// Where to begin and how many to take, of an axis of n.
struct Taken {
  int64_t start, count;
};
Taken Take(int64_t n, int64_t start, int64_t end, int64_t step) {
  const auto held = [n](int64_t bound, int64_t low, int64_t high) {
    return std::clamp(bound < 0 ? bound + n : bound, low, high);
  };
  if (n == 0) return {0, 0};
  if (step > 0) {
    start = held(start, 0, n);
    end = held(end, 0, n);
    return {start, end <= start ? 0 : (end - start - 1) / step + 1};
  }
  start = held(start, 0, n - 1);
  end = held(end, -1, n - 1);
  // -(step + 1) does not overflow.
  return {start, start <= end ? 0
                              : static_cast<int64_t>(static_cast<uint64_t>(start - end - 1) /
                                                     (static_cast<uint64_t>(-(step + 1)) + 1)) +
                                    1};
}

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  const Bounds b = ReadBounds(ctx);
  const std::vector<int> axes = NormalizeAxes(ctx, b.axes, data.rank(),
                                              IsAttributeForm(ctx.op()) ? "attribute 'axes'"
                                              : ctx.HasInput(3)         ? ctx.InputSubject(3)
                                                                        : ctx.InputSubject(1));
  Shape shape = data.shape();
  std::vector<int64_t> strides = DenseStrides(data.shape().dims());
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    if (b.steps[i] == 0) ctx.FailInput(4, fmt::format("element {} is 0; a step must not be", i));
    const Taken taken = Take(data.dim(axis), b.starts[i], b.ends[i], b.steps[i]);
    int64_t& stride = strides[static_cast<size_t>(axis)];
    offset += taken.start * stride;
    // A single element needs no stride, and one that does not fit belongs to a step beyond the axis.
    stride = taken.count > 1 ? stride * b.steps[i] : 0;
    shape[axis] = taken.count;
  }
  CopyStrided(ctx, data, offset, strides, std::move(shape));
}

// INT32_MAX and beyond is how files write "to the end", and its negative "to the beginning".
bool IsFar(const OptimDim& bound) { return bound.IsInt() && bound.AsInt() >= std::numeric_limits<int32_t>::max(); }
bool IsFarBack(const OptimDim& bound) { return bound.IsInt() && bound.AsInt() <= -std::numeric_limits<int32_t>::max(); }

// What is known of a bound: n for the far end, or whether it counts from the front or from the back.
enum class BoundKind { kFar, kFarBack, kFront, kBack, kOpen };
BoundKind KindOf(InferScope& scope, const OptimDim& bound) {
  if (IsFar(bound)) return BoundKind::kFar;
  if (IsFarBack(bound)) return BoundKind::kFarBack;
  if (scope.context().ProvablyGreaterEqual(bound, 0)) return BoundKind::kFront;
  return scope.context().ProvablyGreaterEqual(-1, bound) ? BoundKind::kBack : BoundKind::kOpen;
}

// The bound held within [low, high].
OptimDim Held(BoundKind kind, const OptimDim& bound, const OptimDim& n, const OptimDim& low, const OptimDim& high) {
  if (kind == BoundKind::kFar) return high;
  if (kind == BoundKind::kFarBack) return Min(low, high);
  return kind == BoundKind::kFront ? Min(bound, high) : Min(Max(bound + n, low), high);
}

// How far start is before end, going forward, 0 when it is not. Said in the shortest way: the clamps of the two bounds
// cancel in part.
OptimDim Distance(InferScope& scope, const OptimDim& n, const OptimDim& start, BoundKind from, const OptimDim& end,
                  BoundKind to) {
  const bool front = from == BoundKind::kFront, back = from == BoundKind::kBack;
  if (to == BoundKind::kFar && front) return Max(n - start, 0);
  if (to == BoundKind::kFar && back) return Min(n, -start);
  if (to == BoundKind::kBack && front) return Max(n + end - start, 0);
  const OptimDim length = Held(to, end, n, 0, n) - Held(from, start, n, 0, n);
  // Bounds held within the same limits keep their order.
  const bool ordered = from == BoundKind::kFarBack || (from == to && scope.context().ProvablyGreaterEqual(end, start));
  return ordered ? length : Max(length, 0);
}

// n-1 and n-2 count from the back: where they are negative, both ways lead before the front.
OptimDim FromBack(const OptimDim& n, const OptimDim& bound) {
  const OptimDim below = n - bound;
  return below == OptimDim(1) || below == OptimDim(2) ? -below : bound;
}

std::optional<OptimDim> Count(InferScope& scope, const OptimDim& n, OptimDim start, OptimDim end, int64_t step) {
  if (n.IsInt() && start.IsInt() && end.IsInt())
    return OptimDim(Take(n.AsInt(), start.AsInt(), end.AsInt(), step).count);
  if (step > 0) {
    start = FromBack(n, start);
    end = FromBack(n, end);
  }
  const BoundKind from = KindOf(scope, start), to = end == n ? BoundKind::kFar : KindOf(scope, end);
  if (from == BoundKind::kOpen || to == BoundKind::kOpen || step == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  if (step > 0) return CeilDiv(Distance(scope, n, start, from, end, to), step);
  return CeilDiv(Max(Held(from, start, n, 0, n - 1) - Held(to, end, n, -1, n - 1), 0), -step);
}

// Bounds or steps, those that are known; nothing when not even their number is.
std::optional<KnownElements> Argument(InferScope& scope, std::string_view attribute, int input) {
  if (scope.attrs().Has(attribute)) {
    const std::vector<int64_t> values = scope.attrs().Ints(attribute);
    return KnownElements(values.begin(), values.end());
  }
  const IntsArgument given = ReadIntsArgument(scope, {}, input);
  if (!given.count || *given.count > static_cast<int64_t>(OptimShape::kMaxRank)) return std::nullopt;
  const KnownElements* elements = scope.Input(input).Elements();
  return elements != nullptr ? *elements : KnownElements(static_cast<size_t>(*given.count));
}

void ShapeRule(InferScope& scope) {
  const OptimShape data = scope.InputShape(0);
  if (data.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const auto rank = static_cast<int>(data.Rank());
  const bool attributes = scope.attrs().Has("starts");
  const std::optional<KnownElements> starts = Argument(scope, "starts", 1), ends = Argument(scope, "ends", 2);
  const IntsArgument axes = ReadIntsArgument(scope, "axes", attributes ? -1 : 3);
  const bool has_steps = !attributes && scope.HasInput(4);
  const std::optional<KnownElements> steps = has_steps ? Argument(scope, {}, 4) : std::nullopt;
  std::vector<int> which;
  if (axes.given && !axes.values) return SetLikeInput(scope, 0, scope.FreshShape(rank));
  if (axes.given) {
    which = NormalizeAxes(scope, *axes.values, rank, axes.subject);
  } else {
    const IntsArgument counted = ReadIntsArgument(scope, "starts", attributes ? -1 : 1);
    if (!counted.count) return SetLikeInput(scope, 0, scope.FreshShape(rank));
    if (*counted.count > rank)
      scope.Fail(counted.subject, fmt::format("has {} entries for {} axes", *counted.count, rank));
    for (int i = 0; i < *counted.count; ++i) which.push_back(i);
  }
  const auto at = [](const std::optional<KnownElements>& list, size_t i) {
    return list && i < list->size() ? (*list)[i] : std::nullopt;
  };
  OptimShape shape = data;
  for (size_t i = 0; i < which.size(); ++i) {
    OptimDim& dim = shape[static_cast<size_t>(which[i])];
    const std::optional<OptimDim> start = at(starts, i), end = at(ends, i);
    const std::optional<OptimDim> step = has_steps ? at(steps, i) : std::optional(OptimDim(1));
    if (step == OptimDim(0)) scope.Fail(scope.InputSubject(4), fmt::format("element {} is 0; a step must not be", i));
    std::optional<OptimDim> count;
    if (start && end && step && step->IsInt()) count = Count(scope, dim, *start, *end, step->AsInt());
    dim = count ? *count : scope.context().FreshDim({}, 0, dim);
  }
  SetLikeInput(scope, 0, shape);
}

}  // namespace

std::span<const OpDef> slice_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Slice",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"starts", AttrKind::kInts, true}, {"ends", AttrKind::kInts, true}, {"axes", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
      {.domain = "",
       .type = "Slice",
       .since_version = 10,
       .inputs = {{"data", kAllTypes, "T"},
                  {"starts", kIndexTypes, "Tind"},
                  {"ends", kIndexTypes, "Tind"},
                  {.name = "axes", .types = kIndexTypes, .type_var = "Tind", .count = FormalCount::kOptional},
                  {.name = "steps", .types = kIndexTypes, .type_var = "Tind", .count = FormalCount::kOptional}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
