// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/model_io.h"

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

ModelProto ReadModelFile(const std::string& path) {
  return TranslateErrors([&] { return path.ends_with(".xml") ? ReadIr(path) : ReadModel(path); });
}

void WriteModelFile(const ModelProto& model, const std::string& path) {
  if (path.ends_with(".xml")) throw Unsupported(fmt::format("\"{}\": OpenVINO IR cannot be written", path));
  TranslateErrors([&] { WriteModel(model, path); });
}

Value ReadValueFile(const std::string& path, ValueFileKind kind) {
  return TranslateErrors([&]() -> Value {
    const MappedFile file = MapFile(path);
    try {
      switch (kind) {
        case ValueFileKind::kSequence:
          return SequenceFromProto(ParseMessage<SequenceProto>(file.bytes, file.owner));
        case ValueFileKind::kOptional:
          return ValueFromProto(ParseMessage<OptionalProto>(file.bytes, file.owner));
        case ValueFileKind::kTensor:
          break;
      }
      return TensorFromProto(ParseMessage<TensorProto>(file.bytes, file.owner));
    } catch (Error& e) {
      e.AddPath(fmt::format("in \"{}\"", path));
      throw;
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
