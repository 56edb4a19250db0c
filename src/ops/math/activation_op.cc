// SPDX-License-Identifier: Apache-2.0
#include "ops/math/activation_op.h"

#include <algorithm>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
void ActivationRow(const void* const* in, const int64_t* /*step*/, void* out, int64_t n, const void* fn) {
  const auto& activation = *static_cast<const kernels::Activation*>(fn);
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  if constexpr (kernels::kIsHalf<T>) {
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      for (int64_t k = 0; k < count; ++k) block[k] = x[i + k];
      kernels::ApplyActivation(activation, count, block, block);
      for (int64_t k = 0; k < count; ++k) y[i + k] = T(block[k]);
    }
  } else {
    kernels::ApplyActivation(activation, n, x, y);
  }
}

}  // namespace

void RunActivation(RunContext& ctx, const kernels::Activation& activation) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(),
           [&]<class T>(std::type_identity<T>) { RunRows(ctx, 1, kTensorTypeOf<T>, ActivationRow<T>, &activation); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
