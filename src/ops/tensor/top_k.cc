// SPDX-License-Identifier: Apache-2.0
// TopK: the k greatest (or, from version 11 on, least) elements along an axis and their indices, best first; of equal
// ones the first. Always sorted, also where it need not be. k is an attribute before version 10. NaN is greatest.
// https://onnx.ai/onnx/operators/onnx__TopK.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/order/order.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool CountIsInput(const OpDef& op) { return op.inputs.size() > 1; }

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const bool input = CountIsInput(ctx.op());
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", -1), x.rank());
  const int64_t k = input ? ReadInt(ctx, 1) : ctx.attrs().Int("k"), n = x.dim(axis);
  if (k < 0 || k > n)
    ctx.Fail(input ? ctx.InputSubject(1) : "attribute 'k'", fmt::format("is {}, the axis has {} elements", k, n));
  const bool greatest = ctx.attrs().Int("largest", 1) != 0;
  const std::span<const int64_t> dims = x.shape().dims();
  const int64_t outer = DimsProduct(dims, 0, axis), inner = DimsProduct(dims, axis + 1, x.rank());
  Shape shape = x.shape();
  shape[axis] = k;
  Tensor values(x.dtype(), shape), indices(TensorType::kInt64, shape);
  if (values.NumElements() > 0) {
    const size_t size = onnx_optim::BytesOf(x.dtype());
    const auto* from = static_cast<const std::byte*>(x.data());
    auto* const best = static_cast<std::byte*>(values.mutable_data());
    int64_t* const places = indices.MutableView<int64_t>().data();
    ctx.ParallelFor(outer, std::max<int64_t>(1, kElementGrain / 8 / (n * inner)), [&](int64_t begin, int64_t end) {
      kernels::TopK(x.dtype(), from + static_cast<size_t>(begin * n * inner) * size,
                    best + static_cast<size_t>(begin * k * inner) * size, places + begin * k * inner, end - begin, n,
                    inner, k, greatest);
    });
  }
  ctx.SetOutput(0, std::move(values));
  ctx.SetOutput(1, std::move(indices));
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  const bool input = scope.input_size() > 1;
  if (!shape.IsUnknown()) {
    const auto axis =
        static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis", -1), static_cast<int>(shape.Rank())));
    std::optional<OptimDim> k;
    if (!input) {
      k = scope.attrs().Int("k");
    } else if (const std::optional<std::vector<OptimDim>> value = scope.InputValue(1); value && value->size() == 1) {
      k = value->front();
    }
    const OptimDim n = shape[axis];
    if (k && ((k->IsInt() && k->AsInt() < 0) || scope.context().ProvablyGreaterEqual(*k - n, 1)))
      scope.Fail(input ? scope.InputSubject(1) : "attribute 'k'",
                 fmt::format("is {}, the axis has {} elements", k->ToString(), n.ToString()));
    if (k && !scope.context().ProvablyGreaterEqual(*k, 0)) k.reset();
    shape[axis] = k ? *k : scope.context().FreshDim("k", 0, n);
  }
  SetLikeInput(scope, 0, shape);
  scope.SetTensor(1, TensorType::kInt64, shape);
}

OpDef VersionOf(int since, TypeSet types, bool input, std::vector<AttrDef> attributes) {
  OpDef op{.domain = "",
           .type = "TopK",
           .since_version = since,
           .inputs = {{"X", types, "T"}},
           .outputs = {{"Values", types, "T"}, {"Indices", {TensorType::kInt64}}},
           .attributes = std::move(attributes),
           .shape = ShapeRule,
           .run = Run};
  if (input) op.inputs.push_back({"K", {TensorType::kInt64}});
  return op;
}

}  // namespace

std::span<const OpDef> top_k_ops() {
  static const OpDef ops[] = {
      VersionOf(1, kFloatTypes, false, {{"axis", AttrKind::kInt}, {"k", AttrKind::kInt, true}}),
      VersionOf(10, kFloatTypes, true, {{"axis", AttrKind::kInt}}),
      VersionOf(11, kNumericTypes, true,
                {{"axis", AttrKind::kInt}, {"largest", AttrKind::kInt}, {"sorted", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
