// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx_proto/onnx.h"
#include "openvino_io/ir_writer.h"

namespace ONNX_LIGHT_NAMESPACE {

// SerializeIr and WriteIr of any model: functions are written out, nodes sorted, types inferred before. Throws what
// InlineFunctions and they throw, InvalidArgument for a model that is not sound.
IrFiles ToIr(const ModelProto& model, const IrWriteOptions& options = {});
void SaveIr(const ModelProto& model, const std::string& xml_path, const IrWriteOptions& options);

}  // namespace ONNX_LIGHT_NAMESPACE
