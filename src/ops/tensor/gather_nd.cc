// SPDX-License-Identifier: Apache-2.0
// GatherND: the last axis of the indices holds tuples; each names one slice of the data, by as many leading axes as the
// tuple is long, after the first batch_dims axes (version 12 on), which data and indices share.
// https://onnx.ai/onnx/operators/onnx__GatherND.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  const int64_t batch = ctx.attrs().Int("batch_dims", 0);
  if (batch < 0 || batch >= std::max(1, data.rank()))
    ctx.Fail("attribute 'batch_dims'", fmt::format("{} is not in [0, {}]", batch, std::max(0, data.rank() - 1)));
  const TupleOffsets tuples = ReadTuples(ctx, 1, data.shape(), static_cast<int>(batch));
  Shape shape = ctx.tensor(1).shape();
  shape.erase(shape.rank() - 1);
  for (int d = static_cast<int>(batch) + tuples.depth; d < data.rank(); ++d) shape.push_back(data.dim(d));
  Tensor& out = ctx.AllocateOutput(0, data.dtype(), std::move(shape));
  if (out.NumElements() > 0)
    kernels::GatherRows(data.dtype(), data.data(), tuples.offsets, tuples.row, out.mutable_data());
}

void ShapeRule(InferScope& scope) {
  const OptimShape& data = scope.InputShape(0);
  const OptimShape& indices = scope.InputShape(1);
  const auto batch = static_cast<size_t>(std::max<int64_t>(0, scope.attrs().Int("batch_dims", 0)));
  if (data.IsUnknown() || indices.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  if (indices.Rank() <= batch || data.Rank() <= batch)
    scope.Fail(scope.InputSubject(1), fmt::format("shape {} and data {} leave nothing for indices below {} batch axes",
                                                  indices.ToString(), data.ToString(), batch));
  const OptimDim& depth = indices[indices.Rank() - 1];
  if (!depth.IsInt()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  if (depth.AsInt() > static_cast<int64_t>(data.Rank() - batch))
    scope.Fail(scope.InputSubject(1),
               fmt::format("holds tuples of {} indices for {} axes", depth.AsInt(), data.Rank() - batch));
  OptimShape shape;
  for (size_t d = 0; d + 1 < indices.Rank(); ++d) {
    shape.PushBack(d < batch ? scope.Unify(indices[d], data[d], fmt::format("batch axis {} of the indices", d),
                                           fmt::format("batch axis {} of the data", d))
                             : indices[d]);
  }
  for (size_t d = batch + static_cast<size_t>(depth.AsInt()); d < data.Rank(); ++d) shape.PushBack(data[d]);
  SetLikeInput(scope, 0, std::move(shape));
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "GatherND",
          .since_version = since,
          .inputs = {{"data", kAllTypes, "T"}, {"indices", {TensorType::kInt64}}},
          .outputs = {{"output", kAllTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> gather_nd_ops() {
  static const OpDef ops[] = {
      VersionOf(11, {}),
      VersionOf(12, {{"batch_dims", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
