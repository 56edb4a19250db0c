// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/activation.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activation/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE void ApplyAll(const Activation& activation, int64_t n, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(ActivateVec(d, activation, hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  // The tail goes through a whole vector, so that an element's result is the same wherever it stands.
  HWY_ALIGN T tail[HWY_MAX_BYTES / sizeof(T)] = {};
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  std::memcpy(tail, x + i, bytes);
  hn::Store(ActivateVec(d, activation, hn::Load(d, tail)), d, tail);
  std::memcpy(y + i, tail, bytes);
}

void ApplyFloat(const Activation& activation, int64_t n, const float* x, float* y) { ApplyAll(activation, n, x, y); }
void ApplyDouble(const Activation& activation, int64_t n, const double* x, double* y) { ApplyAll(activation, n, x, y); }

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Row {
  std::string_view name;
  bool takes_alpha;
  bool takes_beta;
  double alpha;
  double beta;
};

// In the order of ActivationKind.
constexpr Row kRows[kActivationKinds] = {
    {"Sigmoid", false, false, 0, 0},        {"Tanh", false, false, 0, 0},     {"Relu", false, false, 0, 0},
    {"HardSigmoid", true, true, 0.2, 0.5},  {"Affine", true, true, 1, 0},     {"LeakyRelu", true, false, 0.01, 0},
    {"ThresholdedRelu", true, false, 1, 0}, {"ScaledTanh", true, true, 1, 1}, {"Elu", true, false, 1, 0},
    {"Softsign", false, false, 0, 0},       {"Softplus", false, false, 0, 0},
};

const Row& RowOf(ActivationKind kind) noexcept { return kRows[static_cast<uint8_t>(kind)]; }

char Lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

HWY_EXPORT(ApplyFloat);
HWY_EXPORT(ApplyDouble);

}  // namespace

Activation Activation::Default(ActivationKind kind) noexcept { return {kind, RowOf(kind).alpha, RowOf(kind).beta}; }
std::string_view ActivationName(ActivationKind kind) noexcept { return RowOf(kind).name; }
bool TakesAlpha(ActivationKind kind) noexcept { return RowOf(kind).takes_alpha; }
bool TakesBeta(ActivationKind kind) noexcept { return RowOf(kind).takes_beta; }

std::optional<ActivationKind> ActivationFromName(std::string_view name) noexcept {
  for (int i = 0; i < kActivationKinds; ++i)
    if (std::equal(name.begin(), name.end(), kRows[i].name.begin(), kRows[i].name.end(),
                   [](char a, char b) { return Lower(a) == Lower(b); }))
      return static_cast<ActivationKind>(i);
  return std::nullopt;
}

void ApplyActivation(const Activation& activation, int64_t n, const float* x, float* y) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(ApplyFloat)(activation, n, x, y);
}
void ApplyActivation(const Activation& activation, int64_t n, const double* x, double* y) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(ApplyDouble)(activation, n, x, y);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
