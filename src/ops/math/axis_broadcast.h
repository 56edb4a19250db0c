// SPDX-License-Identifier: Apache-2.0
// Binary operators before version 7: B has the shape of A, or, with attribute 'broadcast', one element or the dims (1
// for any) of consecutive axes of A: from attribute 'axis' on, or the last ones where that is absent or -1.
#pragma once

#include <utility>

#include "ops/op_def.h"
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// B under a shape that broadcasts to A as newer versions do it; undefined for an operator that is no such one.
// InvalidArgument where B does not fit.
Tensor AlignedToAxis(const RunContext& ctx);
// The rule: `rule` is that of the newer version, `dtype` the type of the output, kUndefined = as A.
void AxisBroadcastShape(InferScope& scope, void (*rule)(InferScope&), TensorType dtype);

// Version `since` (1 or 6) of `op`, whose rule is kRule.
template <void (*kRule)(InferScope&), TensorType kOut = TensorType::kUndefined>
OpDef ByAxis(OpDef op) {
  op.attributes.push_back({"axis", AttrKind::kInt});
  op.attributes.push_back({"broadcast", AttrKind::kInt});
  op.shape = [](InferScope& scope) { AxisBroadcastShape(scope, kRule, kOut); };
  return op;
}

}  // namespace ONNX_LIGHT_NAMESPACE
