// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lstm/lstm_f64.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/lstm/lstm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

void RunShareF64(const LstmPart<double>& part, const LstmShare<double>& share) { RunShare(part, share); }

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
