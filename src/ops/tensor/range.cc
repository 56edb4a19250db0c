// SPDX-License-Identifier: Apache-2.0
// Range: start, start + delta, ... before limit: max(ceil((limit - start) / delta), 0) numbers. The inputs are scalars
// (a vector of one is taken too); delta 0 is an error. float16 and bfloat16 (version 27 on) are computed as float.
// https://onnx.ai/onnx/operators/onnx__Range.html
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/elementwise/rows.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using RangeList = TypeList<float, double, Float16, BFloat16, int16_t, int32_t, int64_t>;

// Of whole numbers, delta not 0; nothing when there are 2^63 or more.
std::optional<int64_t> WholeCount(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  const uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                      : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t count = (distance - 1) / step + 1;
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(count);
}

template <class T>
auto Scalar(const RunContext& ctx, int i) {
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must be a scalar, got {}", t.TypeString()));
  return kernels::Load(t.View<T>()[0]);
}

// start + i * delta, which lies between start and limit although the product alone may not fit.
int64_t WholeElement(int64_t start, int64_t i, int64_t delta) {
  return static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
}

void Run(RunContext& ctx) {
  Dispatch(RangeList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const auto start = Scalar<T>(ctx, 0), limit = Scalar<T>(ctx, 1), delta = Scalar<T>(ctx, 2);
    if (delta == 0) ctx.FailInput(2, "is 0; the range has no end");
    std::optional<int64_t> count;
    if constexpr (std::is_integral_v<T>) {
      count = WholeCount(start, limit, delta);
    } else {
      const double steps =
          std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
      // NaN fails this comparison, too.
      if (steps <= 0x1p62) count = steps > 0 ? static_cast<int64_t>(steps) : 0;
    }
    if (!count) ctx.FailInput(1, "the range is endless or too long");
    T* to = ctx.AllocateOutput(0, kTensorTypeOf<T>, Shape{*count}).template MutableView<T>().data();
    for (int64_t i = 0; i < *count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = static_cast<T>(WholeElement(start, i, delta));
      } else {
        to[i] = static_cast<T>(start + static_cast<decltype(start)>(i) * delta);
      }
    }
  });
}

void ShapeRule(InferScope& scope) {
  const TensorType dtype = scope.InputType(0);
  std::vector<OptimDim> v;
  for (int i = 0; i < 3; ++i) {
    const std::optional<std::vector<OptimDim>> value = scope.InputValue(i);
    if (value && value->size() == 1) v.push_back(value->front());
  }
  if (v.size() < 3 || !CarriesValues(dtype) || !v[2].IsInt())
    return scope.SetTensor(0, dtype, OptimShape{scope.Fresh()});
  const int64_t delta = v[2].AsInt();
  if (delta == 0) scope.Fail(scope.InputSubject(2), "is 0; the range has no end");
  if (v[0].IsInt() && v[1].IsInt()) {
    const std::optional<int64_t> count = WholeCount(v[0].AsInt(), v[1].AsInt(), delta);
    if (!count) scope.Fail(scope.InputSubject(1), "the range is endless or too long");
    scope.SetTensor(0, dtype, OptimShape{*count});
    if (*count > static_cast<int64_t>(ShapeValue::kMaxKnownElements)) return;
    std::vector<OptimDim> elements;
    for (int64_t i = 0; i < *count; ++i) elements.emplace_back(WholeElement(v[0].AsInt(), i, delta));
    return scope.SetKnown(0, std::move(elements));
  }
  if (delta == std::numeric_limits<int64_t>::min()) return scope.SetTensor(0, dtype, OptimShape{scope.Fresh()});
  const OptimDim distance = delta > 0 ? v[1] - v[0] : v[0] - v[1];
  scope.SetTensor(0, dtype, OptimShape{Max(CeilDiv(distance, delta > 0 ? delta : -delta), 0)});
}

OpDef VersionOf(int since, TypeSet types, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "Range",
          .since_version = since,
          .inputs = {{"start", types, "T"}, {"limit", types, "T"}, {"delta", types, "T"}},
          .outputs = {{"output", types, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> range_ops() {
  static const OpDef ops[] = {
      VersionOf(11,
                {TensorType::kFloat, TensorType::kDouble, TensorType::kInt16, TensorType::kInt32, TensorType::kInt64},
                {}),
      VersionOf(27, RangeList::kSet, {{"stash_type", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
