// SPDX-License-Identifier: Apache-2.0
// Operators that are written as nodes of other operators (OpDef::body): as functions, which inference walks and the
// runtime writes out.
#pragma once

#include <cstdint>

#include "onnx_proto/onnx.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

// The function that a call of `op`, which has a body, stands for: in the operator's domain, which it imports, and
// importing `opset` of ai.onnx. Throws InvalidArgument when the node's attributes have values the operator does not
// take. Thread safe.
FunctionProto OpBody(const OpDef& op, const NodeProto& node, int64_t opset);

}  // namespace ONNX_LIGHT_NAMESPACE
