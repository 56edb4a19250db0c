// SPDX-License-Identifier: Apache-2.0
#include "ops/math/activation_op.h"

#include <algorithm>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
void Apply(const kernels::Activation& activation, int64_t n, const T* x, T* y) {
  kernels::ApplyActivation(activation, n, x, y);
}
template <class T>
void Apply(const kernels::Function& function, int64_t n, const T* x, T* y) {
  kernels::ApplyFunction(function, n, x, y);
}

template <class F, class T>
void Row(const void* const* in, const int64_t* /*step*/, void* out, int64_t n, const void* fn) {
  const F& function = *static_cast<const F*>(fn);
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  if constexpr (kernels::kIsHalf<T>) {
    float block[kernels::kHalfBlock];
    for (int64_t i = 0; i < n; i += kernels::kHalfBlock) {
      const int64_t count = std::min(kernels::kHalfBlock, n - i);
      kernels::FloatsOf(x + i, count, block);
      Apply<float>(function, count, block, block);
      kernels::HalvesOf(block, count, y + i);
    }
  } else {
    Apply<T>(function, n, x, y);
  }
}

template <class F>
void RunOf(RunContext& ctx, const F& function) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(),
           [&]<class T>(std::type_identity<T>) { RunRows(ctx, 1, kTensorTypeOf<T>, Row<F, T>, &function); });
}

}  // namespace

void RunActivation(RunContext& ctx, const kernels::Activation& activation) { RunOf(ctx, activation); }
void RunFunction(RunContext& ctx, const kernels::Function& function) { RunOf(ctx, function); }

}  // namespace ONNX_LIGHT_NAMESPACE
