// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth: of an image [N,C,H,W] each block of side blocksize becomes blocksize^2 channels. Their number holds the
// place in the block before the old channel (DCR, the only way before version 28) or after it (CRD).
// https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html
#include <fmt/format.h>

#include "ops/tensor/block_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  CheckImage(ctx);
  const Tensor x = ctx.tensor(0);
  const int64_t b = ReadBlockSize(ctx.attrs());
  if (x.dim(2) % b != 0 || x.dim(3) % b != 0)
    ctx.FailInput(0, fmt::format("is {} x {}, not in blocks of {}", x.dim(2), x.dim(3), b));
  const int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / b, w = x.dim(3) / b, row = x.dim(3), plane = x.dim(2) * row;
  const Shape shape{n, c * b * b, h, w};
  if (IsChannelFirst(ctx.attrs())) {
    CopyStrided(ctx, x, 0, std::vector<int64_t>{c * plane, plane, row, 1, b * row, b}, Shape{n, c, b, b, h, w}, &shape);
  } else {
    CopyStrided(ctx, x, 0, std::vector<int64_t>{c * plane, row, 1, plane, b * row, b}, Shape{n, b, b, c, h, w}, &shape);
  }
}

void ShapeRule(InferScope& scope) {
  const int64_t b = ReadBlockSize(scope.attrs());
  const std::optional<OptimShape> x = ImageShape(scope);
  if (!x) return;
  const OptimDim &h = (*x)[2], &w = (*x)[3];
  if ((h.IsInt() && h.AsInt() % b != 0) || (w.IsInt() && w.AsInt() % b != 0))
    scope.Fail(scope.InputSubject(0), fmt::format("is {} x {}, not in blocks of {}", h.ToString(), w.ToString(), b));
  SetLikeInput(scope, 0, OptimShape{(*x)[0], (*x)[1] * (b * b), FloorDiv(h, b), FloorDiv(w, b)});
}

}  // namespace

std::span<const OpDef> space_to_depth_ops() {
  static const std::vector<OpDef> ops = BlockOps("SpaceToDepth", 28, ShapeRule, Run);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
