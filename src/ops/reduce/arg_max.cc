// SPDX-License-Identifier: Apache-2.0
// ArgMax: where along an axis the greatest element is: the first of equal ones, or the last with select_last_index
// (version 12 on). NaN counts as the greatest. An axis without elements is an error.
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
#include "ops/reduce/arg_extreme_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> arg_max_ops() {
  static const std::vector<OpDef> ops = ArgExtremeOps(true);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
