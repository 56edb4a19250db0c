// SPDX-License-Identifier: Apache-2.0
// What the pools over a whole plane share: one number for each [instance, channel], the other axes of one element.
#pragma once

#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

OpDef GlobalPoolOp(std::string_view type, int since, void (*run)(RunContext&), std::vector<AttrDef> attributes = {});
// Input 0, of rank 2 or more, as planes of `inner` elements; `pooled` is the shape of one element each.
struct Planes {
  int64_t planes, inner;
  Shape pooled;
};
Planes PlanesOf(const RunContext& ctx);

// Output 0: finish(total, inner) of each plane, its elements x having made each total from the one before, step(total,
// x), the first from `init`; all in double.
template <class Step, class Finish>
void FoldPlanes(RunContext& ctx, double init, Step step, Finish finish) {
  const Tensor x = ctx.tensor(0);
  const Planes planes = PlanesOf(ctx);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), planes.pooled);
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.View<T>().data();
    for (T& to : y.MutableView<T>()) {
      ctx.CheckCancelled();
      double total = init;
      for (int64_t i = 0; i < planes.inner; ++i) total = step(total, static_cast<double>(*from++));
      to = static_cast<T>(finish(total, planes.inner));
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
