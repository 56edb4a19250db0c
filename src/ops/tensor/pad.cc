// SPDX-License-Identifier: Apache-2.0
// Pad: elements put before and after each axis, or those of `axes` (version 18 on): a constant, the mirrored axis, its
// edge or the axis again (wrap, version 19 on). A negative number crops, before anything is put. Pads and constant are
// attributes before version 11, inputs from then on.
// https://onnx.ai/onnx/operators/onnx__Pad.html
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "kernels/indexed/indexed.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum class Mode { kConstant, kReflect, kEdge, kWrap };

bool IsAttributeForm(const OpDef& op) { return op.since_version < 11; }

Mode ReadMode(const RunContext& ctx) {
  const std::string mode = ctx.attrs().String("mode", "constant");
  if (mode == "constant") return Mode::kConstant;
  if (mode == "reflect") return Mode::kReflect;
  if (mode == "edge") return Mode::kEdge;
  const bool wraps = ctx.op().since_version >= 19;
  if (mode != "wrap" || !wraps)
    ctx.Fail("attribute 'mode'",
             fmt::format("is \"{}\", must be constant, reflect{}", mode, wraps ? ", edge or wrap" : " or edge"));
  return Mode::kWrap;
}

struct Padding {
  std::vector<int64_t> before, after;  // by axis
  std::string subject;
};
Padding ReadPads(const RunContext& ctx, int rank) {
  const bool attribute = IsAttributeForm(ctx.op());
  const std::vector<int64_t> pads = attribute ? ctx.attrs().Ints("pads") : ReadInts(ctx, 1);
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (ctx.HasInput(3)) axes = NormalizeAxes(ctx, ReadInts(ctx, 3), rank, ctx.InputSubject(3));
  Padding padding{std::vector<int64_t>(static_cast<size_t>(rank)), std::vector<int64_t>(static_cast<size_t>(rank)),
                  attribute ? "attribute 'pads'" : ctx.InputSubject(1)};
  if (pads.size() != 2 * axes.size())
    ctx.Fail(padding.subject,
             fmt::format("has {} entries, {} axes take {}", pads.size(), axes.size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    padding.before[static_cast<size_t>(axes[i])] = pads[i];
    padding.after[static_cast<size_t>(axes[i])] = pads[axes.size() + i];
  }
  return padding;
}

// Where what lies `at` elements behind the first of an axis of `count` elements comes from, outside of them; -1 for the
// constant.
int64_t Outside(int64_t at, int64_t count, Mode mode) {
  switch (mode) {
    case Mode::kConstant:
      break;
    case Mode::kEdge:
      return std::clamp<int64_t>(at, 0, count - 1);
    case Mode::kReflect: {
      // Back and forth between the ends, which are not repeated.
      if (count == 1) return 0;
      const int64_t period = 2 * (count - 1);
      at = (at % period + period) % period;
      return std::min(at, period - at);
    }
    case Mode::kWrap:
      return (at % count + count) % count;
  }
  return -1;
}

// Where each element of an axis of n elements comes from once it is padded to `length`; -1 for the constant.
std::vector<int64_t> Sources(int64_t n, int64_t before, int64_t after, int64_t length, Mode mode) {
  const int64_t cropped = std::max<int64_t>(0, -before), count = n - cropped - std::max<int64_t>(0, -after);
  const int64_t first = std::max<int64_t>(0, before);
  std::vector<int64_t> sources(static_cast<size_t>(length));
  std::iota(sources.begin(), sources.end(), cropped - first);
  const auto put = [&](int64_t i) {
    const int64_t at = Outside(i - first, count, mode);
    sources[static_cast<size_t>(i)] = at < 0 ? at : at + cropped;
  };
  for (int64_t i = 0; i < first; ++i) put(i);
  for (int64_t i = first + count; i < length; ++i) put(i);
  return sources;
}

// The constant as a tensor of one element of the data's type.
Tensor ReadFill(const RunContext& ctx, TensorType dtype) {
  if (IsAttributeForm(ctx.op())) {
    Tensor fill(dtype, Shape{1});
    Dispatch(FloatList(), dtype, [&]<class T>(std::type_identity<T>) {
      fill.MutableView<T>()[0] = static_cast<T>(ctx.attrs().Float("value", 0));
    });
    return fill;
  }
  if (ctx.HasInput(2)) {
    if (ctx.tensor(2).NumElements() != 1)
      ctx.FailInput(2, fmt::format("must have one element, got {}", ctx.tensor(2).TypeString()));
    return ctx.tensor(2);
  }
  Tensor fill(dtype, Shape{1});  // no bits set: 0, false; strings are empty
  if (dtype != TensorType::kString)
    std::fill_n(static_cast<std::byte*>(fill.mutable_data()), fill.ByteSize(), std::byte{});
  return fill;
}

std::optional<int64_t> Sum(int64_t a, int64_t b, int64_t c) {
  const std::optional<int64_t> two = CheckedAdd(a, b);
  return two ? CheckedAdd(*two, c) : std::nullopt;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Mode mode = ReadMode(ctx);
  const Padding padding = ReadPads(ctx, x.rank());
  const Tensor fill = ReadFill(ctx, x.dtype());
  Shape shape = x.shape();
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t before = padding.before[static_cast<size_t>(d)], after = padding.after[static_cast<size_t>(d)];
    const std::optional<int64_t> cropped = Sum(x.dim(d), std::min<int64_t>(0, before), std::min<int64_t>(0, after));
    if (!cropped || *cropped < 0)
      ctx.Fail(padding.subject,
               fmt::format("{} and {} crop more than the {} elements of axis {}", before, after, x.dim(d), d));
    const std::optional<int64_t> length = Sum(*cropped, std::max<int64_t>(0, before), std::max<int64_t>(0, after));
    if (!length) ctx.Fail(padding.subject, fmt::format("{} and {} are too large for axis {}", before, after, d));
    if (*cropped == 0 && *length > 0 && mode != Mode::kConstant)
      ctx.Fail(padding.subject, fmt::format("axis {} has nothing to fill {} elements with", d, *length));
    shape[d] = *length;
  }
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), shape);
  if (y.NumElements() == 0) return;
  std::vector<std::vector<int64_t>> maps;
  for (int d = 0; d < x.rank(); ++d)
    maps.push_back(Sources(x.dim(d), padding.before[static_cast<size_t>(d)], padding.after[static_cast<size_t>(d)],
                           shape[d], mode));
  kernels::MappedCopy(x.dtype(), x.data(), x.shape().dims(), maps, fill.data(), y.mutable_data());
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  if (shape.IsUnknown()) return SetLikeInput(scope, 0, shape);
  const auto rank = static_cast<int>(shape.Rank());
  KnownElements pads;
  std::string subject = "attribute 'pads'";
  if (scope.input_size() > 1) {
    const KnownElements* known = InputElements(scope, 1);
    if (known == nullptr) return SetLikeInput(scope, 0, scope.FreshShape(rank));
    pads = *known;
    subject = scope.InputSubject(1);
  } else {
    for (const int64_t pad : scope.attrs().Ints("pads")) pads.emplace_back(pad);
  }
  std::vector<int> axes(shape.Rank());
  std::iota(axes.begin(), axes.end(), 0);
  const IntsArgument given = ReadIntsArgument(scope, "", scope.HasInput(3) ? 3 : -1);
  if (scope.HasInput(3)) {
    if (!given.values) return SetLikeInput(scope, 0, scope.FreshShape(rank));
    axes = NormalizeAxes(scope, *given.values, rank, given.subject);
  }
  if (pads.size() != 2 * axes.size())
    scope.Fail(subject, fmt::format("has {} entries, {} axes take {}", pads.size(), axes.size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<OptimDim>&before = pads[i], &after = pads[axes.size() + i];
    OptimDim& dim = shape[static_cast<size_t>(axes[i])];
    if (!before || !after) {
      dim = scope.Fresh();
      continue;
    }
    const OptimDim padded = dim + *before + *after;
    if (padded.IsInt() && padded.AsInt() < 0)
      scope.Fail(subject, fmt::format("{} and {} crop more than the {} elements of axis {}", before->ToString(),
                                      after->ToString(), dim.ToString(), axes[i]));
    dim = padded;
  }
  SetLikeInput(scope, 0, std::move(shape));
}

OpDef VersionOf(int since, TypeSet types, bool axes) {
  OpDef op{.domain = "",
           .type = "Pad",
           .since_version = since,
           .inputs = {{"data", types, "T"},
                      {"pads", {TensorType::kInt64}},
                      {.name = "constant_value", .types = types, .type_var = "T", .count = FormalCount::kOptional}},
           .outputs = {{"output", types, "T"}},
           .attributes = {{"mode", AttrKind::kString}},
           .shape = ShapeRule,
           .run = Run};
  if (axes) op.inputs.push_back({.name = "axes", .types = kIndexTypes, .count = FormalCount::kOptional});
  return op;
}

}  // namespace

std::span<const OpDef> pad_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Pad",
       .since_version = 2,
       .inputs = {{"data", kFloatTypes, "T"}},
       .outputs = {{"output", kFloatTypes, "T"}},
       .attributes = {{"mode", AttrKind::kString}, {"pads", AttrKind::kInts, true}, {"value", AttrKind::kFloat}},
       .shape = ShapeRule,
       .run = Run},
      VersionOf(11, kNumericTypes, false),
      VersionOf(13, kAllTypes, false),
      VersionOf(18, kAllTypes, true),
      VersionOf(19, kAllTypes, true),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
