// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lstm/lstm_f32.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "base/cpu_features.h"
#include "kernels/lstm/lstm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

void RunShareF32(const LstmPart<float>& part, const LstmShare<float>& share) { RunShare(part, share); }
void RunShareF64(const LstmPart<double>& part, const LstmShare<double>& share);  // lstm_f64.cc

const LstmVariant& LstmVariantHere() {
  static const LstmVariant variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                      static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())), RunShareF32,
                                      RunShareF64};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(LstmVariantHere);

const LstmVariant& ActiveLstmVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(LstmVariantHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
