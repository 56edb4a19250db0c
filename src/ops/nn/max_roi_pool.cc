// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: boxes of an image, [image, x1, y1, x2, y2], cut into bins of whole elements, their corners rounded; each
// bin the greatest element in it, 0 for one without. Bins reach outward to whole elements, so they may overlap.
// https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stop_token.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The elements [begin, end) of an axis of n that bin `bin` of `bins` covers, the box reaching from `first` to `last`.
struct Range {
  int64_t begin, end;
};
Range BinOf(int64_t bin, int64_t bins, double first, double last, int64_t n) {
  const double size = std::max(last - first + 1, 1.0) / static_cast<double>(bins);
  const auto held = [n](double place) { return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(n))); };
  return {held(first + std::floor(static_cast<double>(bin) * size)),
          held(first + std::ceil(static_cast<double>(bin + 1) * size))};
}

double Greatest(const double* plane, int64_t width, Range rows, Range columns) {
  double greatest = rows.begin < rows.end && columns.begin < columns.end ? -INFINITY : 0;
  for (int64_t y = rows.begin; y < rows.end && !StopRequested(); ++y)
    for (int64_t x = columns.begin; x < columns.end; ++x) greatest = std::max(greatest, plane[y * width + x]);
  return greatest;
}

std::vector<int64_t> ReadPooledShape(const NodeAttributes& attrs) {
  std::vector<int64_t> pooled = attrs.Ints("pooled_shape");
  if (pooled.size() != 2 || std::ranges::min(pooled) < 1)
    FailAttribute("pooled_shape",
                  fmt::format("must be a height and a width of 1 or more, got [{}]", fmt::join(pooled, ",")));
  return pooled;
}

void Run(RunContext& ctx) {
  const std::vector<int64_t> pooled = ReadPooledShape(ctx.attrs());
  const auto scale = static_cast<double>(ctx.attrs().Float("spatial_scale", 1));
  const Tensor x = AsType(ctx.tensor(0), TensorType::kDouble), rois = AsType(ctx.tensor(1), TensorType::kDouble);
  CheckRank(ctx, 0, 4);
  if (rois.rank() != 2 || rois.dim(1) != 5)
    ctx.FailInput(1, fmt::format("must be boxes [N,5], got {}", ctx.tensor(1).TypeString()));
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins = pooled[0] * pooled[1];
  Tensor y(TensorType::kDouble, Shape{rois.dim(0), channels, pooled[0], pooled[1]});
  double* to = y.MutableView<double>().data();
  for (int64_t roi = 0; roi < rois.dim(0); ++roi) {
    const double* box = rois.View<double>().data() + roi * 5;
    if (!(box[0] >= 0 && box[0] < static_cast<double>(x.dim(0))))
      ctx.FailInput(1, fmt::format("box {} is of image {}, not in [0, {})", roi, box[0], x.dim(0)));
    double corners[4];
    for (int i = 0; i < 4; ++i) {
      corners[i] = std::round(box[i + 1] * scale);
      if (!std::isfinite(corners[i])) ctx.FailInput(1, fmt::format("box {} is not finite", roi));
    }
    const double* image = x.View<double>().data() + static_cast<int64_t>(box[0]) * channels * height * width;
    const int64_t grain = std::max<int64_t>(1, kElementGrain * bins / std::max<int64_t>(1, height * width));
    ctx.ParallelFor(channels * bins, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = Greatest(image + i / bins * height * width, width,
                         BinOf(i % bins / pooled[1], pooled[0], corners[1], corners[3], height),
                         BinOf(i % pooled[1], pooled[1], corners[0], corners[2], width));
    });
    to += channels * bins;
  }
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape* const x = RankedInput(scope, 0, 4);
  const OptimShape& rois = scope.InputShape(1);
  if (!rois.IsUnknown() && (rois.Rank() != 2 || (rois[1].IsInt() && rois[1].AsInt() != 5)))
    scope.Fail(scope.InputSubject(1), fmt::format("must be boxes [N,5], got {}", InferScope::Describe(scope.Input(1))));
  const std::vector<int64_t> pooled = ReadPooledShape(scope.attrs());
  SetLikeInput(scope, 0,
               OptimShape{rois.IsUnknown() ? scope.Fresh() : rois[0], x != nullptr ? (*x)[1] : scope.Fresh(),
                          OptimDim(pooled[0]), OptimDim(pooled[1])});
}

}  // namespace

std::span<const OpDef> max_roi_pool_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MaxRoiPool",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"}, {"rois", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"pooled_shape", AttrKind::kInts, true}, {"spatial_scale", AttrKind::kFloat}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
