// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Nodes a model may have once its functions are written out, counted before anything is.
inline constexpr int64_t kMaxExpandedNodes = 200'000;

// The model has functions, or nodes of operators that are written as nodes of others (OpDef::body).
bool NeedsInlining(const ModelProto& model);

// Replaces every call of a model's own functions and of operators with a body, in bodies too, by the nodes; afterwards
// the model has no functions. Values inside get a prefix of their own, nodes the caller's name. Throws InvalidArgument
// for functions that call themselves and for more than kMaxExpandedNodes nodes, Unsupported when a function imports
// another version of an operator set than the model and an operator it uses differs between the two.
void InlineFunctions(ModelProto& model);

}  // namespace ONNX_LIGHT_NAMESPACE
