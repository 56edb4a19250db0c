// SPDX-License-Identifier: Apache-2.0
// Any OpenVINO IR, or model in ONNX text, is written as an IR or refused; the same again gives the same bytes, and what
// was written follows the format.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"
#include "runtime/save_ir.h"

namespace {

std::optional<onnxseq::ModelProto> Read(std::string_view text) {
  static const onnxseq::Bytes weights(std::string(size_t{1} << 16, '\1'));
  try {
    return text.starts_with("<?xml") || text.starts_with("<net") ? onnxseq::ParseIr(text, weights)
                                                                 : onnxseq::ParseModelText(text);
  } catch (const onnxseq::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = Read({reinterpret_cast<const char*>(data), size});
  if (!model) return 0;
  onnxseq::IrFiles files;
  try {
    files = onnxseq::ToIr(*model, {.lower = true, .version = 11});
  } catch (const onnxseq::Error&) {
    return 0;
  }
  const onnxseq::IrFiles again = onnxseq::ToIr(*model, {.lower = true, .version = 11});
  if (files.xml != again.xml || files.bin != again.bin) std::abort();
  try {
    static_cast<void>(onnxseq::ParseIr(files.xml, onnxseq::Bytes(files.bin)));
  } catch (const onnxseq::Unsupported&) {
    // The reader may know less of a rank than the writer did.
  }
  return 0;
}
