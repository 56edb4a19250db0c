// SPDX-License-Identifier: Apache-2.0
// Running one node on values at hand, outside any plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onnxseq/value.h"
#include "ops/input_checks.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

// What the operator's `prepare` makes of the node when `inputs` (nothing: absent) are all of them, and constant; null
// when it makes nothing. Throws what `prepare` throws.
std::unique_ptr<OpState> PrepareOn(const OpDef& op, const NodeProto& node, int64_t opset, std::span<const Value> inputs,
                                   bool flush_denormals);

// One value per output of the node, nothing for those without a name. The operator has no bodies; it runs on the
// calling thread alone, with inputs as `checks` asks for. Throws what the operator and CheckInputs throw.
std::vector<Value> Evaluate(const OpDef& op, const NodeProto& node, const OpState* state, std::vector<Value> inputs,
                            std::span<const InputCheck> checks = {});

}  // namespace ONNX_LIGHT_NAMESPACE
