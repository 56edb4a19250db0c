// SPDX-License-Identifier: Apache-2.0
// ArgMin: where along an axis the smallest element is: the first of equal ones, or the last with select_last_index
// (version 12 on). NaN counts as the smallest. An axis without elements is an error.
// https://onnx.ai/onnx/operators/onnx__ArgMin.html
#include "ops/reduce/arg_extreme_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> arg_min_ops() {
  static const std::vector<OpDef> ops = ArgExtremeOps(false);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
