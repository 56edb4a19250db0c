// SPDX-License-Identifier: Apache-2.0
// Unique: the different slices along an axis (without one: the different elements), in ascending order or in that of
// their first places; where each is first, which one each slice of the input is, and how often it occurs. NaN is
// greater than numbers and equal to NaN. https://onnx.ai/onnx/operators/onnx__Unique.html
#include <algorithm>
#include <numeric>

#include "kernels/indexed/indexed.h"
#include "kernels/order/order.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Groups {
  std::vector<int64_t> first, inverse, counts;
};

// Of n slices of `row` elements each, dense one after the other.
Groups Group(const RunContext& ctx, const Tensor& slices, int64_t n, int64_t row, bool sorted) {
  const kernels::CompareFn compare = kernels::CompareFnFor(slices.dtype());
  const auto* data = static_cast<const std::byte*>(slices.data());
  const size_t size = onnx_optim::BytesOf(slices.dtype());
  const auto order_of = [&](int64_t a, int64_t b) {
    return compare(data + static_cast<size_t>(a * row) * size, data + static_cast<size_t>(b * row) * size, row);
  };
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  kernels::SortUnlessStopped(std::span(order), [&](int64_t a, int64_t b) {
    const int compared = order_of(a, b);
    return compared != 0 ? compared < 0 : a < b;
  });
  ctx.CheckCancelled();
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order_of(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<int64_t> by_place(groups.first.size()), place_of(groups.first.size());
  std::iota(by_place.begin(), by_place.end(), int64_t{0});
  kernels::SortUnlessStopped(std::span(by_place), [&](int64_t a, int64_t b) {
    return groups.first[static_cast<size_t>(a)] < groups.first[static_cast<size_t>(b)];
  });
  ctx.CheckCancelled();
  Groups moved;
  for (size_t i = 0; i < by_place.size(); ++i) {
    const auto g = static_cast<size_t>(by_place[i]);
    moved.first.push_back(groups.first[g]);
    moved.counts.push_back(groups.counts[g]);
    place_of[g] = static_cast<int64_t>(i);
  }
  for (const int64_t g : groups.inverse) moved.inverse.push_back(place_of[static_cast<size_t>(g)]);
  return moved;
}

Tensor Vector(const std::vector<int64_t>& values) {
  return Tensor::Of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const bool flat = !ctx.attrs().Has("axis");
  const int axis = flat ? 0 : NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), x.rank());
  const std::span<const int64_t> dims = x.shape().dims();
  const int64_t n = flat ? x.NumElements() : x.dim(axis);
  const int64_t outer = flat ? 1 : DimsProduct(dims, 0, axis), inner = flat ? 1 : DimsProduct(dims, axis + 1, x.rank());
  Tensor slices = x;
  if (outer > 1 && x.NumElements() > 0) {
    slices = Tensor(x.dtype(), x.shape());
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t o = 0; o < outer; ++o) offsets.push_back((o * n + i) * inner);
    kernels::GatherRows(x.dtype(), x.data(), offsets, inner, slices.mutable_data());
  }
  const Groups groups = Group(ctx, slices, n, outer * inner, ctx.attrs().Int("sorted", 1) != 0);
  Shape shape = flat ? Shape{0} : x.shape();
  shape[axis] = static_cast<int64_t>(groups.first.size());
  Tensor y(x.dtype(), std::move(shape));
  if (y.NumElements() > 0) {
    std::vector<int64_t> offsets;
    for (int64_t o = 0; o < outer; ++o)
      for (const int64_t i : groups.first) offsets.push_back((o * n + i) * inner);
    kernels::GatherRows(x.dtype(), x.data(), offsets, inner, y.mutable_data());
  }
  ctx.SetOutput(0, std::move(y));
  if (ctx.HasOutput(1)) ctx.SetOutput(1, Vector(groups.first));
  if (ctx.HasOutput(2)) ctx.SetOutput(2, Vector(groups.inverse));
  if (ctx.HasOutput(3)) ctx.SetOutput(3, Vector(groups.counts));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const bool flat = !scope.attrs().Has("axis");
  OptimDim all, unique;
  OptimShape shape = OptimShape::Unknown();
  if (x.IsUnknown()) {
    all = scope.Fresh();
    unique = scope.Fresh("unique");
    if (flat) shape = OptimShape{unique};
  } else {
    const auto axis =
        static_cast<size_t>(flat ? 0 : scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(x.Rank())));
    all = flat ? onnx_optim::Product({x.begin(), x.end()}) : x[axis];
    // There is one as soon as there is anything.
    unique = all.IsInt() && all.AsInt() <= 1
                 ? all
                 : scope.context().FreshDim("unique", scope.context().ProvablyGreaterEqual(all, 1) ? 1 : 0, all);
    shape = flat ? OptimShape{unique} : x;
    if (!flat) shape[axis] = unique;
  }
  SetLikeInput(scope, 0, std::move(shape));
  scope.SetTensor(1, TensorType::kInt64, OptimShape{unique});
  scope.SetTensor(2, TensorType::kInt64, OptimShape{all});
  scope.SetTensor(3, TensorType::kInt64, OptimShape{unique});
}

Formal Places(std::string_view name) {
  return {.name = name, .types = {TensorType::kInt64}, .count = FormalCount::kOptional};
}

}  // namespace

std::span<const OpDef> unique_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Unique",
       .since_version = 11,
       .inputs = {{"X", kNativeTypes, "T"}},
       .outputs = {{"Y", kNativeTypes, "T"}, Places("indices"), Places("inverse_indices"), Places("counts")},
       .attributes = {{"axis", AttrKind::kInt}, {"sorted", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
