// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"
#include "runtime/inferred_types.h"

namespace ONNX_LIGHT_NAMESPACE {

// LSTM, GRU and RNN of ai.onnx that no sequence of OpenVINO IR says (peepholes, coupled gates, other functions than
// Sigmoid, Tanh and Relu) become calls of functions of the model: a Scan over the arithmetic of the gates. `types` is
// of this very model. Nodes whose hidden_size or element type is not known, and all before operator set 10, stay.
// Returns how many there were.
int ExpandRecurrent(ModelProto& model, const InferredTypes& types);

}  // namespace ONNX_LIGHT_NAMESPACE
