// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx_proto/onnx.h"
#include "openvino_io/ir_writer.h"

namespace ONNX_LIGHT_NAMESPACE {

// WriteIr of any model: functions are written out, nodes sorted, types inferred before. Throws what InlineFunctions and
// WriteIr throw, InvalidArgument for a model that is not sound.
void SaveIr(const ModelProto& model, const std::string& xml_path, const IrWriteOptions& options);

}  // namespace ONNX_LIGHT_NAMESPACE
