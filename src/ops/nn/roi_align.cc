// SPDX-License-Identifier: Apache-2.0
// RoiAlign: boxes of an image cut into bins; each the mean, or the greatest, of samples spread evenly over it, which
// are read linearly between elements. For the greatest the four weighted elements of a sample count one by one, as in
// the standard's own tests. Version 10 neither shifts by half an element nor takes boxes smaller than one. Computed in
// double. https://onnx.ai/onnx/operators/onnx__RoiAlign.html
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/stop_token.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kMaxSamples = int64_t{1} << 20;  // along one axis of a box

int64_t ReadLength(const NodeAttributes& attrs, std::string_view name) {
  const int64_t length = attrs.Int(name, 1);
  if (length < 1) FailAttribute(name, fmt::format("is {}, must be 1 or more", length));
  return length;
}

struct Pooling {
  int64_t height, width, sampling_ratio;
  double scale;
  bool half_pixel, greatest;
};
Pooling ReadPooling(const RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  const std::string mode = attrs.String("mode", "avg");
  if (mode != "avg" && mode != "max") ctx.Fail("attribute 'mode'", fmt::format("is \"{}\", must be avg or max", mode));
  const bool shifts = ctx.op().since_version >= 16;
  const std::string places =
      attrs.String("coordinate_transformation_mode", shifts ? "half_pixel" : "output_half_pixel");
  if (places != "half_pixel" && places != "output_half_pixel")
    ctx.Fail("attribute 'coordinate_transformation_mode'",
             fmt::format("is \"{}\", must be half_pixel or output_half_pixel", places));
  Pooling pooling{.height = ReadLength(attrs, "output_height"),
                  .width = ReadLength(attrs, "output_width"),
                  .sampling_ratio = attrs.Int("sampling_ratio", 0),
                  .scale = static_cast<double>(attrs.Float("spatial_scale", 1)),
                  .half_pixel = places == "half_pixel",
                  .greatest = mode == "max"};
  if (pooling.sampling_ratio < 0)
    ctx.Fail("attribute 'sampling_ratio'", fmt::format("is {}, must not be negative", pooling.sampling_ratio));
  return pooling;
}

// Where one sample lies along an axis: between `low` and `high`; nowhere when both weights are 0.
struct Sample {
  int64_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};
Sample SampleAt(double place, int64_t n) {
  if (!(place >= -1 && place <= static_cast<double>(n))) return {};
  place = std::max(place, 0.0);
  const auto low = static_cast<int64_t>(place);
  if (low >= n - 1) return {n - 1, n - 1, 1, 0};
  const double part = place - static_cast<double>(low);
  return {low, low + 1, 1 - part, part};
}

// The samples of `bins` bins along the axis of `n` elements that the box covers from `start` to `end`.
struct AxisSamples {
  int64_t each = 0;  // in one bin
  std::vector<Sample> samples;
};
AxisSamples SamplesOf(const RunContext& ctx, const Pooling& pooling, int64_t roi, double start, double end,
                      int64_t bins, int64_t n) {
  const double shift = pooling.half_pixel ? 0.5 : 0;
  start = start * pooling.scale - shift;
  double length = end * pooling.scale - shift - start;
  if (!pooling.half_pixel) length = std::max(length, 1.0);
  const double bin = length / static_cast<double>(bins);
  const double each = pooling.sampling_ratio > 0 ? static_cast<double>(pooling.sampling_ratio) : std::ceil(bin);
  if (!std::isfinite(start) || !(each * static_cast<double>(bins) <= static_cast<double>(kMaxSamples)))
    ctx.FailInput(1, fmt::format("box {} takes more than {} samples along an axis", roi, kMaxSamples));
  AxisSamples result{static_cast<int64_t>(std::max(each, 0.0)), {}};
  for (int64_t b = 0; b < bins; ++b)
    for (int64_t i = 0; i < result.each; ++i)
      result.samples.push_back(
          SampleAt(start + static_cast<double>(b) * bin + (static_cast<double>(i) + 0.5) * bin / each, n));
  return result;
}

double PoolBin(const double* plane, int64_t width, std::span<const Sample> rows, std::span<const Sample> columns,
               bool greatest) {
  double result = greatest && !rows.empty() && !columns.empty() ? -INFINITY : 0;
  for (const Sample& y : rows) {
    if (StopRequested()) break;
    for (const Sample& x : columns) {
      const std::array<double, 4> parts{y.low_weight * x.low_weight * plane[y.low * width + x.low],
                                        y.low_weight * x.high_weight * plane[y.low * width + x.high],
                                        y.high_weight * x.low_weight * plane[y.high * width + x.low],
                                        y.high_weight * x.high_weight * plane[y.high * width + x.high]};
      result = greatest ? std::max(result, *std::ranges::max_element(parts))
                        : result + parts[0] + parts[1] + parts[2] + parts[3];
    }
  }
  const auto count = static_cast<double>(std::max<size_t>(1, rows.size() * columns.size()));
  return greatest ? result : result / count;
}

void Run(RunContext& ctx) {
  const Pooling pooling = ReadPooling(ctx);
  const Tensor x = AsType(ctx.tensor(0), TensorType::kDouble), rois = AsType(ctx.tensor(1), TensorType::kDouble);
  const Tensor batch = ctx.tensor(2);
  CheckRank(ctx, 0, 4);
  if (rois.rank() != 2 || rois.dim(1) != 4)
    ctx.FailInput(1, fmt::format("must be boxes [N,4], got {}", ctx.tensor(1).TypeString()));
  const int64_t count = rois.dim(0), channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  if (batch.shape() != Shape{count})
    ctx.FailInput(2, fmt::format("must be a vector of {}, one for each box, got {}", count, batch.TypeString()));
  const std::span<const int64_t> images = batch.View<int64_t>();
  for (size_t i = 0; i < images.size(); ++i)
    if (images[i] < 0 || images[i] >= x.dim(0))
      ctx.FailInput(2, fmt::format("element {} is {}, not in [0, {})", i, images[i], x.dim(0)));
  Tensor y(TensorType::kDouble, Shape{count, channels, pooling.height, pooling.width});
  if (height * width == 0 && y.NumElements() > 0) ctx.FailInput(0, "has nothing to sample");
  double* to = y.MutableView<double>().data();
  for (int64_t roi = 0; roi < count; ++roi) {
    const double* box = rois.View<double>().data() + roi * 4;
    const AxisSamples rows = SamplesOf(ctx, pooling, roi, box[1], box[3], pooling.height, height);
    const AxisSamples columns = SamplesOf(ctx, pooling, roi, box[0], box[2], pooling.width, width);
    const auto bin_of = [](const AxisSamples& axis, int64_t bin) {
      return std::span(axis.samples).subspan(static_cast<size_t>(bin * axis.each), static_cast<size_t>(axis.each));
    };
    const double* image = x.View<double>().data() + images[static_cast<size_t>(roi)] * channels * height * width;
    const int64_t bins = pooling.height * pooling.width;
    const int64_t grain = std::max<int64_t>(1, kElementGrain / 8 / std::max<int64_t>(1, rows.each * columns.each));
    ctx.ParallelFor(channels * bins, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !StopRequested(); ++i)
        to[i] = PoolBin(image + i / bins * height * width, width, bin_of(rows, i % bins / pooling.width),
                        bin_of(columns, i % pooling.width), pooling.greatest);
    });
    to += channels * bins;
  }
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape* const x = RankedInput(scope, 0, 4);
  const OptimShape& rois = scope.InputShape(1);
  const OptimShape& batch = scope.InputShape(2);
  const bool boxes = !rois.IsUnknown() && rois.Rank() == 2 && (!rois[1].IsInt() || rois[1].AsInt() == 4);
  if (!rois.IsUnknown() && !boxes)
    scope.Fail(scope.InputSubject(1), fmt::format("must be boxes [N,4], got {}", InferScope::Describe(scope.Input(1))));
  OptimDim count = boxes ? rois[0] : scope.Fresh();
  if (!batch.IsUnknown() && batch.Rank() == 1)
    count =
        boxes ? scope.Unify(count, batch[0], "the boxes of " + scope.InputSubject(1), scope.InputSubject(2)) : batch[0];
  SetLikeInput(
      scope, 0,
      OptimShape{count, x != nullptr ? (*x)[1] : scope.Fresh(), OptimDim(ReadLength(scope.attrs(), "output_height")),
                 OptimDim(ReadLength(scope.attrs(), "output_width"))});
}

OpDef VersionOf(int since) {
  OpDef op{.domain = "",
           .type = "RoiAlign",
           .since_version = since,
           .inputs = {{"X", kFloatTypes, "T1"}, {"rois", kFloatTypes, "T1"}, {"batch_indices", {TensorType::kInt64}}},
           .outputs = {{"Y", kFloatTypes, "T1"}},
           .attributes = {{"mode", AttrKind::kString},
                          {"output_height", AttrKind::kInt},
                          {"output_width", AttrKind::kInt},
                          {"sampling_ratio", AttrKind::kInt},
                          {"spatial_scale", AttrKind::kFloat}},
           .shape = ShapeRule,
           .run = Run};
  if (since >= 16) op.attributes.push_back({"coordinate_transformation_mode", AttrKind::kString});
  return op;
}

}  // namespace

std::span<const OpDef> roi_align_ops() {
  static const OpDef ops[] = {VersionOf(10), VersionOf(16)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
