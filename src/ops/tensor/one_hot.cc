// SPDX-License-Identifier: Apache-2.0
// OneHot: a new axis of `depth` elements for each index, all of them off-value but the one at the index, which counts
// from the back when negative and leaves all off when outside [-depth, depth-1]. Indices and depth of any numeric type
// are truncated to integers.
// https://onnx.ai/onnx/operators/onnx__OneHot.html
#include <fmt/format.h>

#include "kernels/indexed/indexed.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Integers(const Tensor& t) { return AsType(t, TensorType::kInt64); }

void Run(RunContext& ctx) {
  const Tensor indices = Integers(ctx.tensor(0)), values = ctx.tensor(2);
  if (ctx.tensor(1).NumElements() != 1)
    ctx.FailInput(1, fmt::format("must have one element, got {}", ctx.tensor(1).TypeString()));
  const int64_t depth = Integers(ctx.tensor(1)).View<int64_t>()[0];
  if (depth < 0) ctx.FailInput(1, fmt::format("is {}, must not be negative", depth));
  if (values.NumElements() != 2)
    ctx.FailInput(2, fmt::format("must have two elements, off and on, got {}", values.TypeString()));
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", -1), indices.rank() + 1);
  Shape shape = indices.shape();
  shape.insert(axis, depth);
  const int64_t inner = DimsProduct(indices.shape().dims(), axis, indices.rank());
  Tensor out(values.dtype(), shape);
  if (out.NumElements() > 0) {
    const std::span<const int64_t> index = indices.View<int64_t>();
    const Tensor off = values.Part(0, Shape{1}), on = values.Part(1, Shape{1});
    void* const to = out.mutable_data();
    const size_t size = out.dtype() == TensorType::kString ? sizeof(std::string) : onnx_optim::BytesOf(out.dtype());
    ctx.ParallelFor(out.NumElements(), kElementGrain, [&](int64_t begin, int64_t end) {
      kernels::Fill(out.dtype(), static_cast<std::byte*>(to) + static_cast<size_t>(begin) * size, end - begin,
                    off.data());
    });
    ctx.ParallelFor(indices.NumElements(), kElementGrain, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> at;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t given = index[static_cast<size_t>(i)], hot = given < 0 ? given + depth : given;
        if (hot >= 0 && hot < depth) at.push_back((i / inner * depth + hot) * inner + i % inner);
      }
      kernels::FillAt(out.dtype(), to, at, on.data());
    });
  }
  ctx.SetOutput(0, std::move(out));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& indices = scope.InputShape(0);
  const TensorType dtype = scope.InputType(2);
  if (indices.IsUnknown()) return scope.SetTensor(0, dtype, OptimShape::Unknown());
  const auto rank = static_cast<int>(indices.Rank());
  const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", -1), rank + 1);
  const std::optional<std::vector<OptimDim>> depth = scope.InputValue(1);
  OptimShape shape;
  for (int d = 0; d <= rank; ++d) {
    if (d == axis) {
      const bool known = depth && depth->size() == 1 && scope.context().ProvablyGreaterEqual(depth->front(), 0);
      shape.PushBack(known ? depth->front() : scope.Fresh("depth"));
    }
    if (d < rank) shape.PushBack(indices[static_cast<size_t>(d)]);
  }
  scope.SetTensor(0, dtype, std::move(shape));
}

OpDef VersionOf(int since) {
  return {.domain = "",
          .type = "OneHot",
          .since_version = since,
          .inputs = {{"indices", kNumericTypes}, {"depth", kNumericTypes}, {"values", kAllTypes, "T3"}},
          .outputs = {{"output", kAllTypes, "T3"}},
          .attributes = {{"axis", AttrKind::kInt}},
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> one_hot_ops() {
  static const OpDef ops[] = {VersionOf(9)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
