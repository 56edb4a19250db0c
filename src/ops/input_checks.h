// SPDX-License-Identifier: Apache-2.0
// What is checked of the inputs of a node before its operator runs on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onnx_proto/onnx.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

struct InputCheck {
  uint32_t types = 0;  // TypeSet bits
  FormalKind kind = FormalKind::kAny;
  bool required = false;
  int16_t same_as = -1;  // an earlier input with the same type variable
};

// One per input of the node, which CheckNode (infer_node.h) has nothing against.
std::vector<InputCheck> InputChecks(const OpDef& op, const NodeProto& node);

// Throws InvalidArgument about an input that is missing or of a kind or element type the operator does not take.
void CheckInputs(const RunContext& ctx, std::span<const InputCheck> checks);

}  // namespace ONNX_LIGHT_NAMESPACE
