// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/writer.h"

#include "base/mapped_file.h"
#include "model/wire.h"

namespace ONNX_LIGHT_NAMESPACE {

std::string SerializeModel(const ModelProto& model) { return SerializeWire(model); }

void WriteModel(const ModelProto& model, const std::string& path) { WriteFileAtomically(path, SerializeModel(model)); }

}  // namespace ONNX_LIGHT_NAMESPACE
