// SPDX-License-Identifier: Apache-2.0
// Upsample: each axis times its scale, to the nearest element below or linearly between; the former form of Resize,
// deprecated from version 10 on. Scales are an attribute before version 9, an input from then on.
// https://onnx.ai/onnx/operators/onnx__Upsample.html
#include <fmt/format.h>

#include <numeric>

#include "ops/nn/resize_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool ScalesAreInput(const OpDef& op) { return op.inputs.size() > 1; }

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const bool input = ScalesAreInput(ctx.op());
  const std::string subject = input ? ctx.InputSubject(1) : "attribute 'scales'";
  std::vector<float> scales;
  if (input) {
    const std::span<const float> given = ctx.tensor(1).View<float>();
    scales.assign(given.begin(), given.end());
  } else {
    scales = ctx.attrs().Floats("scales");
  }
  if (static_cast<int>(scales.size()) != x.rank())
    ctx.Fail(subject, fmt::format("has {} entries for {} axes", scales.size(), x.rank()));
  ResizeSpec spec;
  spec.mode = ReadResizeMode(ctx, false);
  for (int d = 0; d < x.rank(); ++d) {
    const float scale = scales[static_cast<size_t>(d)];
    spec.axes.push_back({.in = x.dim(d),
                         .out = ScaledLength(ctx, x.dim(d), scale, subject),
                         .scale = static_cast<double>(scale),
                         .resized = scale != 1});
  }
  RunResize(ctx, spec);
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown()) return SetLikeInput(scope, 0, x);
  std::vector<int> axes(x.Rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (scope.input_size() < 2) {
    onnx_optim::shapes::KnownFloats scales;
    for (const float scale : scope.attrs().Floats("scales"))
      scales.push_back(onnx_optim::shapes::KnownFloat{1, 1, static_cast<double>(scale)});
    return SetLikeInput(scope, 0, ScaledShape(scope, x, scales, axes));
  }
  const onnx_optim::shapes::KnownFloats* scales = scope.Input(1).Floats();
  SetLikeInput(scope, 0,
               scales == nullptr ? scope.FreshShape(static_cast<int>(x.Rank())) : ScaledShape(scope, x, *scales, axes));
}

}  // namespace

std::span<const OpDef> upsample_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Upsample",
       .since_version = 7,
       .inputs = {{"X", kAllTypes, "T"}},
       .outputs = {{"Y", kAllTypes, "T"}},
       .attributes = {{"mode", AttrKind::kString}, {"scales", AttrKind::kFloats, true}},
       .shape = ShapeRule,
       .run = Run},
      {.domain = "",
       .type = "Upsample",
       .since_version = 9,
       .inputs = {{"X", kAllTypes, "T"}, {"scales", {TensorType::kFloat}}},
       .outputs = {{"Y", kAllTypes, "T"}},
       .attributes = {{"mode", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
