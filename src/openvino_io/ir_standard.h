// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Recurrent layers, which the reader leaves in org.openvinotoolkit, become LSTM, GRU and RNN of ai.onnx, bodies
// included: what other runtimes read. Layouts and gates change places; constant weights are reordered here. Throws
// Unsupported, listing the nodes that ai.onnx cannot say: an LSTM of before opset5 that couples its gates (i = 1 - f,
// ONNX has f = 1 - i), and all when the model imports operator set 12 or less of ai.onnx. Not thread safe on one model.
void LayersToOnnx(ModelProto& model);
// The same of LSTMs with peepholes or weights_format alone, layers that OpenVINO has given up; those of LSTMSequence of
// before opset5 that need neither forget that they were such. What couples its gates stays.
void LegacyLayersToOnnx(ModelProto& model);

}  // namespace ONNX_LIGHT_NAMESPACE
