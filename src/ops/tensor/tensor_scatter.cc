// SPDX-License-Identifier: Apache-2.0
// TensorScatter: a cache with an update stored along an axis (default -2) from write_indices of each batch entry on
// (default 0); with mode circular what reaches beyond the end goes on at the front.
// https://onnx.ai/onnx/operators/onnx__TensorScatter.html
#include <fmt/format.h>

#include <utility>

#include "kernels/indexed/indexed.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Shape shape = ctx.tensor(0).shape();
  const Tensor update = ctx.tensor(1);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", -2), shape.rank());
  if (axis == 0) ctx.Fail("attribute 'axis'", "is the batch axis");
  const std::string mode = ctx.attrs().String("mode", "linear");
  if (mode != "linear" && mode != "circular")
    ctx.Fail("attribute 'mode'", fmt::format("is \"{}\", must be linear or circular", mode));
  Shape expected = shape;
  if (update.rank() == shape.rank()) expected[axis] = update.dim(axis);
  if (update.shape() != expected || update.dim(axis) > shape[axis])
    ctx.FailInput(1, fmt::format("shape {} is not that of a part of {} along axis {}", update.shape().ToString(),
                                 shape.ToString(), axis));
  std::vector<int64_t> starts(static_cast<size_t>(shape[0]));
  if (ctx.HasInput(2)) {
    starts = ReadInts(ctx, 2);
    if (static_cast<int64_t>(starts.size()) != shape[0])
      ctx.FailInput(2, fmt::format("has {} entries for {} batch entries", starts.size(), shape[0]));
  }
  const int64_t length = update.dim(axis), n = shape[axis], inner = DimsProduct(shape.dims(), axis + 1, shape.rank());
  const int64_t prefixes = DimsProduct(shape.dims(), 0, axis);
  std::vector<int64_t> offsets;
  for (int64_t p = 0; p < prefixes; ++p) {
    const size_t entry = static_cast<size_t>(p / (prefixes / shape[0]));
    const int64_t start = starts[entry];
    if (start < 0 || (mode == "linear" && start > n - length))
      ctx.FailInput(2, fmt::format("element {} is {}, not in [0, {}]", entry, start, n - length));
    for (int64_t i = 0; i < length; ++i) offsets.push_back((p * n + (start % n + i) % n) * inner);
  }
  Value taken = ctx.TakeInput(0);
  Tensor out = std::move(taken.mutable_tensor());
  taken = Value();
  out.Unshare();
  if (update.NumElements() > 0)
    kernels::ScatterRows(out.dtype(), kernels::ScatterReduction::kNone, out.mutable_data(), offsets, inner,
                         update.data());
  ctx.SetOutput(0, std::move(out));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown()) scope.NormalizeAxis(scope.attrs().Int("axis", -2), static_cast<int>(shape.Rank()));
  SetLikeInput(scope, 0, shape);
}

}  // namespace

std::span<const OpDef> tensor_scatter_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "TensorScatter",
       .since_version = 24,
       .inputs = {{"past_cache", kAllTypes, "T"},
                  {"update", kAllTypes, "T"},
                  {.name = "write_indices", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"present_cache", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"mode", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
