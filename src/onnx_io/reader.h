// SPDX-License-Identifier: Apache-2.0
// onnx_io: ONNX files and ONNX text to messages and back. Before it: model (the messages, the wire format). After it:
// ops and the runtime, which read function bodies and models through it. reader.h: model files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/wire.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Reads the model file at `path`, mapped: raw_data and other bytes fields are views into the file and keep the mapping
// alive. IR and opset versions are not judged here, external data is not touched. Throws IoError when the file cannot
// be read, ModelParseError (naming the path) when it is no model.
ONNXSEQ_API ModelProto ReadModel(const std::string& path);

// Reads a model from memory. With an owner, bytes fields are views into `bytes`; with null they are copied. Throws
// ModelParseError with byte offset and field path; says so when the bytes are something else people take for a model
// (an archive, a checkpoint, a web page, a Git LFS pointer, OpenVINO IR, text), and when there is no graph.
ONNXSEQ_API ModelProto ParseModel(std::string_view bytes, std::shared_ptr<const void> owner);

// Reads one message of any other type (TensorProto, SequenceProto, OptionalProto, ...), as ParseModel does but taking
// it as it is.
template <class M>
M ParseMessage(std::string_view bytes, std::shared_ptr<const void> owner) {
  return ParseWire<M>(bytes, std::move(owner));
}

}  // namespace ONNX_LIGHT_NAMESPACE
