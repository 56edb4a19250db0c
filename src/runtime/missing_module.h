// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// What is to be said of a model that has operators the module with oneDNN works for while that is missing
// (kernels/dnn/dnn.h); empty when there is nothing to say. Opens nothing.
std::string MissingModule(const ModelProto& model);

}  // namespace ONNX_LIGHT_NAMESPACE
