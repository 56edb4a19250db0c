// SPDX-License-Identifier: Apache-2.0
// What convolutions and pools share: the attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, and
// how long an axis comes out. One set of formulas serves runs and shape rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/window/window.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

// The attributes, one entry per spatial axis.
struct WindowAttributes {
  std::vector<int64_t> kernel, strides, dilations, begin, end;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil = false;

  int axes() const { return static_cast<int>(kernel.size()); }
  // From the first input the window sees to the last one.
  int64_t Extent(int axis) const;
};
// `kernel` is used where attribute kernel_shape is missing; it must agree with it where both are there. InvalidArgument
// for a wrong number of entries and for entries out of range.
WindowAttributes ReadWindow(const NodeAttributes& attrs, int axes, const std::vector<int64_t>& kernel = {});

// The length axis `axis` of `in` elements comes out with. A window cut off at the end counts in ceil_mode when it
// begins before the end padding.
OptimDim WindowLength(const WindowAttributes& window, int axis, const OptimDim& in);
// For a run: the whole geometry over dims [2, rank) of x, with the padding that auto_pad asks for. InvalidArgument
// about input 0 where the window does not fit.
kernels::Window WindowOver(const RunContext& ctx, const WindowAttributes& attributes, const Shape& x);
// For a rule: the dims of x with those from 2 on replaced; Fails where the window does not fit.
OptimShape WindowedShape(InferScope& scope, const WindowAttributes& attributes, const OptimShape& x);

// Pools. InvalidArgument for a rank below 3.
void CheckPooled(const RunContext& ctx);
// Output 0 is as WindowedShape of input 0; other outputs the same, of int64.
void PoolShape(InferScope& scope);
// A pool with one input X and output Y.
OpDef PoolOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), std::vector<AttrDef> more);

}  // namespace ONNX_LIGHT_NAMESPACE
