// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rnn/rnn_f32.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "base/cpu_features.h"
#include "kernels/rnn/rnn_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

void RunRnnShareF32(const RecurrentPart<Rnn, float>& part, const RecurrentShare<float>& share) {
  RunShare(part, share);
}
void RunRnnShareNarrow(const RecurrentPart<Rnn, float>& part, const RecurrentShare<float>& share);  // rnn_narrow.cc
void RunRnnShareF64(const RecurrentPart<Rnn, double>& part, const RecurrentShare<double>& share);   // rnn_f64.cc

const RecurrentVariant<Rnn>& RnnVariantHere() {
  static const RecurrentVariant<Rnn> variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                                static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())),
                                                RunRnnShareF32, RunRnnShareNarrow, RunRnnShareF64};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(RnnVariantHere);

const RecurrentVariant<Rnn>& Rnn::ActiveVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(RnnVariantHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
