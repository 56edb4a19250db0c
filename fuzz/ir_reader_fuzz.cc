// SPDX-License-Identifier: Apache-2.0
// Any text is an OpenVINO IR that becomes a model, or an error of the reader; what becomes a model can be written.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const onnxseq::Bytes weights(std::string(size_t{1} << 16, '\1'));
  onnxseq::ModelProto model;
  try {
    model = onnxseq::ParseIr({reinterpret_cast<const char*>(data), size}, weights);
  } catch (const onnxseq::ModelParseError&) {
    return 0;
  } catch (const onnxseq::Unsupported&) {
    return 0;
  }
  if (!(onnxseq::ParseModel(onnxseq::SerializeModel(model), nullptr) == model)) std::abort();
  return 0;
}
