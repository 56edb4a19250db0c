// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// There is a graph, and the versions are ones this build knows. Throws InvalidArgument without graph or operator sets,
// Unsupported, naming found and newest version, for newer ones. A file before IR version 3 without operator sets gets
// ai.onnx 1.
void CheckModel(ModelProto& model);

}  // namespace ONNX_LIGHT_NAMESPACE
