// SPDX-License-Identifier: Apache-2.0
// Range: start, start + delta, ... before limit: max(ceil((limit - start) / delta), 0) numbers. The inputs are scalars
// (a vector of one is taken too); delta 0 is an error. float16 and bfloat16 (version 27 on) are computed as float.
// https://onnx.ai/onnx/operators/onnx__Range.html
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/elementwise/rows.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "shapes/known_float.h"

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
    ctx.ParallelFor(*count, kElementGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>) {
          to[i] = static_cast<T>(WholeElement(start, i, delta));
        } else {
          to[i] = static_cast<T>(start + static_cast<decltype(start)>(i) * delta);
        }
      }
    });
  });
}

// How many: of whole numbers.
OptimDim Length(InferScope& scope, const OptimDim& start, const OptimDim& limit, const OptimDim& delta) {
  if (delta == OptimDim(0)) scope.Fail(scope.InputSubject(2), "is 0; the range has no end");
  if (start.IsInt() && limit.IsInt() && delta.IsInt()) {
    const std::optional<int64_t> count = WholeCount(start.AsInt(), limit.AsInt(), delta.AsInt());
    if (!count) scope.Fail(scope.InputSubject(1), "the range is endless or too long");
    return *count;
  }
  if (delta == OptimDim(std::numeric_limits<int64_t>::min())) return scope.Fresh();
  const ShapesContext& context = scope.context();
  if (context.ProvablyGreaterEqual(delta, 0)) return Max(CeilDiv(limit - start, delta), 0);
  return context.ProvablyGreaterEqual(0, delta) ? Max(CeilDiv(start - limit, -delta), 0) : scope.Fresh();
}

// The same of floats; they are divided as doubles.
OptimDim FloatLength(InferScope& scope) {
  using namespace onnx_optim::shapes;  // NOLINT(google-build-using-namespace): of known floats
  std::vector<KnownFloat> v;
  for (int i = 0; i < 3; ++i) {
    const KnownFloats* floats = scope.Input(i).Floats();
    if (floats == nullptr || floats->size() != 1 || !floats->front()) return scope.Fresh();
    v.push_back(*floats->front());
  }
  const auto of = [&](FloatOperation operation, KnownFloat a, KnownFloat b) {
    const std::array<KnownFloat, 2> x = {std::move(a), std::move(b)};
    return operation(scope.context(), TensorType::kDouble, x);
  };
  const std::optional<KnownFloat> distance = of(SubtractFloats, v[1], v[0]);
  const std::optional<KnownFloat> steps = distance ? of(DivideFloats, *distance, v[2]) : std::nullopt;
  const std::optional<KnownFloat> count = steps ? of(CeilFloat, *steps, {}) : std::nullopt;
  const std::optional<OptimDim> whole = count ? Truncated(*count, TensorType::kDouble) : std::nullopt;
  return whole ? Max(*whole, 0) : scope.Fresh();
}

void ShapeRule(InferScope& scope) {
  const TensorType dtype = scope.InputType(0);
  if (dtype == TensorType::kFloat || dtype == TensorType::kDouble)
    return scope.SetTensor(0, dtype, OptimShape{FloatLength(scope)});
  std::vector<OptimDim> v;
  for (int i = 0; i < 3; ++i) {
    const std::optional<std::vector<OptimDim>> value = scope.InputValue(i);
    if (value && value->size() == 1) v.push_back(value->front());
  }
  if (v.size() < 3 || !CarriesValues(dtype)) return scope.SetTensor(0, dtype, OptimShape{scope.Fresh()});
  const OptimDim count = Length(scope, v[0], v[1], v[2]);
  scope.SetTensor(0, dtype, OptimShape{count});
  if (!count.IsInt() || !v[2].IsInt() || count.AsInt() > static_cast<int64_t>(ShapeValue::kMaxKnownElements)) return;
  std::vector<OptimDim> elements;
  for (int64_t i = 0; i < count.AsInt(); ++i) elements.push_back(v[0] + v[2] * OptimDim(i));
  scope.SetKnown(0, std::move(elements));
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
