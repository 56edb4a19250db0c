// SPDX-License-Identifier: Apache-2.0
// Model files written: deterministic bytes, replaced whole.
#pragma once

#include <string>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// The bytes of the model: fields by number, unknown ones last in their message. Equal models give equal bytes, and a
// file written by protobuf, read and serialised, is the same file. Throws MemoryError through the caller's translation
// when there is no room.
ONNXSEQ_API std::string SerializeModel(const ModelProto& model);

// Writes the model to `path` through a new file, synced and renamed over it: the old file or the new one, never a part.
// The model may be one read from that very file. Throws IoError naming the path and the reason.
ONNXSEQ_API void WriteModel(const ModelProto& model, const std::string& path);

}  // namespace ONNX_LIGHT_NAMESPACE
