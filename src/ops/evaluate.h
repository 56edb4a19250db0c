// SPDX-License-Identifier: Apache-2.0
// Running one node on values at hand, outside any plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// Constant folding, in the passes and in the plan of a model as it is
// ---------------------------------------------------------------------------------------------------------------------

// What the node gives follows from its inputs alone, and takes no graph to be run: not random, without bodies.
bool IsFoldable(const OpDef& op, const NodeProto& node);
// What a foldable node gives for `inputs`, as a run would compute it, where that takes at most `memory` bytes (0: any
// number). Nothing where it fails, which is left to the run.
std::optional<std::vector<Value>> Fold(const OpDef& op, const NodeProto& node, const OpState* state,
                                       std::vector<Value> inputs, std::span<const InputCheck> checks,
                                       bool flush_denormals, int64_t memory);

}  // namespace ONNX_LIGHT_NAMESPACE
