// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gru/gru_f32.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "base/cpu_features.h"
#include "kernels/gru/gru_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

void RunGruShareF32(const RecurrentPart<Gru, float>& part, const RecurrentShare<float>& share) {
  RunShare(part, share);
}
void RunGruShareNarrow(const RecurrentPart<Gru, float>& part, const RecurrentShare<float>& share);  // gru_narrow.cc
void RunGruShareF64(const RecurrentPart<Gru, double>& part, const RecurrentShare<double>& share);   // gru_f64.cc

const RecurrentVariant<Gru>& GruVariantHere() {
  static const RecurrentVariant<Gru> variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                                static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())),
                                                RunGruShareF32, RunGruShareNarrow, RunGruShareF64};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(GruVariantHere);

const RecurrentVariant<Gru>& Gru::ActiveVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(GruVariantHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
