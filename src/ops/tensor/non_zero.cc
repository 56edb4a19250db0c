// SPDX-License-Identifier: Apache-2.0
// NonZero: where the elements are that are not zero (text that is not empty): one column of indices for each, in order.
// https://onnx.ai/onnx/operators/onnx__NonZero.html
#include <complex>

#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using NonZeroList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                             uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>;

template <class T>
bool IsZero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.empty();
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value) == 0;
  } else {
    return value == T{};
  }
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  std::vector<int64_t> places;
  Dispatch(NonZeroList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> elements = x.View<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i % kElementGrain == 0) ctx.CheckCancelled();
      if (!IsZero(elements[i])) places.push_back(static_cast<int64_t>(i));
    }
  });
  const auto count = static_cast<int64_t>(places.size());
  int64_t* to = ctx.AllocateOutput(0, TensorType::kInt64, Shape{x.rank(), count}).MutableView<int64_t>().data();
  const std::vector<int64_t> strides = DenseStrides(x.shape().dims());
  for (int d = 0; d < x.rank(); ++d, to += count) {
    const int64_t stride = strides[static_cast<size_t>(d)], dim = x.dim(d);
    ctx.ParallelFor(count, kElementGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = places[static_cast<size_t>(i)] / stride % dim;
    });
  }
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown()) return scope.SetTensor(0, TensorType::kInt64, scope.FreshShape(2));
  const auto rank = static_cast<int64_t>(x.Rank());
  const KnownElements* elements = InputElements(scope, 0);
  int64_t count = 0;
  bool known = elements != nullptr;
  for (size_t i = 0; known && i < elements->size(); ++i) {
    const std::optional<OptimDim>& element = (*elements)[i];
    if (!element || (!element->IsInt() && !scope.context().ProvablyDifferent(*element, 0))) known = false;
    if (known && *element != OptimDim(0)) ++count;
  }
  const OptimDim all = onnx_optim::Product({x.begin(), x.end()});
  const OptimDim nonzero = known ? OptimDim(count) : scope.context().FreshDim("nonzero", 0, all);
  scope.SetTensor(0, TensorType::kInt64, OptimShape{OptimDim(rank), nonzero});
}

}  // namespace

std::span<const OpDef> non_zero_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "NonZero",
       .since_version = 9,
       .inputs = {{"X", kNativeTypes, "T"}},
       .outputs = {{"Y", {TensorType::kInt64}}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
