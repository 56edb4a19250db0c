// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or a ModelParseError; a model survives writing and reading again. Seeds: tests/data/wire.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "onnx_io/reader.h"
#include "onnx_io/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  onnxseq::ModelProto model;
  try {
    model = onnxseq::ParseModel(bytes, nullptr);
  } catch (const onnxseq::ModelParseError&) {
    return 0;
  }
  const std::string written = onnxseq::SerializeModel(model);
  if (!(onnxseq::ParseModel(written, nullptr) == model)) std::abort();
  if (onnxseq::SerializeModel(onnxseq::ModelProto(model)) != written) std::abort();
  return 0;
}
