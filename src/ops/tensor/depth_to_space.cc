// SPDX-License-Identifier: Apache-2.0
// DepthToSpace: of an image [N,C,H,W] each run of blocksize^2 channels becomes a block of that side of one channel. The
// number of a channel holds the place in the block before the new channel (DCR, the only way before version 11) or
// after it (CRD). https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#include <fmt/format.h>

#include "ops/tensor/block_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  CheckImage(ctx);
  const Tensor x = ctx.tensor(0);
  const int64_t b = ReadBlockSize(ctx.attrs());
  if (x.dim(1) % (b * b) != 0) ctx.FailInput(0, fmt::format("has {} channels, not a multiple of {}", x.dim(1), b * b));
  const int64_t n = x.dim(0), c = x.dim(1) / (b * b), h = x.dim(2), w = x.dim(3), plane = h * w;
  const bool channel_first = IsChannelFirst(ctx.attrs());
  const int64_t channel = channel_first ? b * b * plane : plane;
  const int64_t place = channel_first ? plane : c * plane;
  const Shape shape{n, c, h * b, w * b};
  CopyStrided(ctx, x, 0, std::vector<int64_t>{x.dim(1) * plane, channel, w, b * place, 1, place},
              Shape{n, c, h, b, w, b}, &shape);
}

void ShapeRule(InferScope& scope) {
  const int64_t b = ReadBlockSize(scope.attrs());
  const std::optional<OptimShape> x = ImageShape(scope);
  if (!x) return;
  if ((*x)[1].IsInt() && (*x)[1].AsInt() % (b * b) != 0)
    scope.Fail(scope.InputSubject(0), fmt::format("has {} channels, not a multiple of {}", (*x)[1].AsInt(), b * b));
  SetLikeInput(scope, 0, OptimShape{(*x)[0], FloorDiv((*x)[1], b * b), (*x)[2] * b, (*x)[3] * b});
}

}  // namespace

std::span<const OpDef> depth_to_space_ops() {
  static const std::vector<OpDef> ops = BlockOps("DepthToSpace", 11, ShapeRule, Run);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
