// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lstm/lstm_f32.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "base/cpu_features.h"
#include "kernels/lstm/lstm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

void RunLstmShareF32(const RecurrentPart<Lstm, float>& part, const RecurrentShare<float>& share) {
  RunShare(part, share);
}
void RunLstmShareNarrow(const RecurrentPart<Lstm, float>& part, const RecurrentShare<float>& share);  // lstm_narrow.cc
void RunLstmShareF64(const RecurrentPart<Lstm, double>& part, const RecurrentShare<double>& share);   // lstm_f64.cc

const RecurrentVariant<Lstm>& LstmVariantHere() {
  static const RecurrentVariant<Lstm> variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                                 static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())),
                                                 RunLstmShareF32, RunLstmShareNarrow, RunLstmShareF64};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(LstmVariantHere);

const RecurrentVariant<Lstm>& Lstm::ActiveVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(LstmVariantHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
