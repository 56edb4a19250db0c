// SPDX-License-Identifier: Apache-2.0
#include "kernels/functions/functions.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/functions/functions.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

template <FunctionKind kKind>
void ApplyKind(const Function& function, int64_t n, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(EvaluateVec<kKind>(d, function, hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  // The tail goes through a whole vector, so that an element's result is the same wherever it stands.
  HWY_ALIGN float tail[HWY_MAX_BYTES / sizeof(float)] = {};
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(float);
  std::memcpy(tail, x + i, bytes);
  hn::Store(EvaluateVec<kKind>(d, function, hn::Load(d, tail)), d, tail);
  std::memcpy(y + i, tail, bytes);
}

using ApplyFn = void (*)(const Function&, int64_t, const float*, float*);

template <size_t... kKinds>
constexpr std::array<ApplyFn, sizeof...(kKinds)> AllKinds(std::index_sequence<kKinds...>) {
  return {&ApplyKind<static_cast<FunctionKind>(kKinds)>...};
}

void Apply(const Function& function, int64_t n, const float* x, float* y) {
  static constexpr auto kOfKind = AllKinds(std::make_index_sequence<kFunctionKinds>());
  kOfKind[static_cast<size_t>(function.kind)](function, n, x, y);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(Apply);

void ApplyFunction(const Function& function, int64_t n, const float* x, float* y) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(Apply)(function, n, x, y);
}
void ApplyFunction(const Function& function, int64_t n, const double* x, double* y) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = Evaluate(function, x[i]);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
