// SPDX-License-Identifier: Apache-2.0
// Resize: each axis, or each of `axes` (version 18 on), scaled or brought to a size: to the nearest element, or
// linearly or cubically between. Coordinates, rounding and what lies outside are attributes from version 11 on; before
// it they are those of Upsample. With tf_crop_and_resize and scales the length is that of the region times scale.
// https://onnx.ai/onnx/operators/onnx__Resize.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ops/nn/resize_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class E, size_t kCount>
E Named(const RunContext& ctx, const char* attribute, std::string_view otherwise,
        const std::pair<std::string_view, E> (&names)[kCount]) {
  const std::string name = ctx.attrs().String(attribute, otherwise);
  for (const auto& [known, value] : names)
    if (known == name) return value;
  ctx.Fail(fmt::format("attribute '{}'", attribute), fmt::format("is \"{}\", which is not known", name));
}

constexpr std::pair<std::string_view, CoordinateMode> kCoordinates[] = {
    {"half_pixel", CoordinateMode::kHalfPixel},
    {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
    {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
    {"align_corners", CoordinateMode::kAlignCorners},
    {"asymmetric", CoordinateMode::kAsymmetric},
    {"tf_crop_and_resize", CoordinateMode::kTfCropAndResize},
    {"tf_half_pixel_for_nn", CoordinateMode::kHalfPixel},  // version 11 alone has it, for nearest
};
constexpr std::pair<std::string_view, NearestMode> kNearest[] = {
    {"round_prefer_floor", NearestMode::kRoundPreferFloor},
    {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
    {"floor", NearestMode::kFloor},
    {"ceil", NearestMode::kCeil},
};
enum class Policy { kStretch, kNotLarger, kNotSmaller };
constexpr std::pair<std::string_view, Policy> kPolicies[] = {
    {"stretch", Policy::kStretch}, {"not_larger", Policy::kNotLarger}, {"not_smaller", Policy::kNotSmaller}};

bool IsGiven(const RunContext& ctx, int i) { return ctx.HasInput(i) && ctx.tensor(i).NumElements() > 0; }

std::vector<int> AxesOf(const RunContext& ctx, int rank) {
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (ctx.attrs().Has("axes")) axes = NormalizeAxes(ctx, ctx.attrs().Ints("axes"), rank, "attribute 'axes'");
  return axes;
}

void CheckCount(const RunContext& ctx, int i, size_t axes) {
  const Tensor& t = ctx.tensor(i);
  if (t.rank() != 1 || t.dim(0) != static_cast<int64_t>(axes))
    ctx.FailInput(i, fmt::format("must be a vector of {}, one for each axis, got {}", axes, t.TypeString()));
}

void TakeScales(const RunContext& ctx, int input, const std::vector<int>& axes, ResizeSpec& spec) {
  CheckCount(ctx, input, axes.size());
  const std::span<const float> scales = ctx.tensor(input).View<float>();
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = spec.axes[static_cast<size_t>(axes[i])];
    axis.scale = static_cast<double>(scales[i]);
    axis.out = ScaledLength(ctx, axis.in, scales[i], ctx.InputSubject(input));
    if (spec.coordinates == CoordinateMode::kTfCropAndResize)
      axis.out = std::max<int64_t>(0, static_cast<int64_t>(std::floor(static_cast<double>(axis.in) *
                                                                      (axis.roi_end - axis.roi_start) * axis.scale)));
    axis.resized = true;
  }
}

void TakeSizes(const RunContext& ctx, const std::vector<int>& axes, Policy policy, ResizeSpec& spec) {
  CheckCount(ctx, 3, axes.size());
  const std::span<const int64_t> sizes = ctx.tensor(3).View<int64_t>();
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = spec.axes[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0) ctx.FailInput(3, fmt::format("element {} is {}, no size", i, sizes[i]));
    axis.out = sizes[i];
    axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.in);
    axis.resized = true;
    common = i == 0                         ? axis.scale
             : policy == Policy::kNotLarger ? std::min(common, axis.scale)
                                            : std::max(common, axis.scale);
  }
  if (policy == Policy::kStretch) return;
  for (const int d : axes) {
    ResizeAxis& axis = spec.axes[static_cast<size_t>(d)];
    axis.scale = common;
    axis.out = static_cast<int64_t>(std::floor(common * static_cast<double>(axis.in) + 0.5));
  }
}

void TakeRegion(const RunContext& ctx, const std::vector<int>& axes, ResizeSpec& spec) {
  if (!IsGiven(ctx, 1)) ctx.Fail("attribute 'coordinate_transformation_mode'", "tf_crop_and_resize needs input 'roi'");
  CheckCount(ctx, 1, 2 * axes.size());
  Dispatch(FloatList(), ctx.tensor(1).dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> roi = ctx.tensor(1).View<T>();
    for (size_t i = 0; i < axes.size(); ++i) {
      spec.axes[static_cast<size_t>(axes[i])].roi_start = static_cast<double>(roi[i]);
      spec.axes[static_cast<size_t>(axes[i])].roi_end = static_cast<double>(roi[axes.size() + i]);
    }
  });
}

ResizeSpec WithAxes(const Shape& shape) {
  ResizeSpec spec;
  for (const int64_t d : shape) spec.axes.push_back({.in = d, .out = d});
  return spec;
}

void RunFirst(RunContext& ctx) {
  ResizeSpec spec = WithAxes(ctx.tensor(0).shape());
  spec.mode = ReadResizeMode(ctx, false);
  TakeScales(ctx, 1, AxesOf(ctx, ctx.tensor(0).rank()), spec);
  RunResize(ctx, spec);
}

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  ResizeSpec spec = WithAxes(ctx.tensor(0).shape());
  spec.mode = ReadResizeMode(ctx, true);
  spec.coordinates = Named(ctx, "coordinate_transformation_mode", "half_pixel", kCoordinates);
  spec.nearest = Named(ctx, "nearest_mode", "round_prefer_floor", kNearest);
  spec.cubic_a = static_cast<double>(attrs.Float("cubic_coeff_a", -0.75f));
  spec.exclude_outside = attrs.Int("exclude_outside", 0) != 0;
  spec.antialias = attrs.Int("antialias", 0) != 0;
  spec.extrapolation = static_cast<double>(attrs.Float("extrapolation_value", 0));
  const std::vector<int> axes = AxesOf(ctx, ctx.tensor(0).rank());
  if (spec.coordinates == CoordinateMode::kTfCropAndResize) TakeRegion(ctx, axes, spec);
  if (IsGiven(ctx, 2) == IsGiven(ctx, 3)) ctx.Fail({}, "needs either scales or sizes");
  if (IsGiven(ctx, 2)) {
    TakeScales(ctx, 2, axes, spec);
  } else {
    TakeSizes(ctx, axes, Named(ctx, "keep_aspect_ratio_policy", "stretch", kPolicies), spec);
  }
  RunResize(ctx, spec);
}

void ShapeRule(InferScope& scope) {
  OptimShape x = scope.InputShape(0);
  if (x.IsUnknown()) return SetLikeInput(scope, 0, x);
  const auto rank = static_cast<int>(x.Rank());
  std::vector<int> axes(x.Rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (scope.attrs().Has("axes")) axes = NormalizeAxes(scope, scope.attrs().Ints("axes"), rank, "attribute 'axes'");
  const int scales_input = scope.opset() != 0 && scope.opset() < 11 ? 1 : 2;
  const bool crops = scope.attrs().String("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  const KnownFloats* scales = scope.HasInput(scales_input) ? scope.Input(scales_input).Floats() : nullptr;
  if (scales != nullptr && scales->size() == axes.size() && !crops)
    return SetLikeInput(scope, 0, ScaledShape(scope, x, *scales, axes));
  // What is not resized keeps its dim.
  std::optional<std::vector<OptimDim>> sizes;
  if (scales_input == 2 && scope.attrs().String("keep_aspect_ratio_policy", "stretch") == "stretch")
    sizes = InputSizes(scope, 3);
  if (sizes && sizes->size() != axes.size()) sizes.reset();
  for (size_t i = 0; i < axes.size(); ++i) x[static_cast<size_t>(axes[i])] = sizes ? (*sizes)[i] : scope.Fresh();
  SetLikeInput(scope, 0, std::move(x));
}

constexpr TypeSet kRoiTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16};
OpDef VersionOf(int since, bool optional, std::vector<AttrDef> more) {
  const FormalCount count = optional ? FormalCount::kOptional : FormalCount::kOne;
  OpDef op{.domain = "",
           .type = "Resize",
           .since_version = since,
           .inputs = {{"X", kAllTypes, "T1"},
                      {.name = "roi", .types = kRoiTypes, .count = count},
                      {.name = "scales", .types = {TensorType::kFloat}, .count = count},
                      {.name = "sizes", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
           .outputs = {{"Y", kAllTypes, "T1"}},
           .attributes = {{"coordinate_transformation_mode", AttrKind::kString},
                          {"cubic_coeff_a", AttrKind::kFloat},
                          {"exclude_outside", AttrKind::kInt},
                          {"extrapolation_value", AttrKind::kFloat},
                          {"mode", AttrKind::kString},
                          {"nearest_mode", AttrKind::kString}},
           .shape = ShapeRule,
           .run = Run};
  op.attributes.insert(op.attributes.end(), more.begin(), more.end());
  return op;
}

}  // namespace

std::span<const OpDef> resize_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Resize",
       .since_version = 10,
       .inputs = {{"X", kAllTypes, "T"}, {"scales", {TensorType::kFloat}}},
       .outputs = {{"Y", kAllTypes, "T"}},
       .attributes = {{"mode", AttrKind::kString}},
       .shape = ShapeRule,
       .run = RunFirst},
      VersionOf(11, false, {}),
      VersionOf(13, true, {}),
      VersionOf(
          18, true,
          {{"antialias", AttrKind::kInt}, {"axes", AttrKind::kInts}, {"keep_aspect_ratio_policy", AttrKind::kString}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
