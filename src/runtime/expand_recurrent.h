// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"
#include "runtime/inferred_types.h"

namespace ONNX_LIGHT_NAMESPACE {

// LSTM, GRU and RNN of ai.onnx that no sequence of OpenVINO IR says (peepholes, coupled gates, other functions than
// Sigmoid, Tanh and Relu) become calls of functions of the model: a Scan over the arithmetic of the gates. `types` is
// of this very model. Nodes whose hidden size or element type is not known stay. A model of operator set 7 or 8 becomes
// one of 9, which the loop needs. Returns how many nodes there were. Throws Unsupported for an older model, and when an
// operator it uses is another one in 9.
int ExpandRecurrent(ModelProto& model, const InferredTypes& types);

}  // namespace ONNX_LIGHT_NAMESPACE
