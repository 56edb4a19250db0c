// SPDX-License-Identifier: Apache-2.0
// What Resize and Upsample share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
// The ways from a place in the output to one in the input; the names are the specification's.
enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize
};
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;
  bool resized = false;  // others are copied as they are
};

struct ResizeSpec {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinates = CoordinateMode::kAsymmetric;
  NearestMode nearest = NearestMode::kFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false, antialias = false;
  double extrapolation = 0;
  std::vector<ResizeAxis> axes;  // of the input
};

// "nearest", "linear" and, from version 11 on, "cubic"; InvalidArgument for another one.
ResizeMode ReadResizeMode(const RunContext& ctx, bool cubic);
// The length of an axis of n elements times scale: floor(n * scale) as floats; InvalidArgument about `subject` for a
// scale that is not positive or a length that does not fit.
int64_t ScaledLength(const RunContext& ctx, int64_t n, float scale, const std::string& subject);

// Output 0 = input 0 resized: nearest for any element type, the others for numbers, integers computed as floats and
// truncated.
void RunResize(RunContext& ctx, const ResizeSpec& spec);

// The axes' lengths times their scales, one each; a fresh dim where nothing follows.
OptimShape ScaledShape(InferScope& scope, const OptimShape& x, const onnx_optim::shapes::KnownFloats& scales,
                       const std::vector<int>& axes);

}  // namespace ONNX_LIGHT_NAMESPACE
