// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool: the greatest element of each plane, NaN if there is one: over the axes from 2 on, which stay with one
// element. https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html
#include <limits>

#include "ops/nn/global_pool_op.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Planes planes = PlanesOf(ctx);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), planes.pooled);
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.View<T>().data();
    for (T& to : y.MutableView<T>()) {
      double total = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < planes.inner; ++i) {
        const auto value = static_cast<double>(*from++);
        total = value > total || value != value ? value : total;
      }
      to = static_cast<T>(total);
    }
  });
}

}  // namespace

std::span<const OpDef> global_max_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalMaxPool", 1, Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
