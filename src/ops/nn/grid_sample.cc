// SPDX-License-Identifier: Apache-2.0
// GridSample: an image [N,C,spatial...] read at the places a grid names in coordinates from -1 to 1, the last axis
// first: the nearest element, or linearly or cubically between. What lies outside is 0, the border, or mirrored. Of
// numbers; computed in double, integers truncated. https://onnx.ai/onnx/operators/onnx__GridSample.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Outside { kZeros, kBorder, kReflection };

struct Sampling {
  Mode mode;
  Outside outside;
  bool align;
};
Sampling ReadSampling(const RunContext& ctx) {
  const std::string mode = ctx.attrs().String("mode", "linear"), outside = ctx.attrs().String("padding_mode", "zeros");
  Sampling s{Mode::kLinear, Outside::kZeros, ctx.attrs().Int("align_corners", 0) != 0};
  // Version 16 has the names of images alone.
  if (mode == "nearest") {
    s.mode = Mode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    s.mode = Mode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    ctx.Fail("attribute 'mode'", fmt::format("is \"{}\", which is not known", mode));
  }
  if (outside == "border") {
    s.outside = Outside::kBorder;
  } else if (outside == "reflection") {
    s.outside = Outside::kReflection;
  } else if (outside != "zeros") {
    ctx.Fail("attribute 'padding_mode'", fmt::format("is \"{}\", which is not known", outside));
  }
  return s;
}

// A place mirrored at low and high until it lies between.
double Reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double turns = std::floor((x - low) / range), rest = x - low - turns * range;
  return std::fmod(turns, 2) == 0 ? low + rest : high - rest;
}

// The element that stands for place i of an axis of n; -1 for none.
int64_t ElementAt(double i, int64_t n, const Sampling& s) {
  const auto last = static_cast<double>(n - 1);
  if (s.outside == Outside::kReflection) i = s.align ? Reflected(i, 0, last) : Reflected(i, -0.5, last + 0.5);
  if (s.outside != Outside::kZeros) i = std::clamp(i, 0.0, last);
  return i >= 0 && i <= last ? static_cast<int64_t>(i) : -1;
}

constexpr int kMaxTaps = 4;
struct AxisTaps {
  int count = 0;
  int64_t at[kMaxTaps];
  double weight[kMaxTaps];
};

AxisTaps TapsAt(double coordinate, int64_t n, const Sampling& s) {
  const auto count = static_cast<double>(n);
  double x = s.align ? (coordinate + 1) / 2 * (count - 1) : ((coordinate + 1) * count - 1) / 2;
  AxisTaps taps;
  if (!std::isfinite(x)) x = -2 * count - 2;  // nowhere; the border where that counts
  // Neighbours of a mirrored place are those on this side of the mirror; cubic ones are mirrored one by one.
  if (s.mode != Mode::kCubic && s.outside == Outside::kReflection)
    x = s.align ? Reflected(x, 0, count - 1) : Reflected(x, -0.5, count - 0.5);
  if (s.mode != Mode::kCubic && s.outside != Outside::kZeros) x = std::clamp(x, 0.0, count - 1);
  const auto add = [&](double place, double weight) {
    taps.at[taps.count] = ElementAt(place, n, s);
    taps.weight[taps.count++] = weight;
  };
  if (s.mode == Mode::kNearest) {
    add(std::nearbyint(x), 1);
    return taps;
  }
  const double base = std::floor(x), t = x - base;
  if (s.mode == Mode::kLinear) {
    add(base, 1 - t);
    add(base + 1, t);
    return taps;
  }
  constexpr double kA = -0.75;
  const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  add(base - 1, far(t + 1));
  add(base, near(t));
  add(base + 1, near(1 - t));
  add(base + 2, far(2 - t));
  return taps;
}

// The weighted sum over the taps of axes [d, end).
double Sum(const double* x, std::span<const AxisTaps> taps, std::span<const int64_t> strides) {
  if (taps.empty()) return *x;
  double sum = 0;
  for (int k = 0; k < taps[0].count; ++k) {
    if (taps[0].at[k] < 0 || taps[0].weight[k] == 0) continue;
    sum += taps[0].weight[k] * Sum(x + taps[0].at[k] * strides[0], taps.subspan(1), strides.subspan(1));
  }
  return sum;
}

void Run(RunContext& ctx) {
  const Sampling sampling = ReadSampling(ctx);
  const Tensor x = AsType(ctx.tensor(0), TensorType::kDouble), grid = AsType(ctx.tensor(1), TensorType::kDouble);
  const int axes = x.rank() - 2;
  if (axes < 1) ctx.FailInput(0, fmt::format("must have rank 3 or more, got {}", ctx.tensor(0).TypeString()));
  if (grid.rank() != x.rank() || grid.dim(0) != x.dim(0) || grid.dim(grid.rank() - 1) != axes)
    ctx.FailInput(
        1, fmt::format("must be [{},...,{}] of rank {}, got {}", x.dim(0), axes, x.rank(), ctx.tensor(1).TypeString()));
  const std::span<const int64_t> dims = x.shape().dims().subspan(2);
  const int64_t plane = DimsProduct(dims, 0, axes), channels = x.dim(1);
  Shape shape{x.dim(0), channels};
  for (int d = 1; d <= axes; ++d) shape.push_back(grid.dim(d));
  const int64_t places = DimsProduct(shape.dims(), 2, shape.rank());
  Tensor y(TensorType::kDouble, shape);
  if (plane == 0 && y.NumElements() > 0) ctx.FailInput(0, "has nothing to sample");
  const std::vector<int64_t> strides = DenseStrides(dims);
  const double* from = x.View<double>().data();
  const double* at = grid.View<double>().data();
  double* const to = y.MutableView<double>().data();
  ctx.ParallelFor(x.dim(0) * places, std::max<int64_t>(1, kElementGrain / 16 / std::max<int64_t>(1, channels)),
                  [&](int64_t begin, int64_t end) {
                    std::vector<AxisTaps> taps(static_cast<size_t>(axes));
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t n = i / places;
                      // The first coordinate is that of the last axis.
                      for (int d = 0; d < axes; ++d) {
                        const auto axis = static_cast<size_t>(axes - 1 - d);
                        taps[axis] = TapsAt(at[i * axes + d], dims[axis], sampling);
                      }
                      for (int64_t c = 0; c < channels; ++c)
                        to[(n * channels + c) * places + i % places] =
                            Sum(from + (n * channels + c) * plane, taps, strides);
                    }
                  });
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& grid = scope.InputShape(1);
  if (x.IsUnknown() && grid.IsUnknown()) return SetLikeInput(scope, 0, x);
  const OptimShape& either = x.IsUnknown() ? grid : x;
  OptimShape shape = scope.FreshShape(static_cast<int>(either.Rank()));
  if (either.Rank() < 3)
    scope.Fail(scope.InputSubject(x.IsUnknown() ? 1 : 0),
               fmt::format("must have rank 3 or more, has {}", either.Rank()));
  if (!x.IsUnknown()) {
    shape[0] = x[0];
    shape[1] = x[1];
  }
  if (!grid.IsUnknown()) {
    if (!x.IsUnknown() && grid.Rank() != x.Rank())
      scope.Fail(scope.InputSubject(1), fmt::format("has rank {}, the image {}", grid.Rank(), x.Rank()));
    shape[0] = x.IsUnknown() ? grid[0]
                             : scope.Unify(x[0], grid[0], "the batch of " + scope.InputSubject(0),
                                           "that of " + scope.InputSubject(1));
    for (size_t d = 2; d < shape.Rank(); ++d) shape[d] = grid[d - 1];
  }
  SetLikeInput(scope, 0, std::move(shape));
}

constexpr TypeSet kSampledTypes = kNumericTypes;

}  // namespace

std::span<const OpDef> grid_sample_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "GridSample",
       .since_version = 16,
       .inputs = {{"X", kSampledTypes, "T1"}, {"grid", kFloatTypes, "T2"}},
       .outputs = {{"Y", kSampledTypes, "T1"}},
       .attributes = {{"align_corners", AttrKind::kInt},
                      {"mode", AttrKind::kString},
                      {"padding_mode", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
