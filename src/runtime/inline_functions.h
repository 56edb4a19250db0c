// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Nodes a model may have once its functions are written out, counted before anything is.
inline constexpr int64_t kMaxExpandedNodes = 200'000;

// The model has functions, or nodes of operators that are written as nodes of others (OpDef::body).
bool NeedsInlining(const ModelProto& model);

// A call that was replaced.
struct InlinedCall {
  std::string prefix;  // of the names of values inside: "scale__1/"
  std::string path;    // of the call, as inference has it: "/block0/call"
};

// Whether an operator stays as it is.
using KeepsOp = bool (*)(std::string_view domain, std::string_view op_type, int64_t opset);

// Replaces every call of a model's own functions and of operators with a body, in bodies too, by the nodes; afterwards
// the model has no functions. Values inside get a prefix of their own, nodes the caller's name; those with bodies keep
// the path they had, having got a name if they had none. Returns the calls. Throws InvalidArgument
// for functions that call themselves and for more than kMaxExpandedNodes nodes, Unsupported when a function imports
// another version of an operator set than the model and an operator it uses differs between the two. Operators with a
// body for which `keep` is true, when it is given, stay as they are.
std::vector<InlinedCall> InlineFunctions(ModelProto& model, KeepsOp keep = nullptr);

}  // namespace ONNX_LIGHT_NAMESPACE
