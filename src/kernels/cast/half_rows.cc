// SPDX-License-Identifier: Apache-2.0
#include "kernels/cast/half_rows.h"

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/half_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// From AVX2 on the CPU converts float16.
#if HWY_TARGET <= HWY_AVX2
int64_t WholeVectorsOf(const Float16* from, int64_t n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from + i))), d, to + i);
  return i;
}
int64_t WholeVectorsOf(const float* from, int64_t n, Float16* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, from + i)), dh, reinterpret_cast<hwy::float16_t*>(to + i));
  return i;
}
#else
int64_t WholeVectorsOf(const Float16*, int64_t, float*) { return 0; }
int64_t WholeVectorsOf(const float*, int64_t, Float16*) { return 0; }
#endif

// Plain loops, which the compiler turns into vectors of this instruction set.
void ToFloats(const Float16* from, int64_t n, float* to) {
  for (int64_t i = WholeVectorsOf(from, n, to); i < n; ++i) to[i] = from[i];
}
void ToHalves(const float* from, int64_t n, Float16* to) {
  for (int64_t i = WholeVectorsOf(from, n, to); i < n; ++i) to[i] = Float16(from[i]);
}
void BfloatsToFloats(const BFloat16* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}
void FloatsToBfloats(const float* from, int64_t n, BFloat16* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(ToFloats);
HWY_EXPORT(ToHalves);
HWY_EXPORT(BfloatsToFloats);
HWY_EXPORT(FloatsToBfloats);

void FloatsOf(const Float16* from, int64_t n, float* to) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(ToFloats)(from, n, to);
}
void FloatsOf(const BFloat16* from, int64_t n, float* to) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(BfloatsToFloats)(from, n, to);
}
void HalvesOf(const float* from, int64_t n, Float16* to) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(ToHalves)(from, n, to);
}
void HalvesOf(const float* from, int64_t n, BFloat16* to) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(FloatsToBfloats)(from, n, to);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
