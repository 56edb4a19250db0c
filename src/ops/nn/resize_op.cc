// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/resize_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/cast/cast.h"
#include "kernels/indexed/indexed.h"
#include "kernels/resample/resample.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The place in the input that output i of the axis comes from.
double Coordinate(const ResizeSpec& spec, const ResizeAxis& axis, int64_t i) {
  const auto place = static_cast<double>(i), in = static_cast<double>(axis.in);
  const double width = axis.scale * in;  // may have a fraction, which the output's length has not
  switch (spec.coordinates) {
    case CoordinateMode::kHalfPixel:
      return (place + 0.5) / axis.scale - 0.5;
    case CoordinateMode::kHalfPixelSymmetric: {
      const double adjustment = static_cast<double>(axis.out) / width;
      return in / 2 * (1 - adjustment) + (place + 0.5) / axis.scale - 0.5;
    }
    case CoordinateMode::kPytorchHalfPixel:
      return width == 1 ? 0 : (place + 0.5) / axis.scale - 0.5;
    case CoordinateMode::kAlignCorners:
      return width == 1 ? 0 : place * (in - 1) / (width - 1);
    case CoordinateMode::kAsymmetric:
      return place / axis.scale;
    case CoordinateMode::kTfCropAndResize:
      break;
  }
  const double extent = axis.roi_end - axis.roi_start;
  return axis.out > 1 ? axis.roi_start * (in - 1) + place * extent * (in - 1) / static_cast<double>(axis.out - 1)
                      : 0.5 * (axis.roi_start + axis.roi_end) * (in - 1);
}

bool IsOutside(const ResizeSpec& spec, const ResizeAxis& axis, double x) {
  return spec.coordinates == CoordinateMode::kTfCropAndResize && (x < 0 || x > static_cast<double>(axis.in - 1));
}

int64_t Nearest(const ResizeSpec& spec, const ResizeAxis& axis, double x) {
  double place = x;
  switch (spec.nearest) {
    case NearestMode::kRoundPreferFloor:
      place = std::ceil(x - 0.5);
      break;
    case NearestMode::kRoundPreferCeil:
      place = std::floor(x + 0.5);
      break;
    case NearestMode::kFloor:
      place = std::floor(x);
      break;
    case NearestMode::kCeil:
      place = std::ceil(x);
      break;
  }
  return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(axis.in - 1)));
}

double CubicWeight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The taps of one axis. The filter reaches `radius` inputs to each side, 1 / scale times as many when it is stretched
// against aliasing.
kernels::Taps TapsOf(const ResizeSpec& spec, const ResizeAxis& axis) {
  const bool cubic = spec.mode == ResizeMode::kCubic;
  const double stretch = spec.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const auto first = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / stretch)) + 1;
  kernels::Taps taps;
  std::vector<double> weights;
  for (int64_t i = 0; i < axis.out; ++i) {
    const double x = Coordinate(spec, axis, i);
    // Of two as near ones the left is the base: the distance from it is in (0, 1].
    const double base = std::ceil(x) - 1;
    double sum = 0;
    weights.clear();
    for (int64_t k = first; k < 2 - first; ++k) {
      const double distance = stretch * (static_cast<double>(k) - (x - base));
      double weight = cubic ? CubicWeight(distance, spec.cubic_a) : std::max(0.0, 1 - std::abs(distance));
      const double place = base + static_cast<double>(k);
      if (spec.exclude_outside && (place < 0 || place > static_cast<double>(axis.in - 1))) weight = 0;
      weights.push_back(weight);
      sum += weight;
    }
    if (!spec.antialias && !spec.exclude_outside) sum = 1;
    for (size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] == 0) continue;
      const double place = base + static_cast<double>(first) + static_cast<double>(k);
      taps.Add(static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(axis.in - 1))), weights[k] / sum);
    }
    taps.EndOutput();
  }
  return taps;
}

Shape OutputShape(const ResizeSpec& spec) {
  Shape shape;
  for (const ResizeAxis& axis : spec.axes) shape.push_back(axis.out);
  return shape;
}

// One element of the type: the extrapolation value, zero or empty text for types it cannot be cast to.
Tensor Extrapolation(const ResizeSpec& spec, TensorType type) {
  Tensor fill(type, Shape{1});
  if (type != TensorType::kString) std::memset(fill.mutable_data(), 0, fill.ByteSize());
  if ((kNumericTypes | kNarrowTypes | kBoolType).Has(type))
    kernels::Cast(&spec.extrapolation, TensorType::kDouble, fill.mutable_data(), type, 1);
  return fill;
}

void ResizeNearest(RunContext& ctx, const ResizeSpec& spec, const Tensor& x) {
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), OutputShape(spec));
  if (y.NumElements() == 0) return;
  std::vector<std::vector<int64_t>> maps;
  for (const ResizeAxis& axis : spec.axes) {
    std::vector<int64_t>& map = maps.emplace_back();
    for (int64_t i = 0; i < axis.out; ++i) {
      if (i % kElementGrain == 0) ctx.CheckCancelled();
      const double place = axis.resized ? Coordinate(spec, axis, i) : static_cast<double>(i);
      map.push_back(!axis.resized ? i : IsOutside(spec, axis, place) ? -1 : Nearest(spec, axis, place));
    }
  }
  const Tensor fill = Extrapolation(spec, x.dtype());
  kernels::MappedCopy(x.dtype(), x.data(), x.shape().dims(), maps, fill.data(), y.mutable_data());
}

template <class T>
Tensor Interpolated(const RunContext& ctx, const ResizeSpec& spec, Tensor x) {
  for (int d = 0; d < x.rank(); ++d) {
    const ResizeAxis& axis = spec.axes[static_cast<size_t>(d)];
    if (!axis.resized) continue;
    Shape shape = x.shape();
    shape[d] = axis.out;
    const std::span<const int64_t> dims = x.shape().dims();
    Tensor y(x.dtype(), shape);
    kernels::Resample(x.View<T>().data(), y.MutableView<T>().data(), DimsProduct(dims, 0, d), axis.in,
                      DimsProduct(dims, d + 1, x.rank()), TapsOf(spec, axis), [&] { ctx.CheckCancelled(); });
    x = std::move(y);
  }
  if (spec.coordinates != CoordinateMode::kTfCropAndResize) return x;
  // Whatever lies outside along one axis is not interpolated at all.
  std::vector<int64_t> outside;
  const std::vector<int64_t> strides = DenseStrides(x.shape().dims());
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    bool out = false;
    for (int d = 0; d < x.rank() && !out; ++d) {
      const ResizeAxis& axis = spec.axes[static_cast<size_t>(d)];
      out =
          axis.resized && IsOutside(spec, axis, Coordinate(spec, axis, i / strides[static_cast<size_t>(d)] % axis.out));
    }
    if (out) outside.push_back(i);
  }
  const Tensor fill = Extrapolation(spec, x.dtype());
  x.Unshare();
  kernels::FillAt(x.dtype(), x.mutable_data(), outside, fill.data());
  return x;
}

// The tensor itself where it is of that type.
Tensor As(const Tensor& x, TensorType type) {
  if (x.dtype() == type) return x;
  Tensor y(type, x.shape());
  kernels::Cast(x.data(), x.dtype(), y.mutable_data(), type, x.NumElements());
  return y;
}

}  // namespace

ResizeMode ReadResizeMode(const RunContext& ctx, bool cubic) {
  const std::string mode = ctx.attrs().String("mode", "nearest");
  if (mode == "nearest") return ResizeMode::kNearest;
  if (mode == "linear") return ResizeMode::kLinear;
  if (mode != "cubic" || !cubic)
    ctx.Fail("attribute 'mode'",
             fmt::format("is \"{}\", must be nearest{}", mode, cubic ? ", linear or cubic" : " or linear"));
  return ResizeMode::kCubic;
}

int64_t ScaledLength(const RunContext& ctx, int64_t n, float scale, const std::string& subject) {
  if (!(scale > 0)) ctx.Fail(subject, fmt::format("has the scale {}, must be positive", scale));
  const OptimDim length = onnx_optim::FloorScale(OptimDim(n), scale);
  if (!length.IsInt()) ctx.Fail(subject, fmt::format("makes an axis of {} elements too long", n));
  return length.AsInt();
}

void RunResize(RunContext& ctx, const ResizeSpec& spec) {
  const Tensor x = ctx.tensor(0);
  for (const ResizeAxis& axis : spec.axes) {
    if (axis.in == 0 && axis.out > 0) ctx.FailInput(0, fmt::format("has nothing to fill {} elements with", axis.out));
  }
  if (spec.mode == ResizeMode::kNearest) return ResizeNearest(ctx, spec, x);
  if (!kNumericTypes.Has(x.dtype()))
    ctx.FailInput(0, fmt::format("must be of numbers to be interpolated, is {}", x.TypeString()));
  const Shape shape = OutputShape(spec);
  if (shape.NumElements() == 0) return ctx.SetOutput(0, Tensor(x.dtype(), shape));
  const bool wide = x.dtype() == TensorType::kDouble || x.dtype() == TensorType::kInt64 ||
                    x.dtype() == TensorType::kUint64 || x.dtype() == TensorType::kInt32 ||
                    x.dtype() == TensorType::kUint32;
  const TensorType computed = wide ? TensorType::kDouble : TensorType::kFloat;
  Tensor y = As(x, computed);
  y = wide ? Interpolated<double>(ctx, spec, std::move(y)) : Interpolated<float>(ctx, spec, std::move(y));
  ctx.SetOutput(0, As(y, x.dtype()));
}

OptimShape ScaledShape(InferScope& scope, const OptimShape& x, const onnx_optim::shapes::KnownFloats& scales,
                       const std::vector<int>& axes) {
  OptimShape shape = x;
  for (size_t i = 0; i < axes.size() && i < scales.size(); ++i) {
    OptimDim& dim = shape[static_cast<size_t>(axes[i])];
    const bool constant = scales[i] && scales[i]->IsConstant() && scales[i]->factor > 0;
    dim = constant ? onnx_optim::FloorScale(dim, static_cast<float>(scales[i]->factor)) : scope.Fresh();
  }
  return shape;
}

}  // namespace ONNX_LIGHT_NAMESPACE
