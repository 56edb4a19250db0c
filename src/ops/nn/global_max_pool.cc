// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool: the greatest element of each plane, NaN if there is one: over the axes from 2 on, which stay with one
// element. https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html
#include <limits>

#include "ops/nn/global_pool_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  FoldPlanes(
      ctx, -std::numeric_limits<double>::infinity(),
      [](double most, double x) { return x > most || x != x ? x : most; }, [](double most, int64_t) { return most; });
}

}  // namespace

std::span<const OpDef> global_max_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalMaxPool", 1, Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
