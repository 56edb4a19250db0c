// SPDX-License-Identifier: Apache-2.0
// Model and value files, without a session.
#pragma once

#include <string>

#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Reads an ONNX file, or an OpenVINO IR when the path ends in .xml (its .bin is beside it). Mapped: large data is not
// copied. Throws IoError, ModelParseError, Unsupported (layers that cannot be said in ONNX).
ONNXSEQ_API ModelProto ReadModelFile(const std::string& path);
// Writes an ONNX file, whole or not at all. Throws IoError; Unsupported for a path that ends in .xml.
ONNXSEQ_API void WriteModelFile(const ModelProto& model, const std::string& path);

// What the .pb files of test data hold. The file does not say which: the caller does.
enum class ValueFileKind { kTensor, kSequence, kOptional };
// Throws IoError, ModelParseError, and InvalidArgument or Unsupported for content no value can hold.
ONNXSEQ_API Value ReadValueFile(const std::string& path, ValueFileKind kind);

}  // namespace ONNX_LIGHT_NAMESPACE
