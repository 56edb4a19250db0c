// SPDX-License-Identifier: Apache-2.0
// Any text is a model or a ModelParseError, and what it gives can be written and read, as bytes and as text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/wire.h"
#include "onnx_io/writer.h"
#include "text_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnxseq::ModelProto model;
  try {
    model = onnxseq::ParseModelText({reinterpret_cast<const char*>(data), size});
  } catch (const onnxseq::ModelParseError&) {
    return 0;
  }
  if (!(onnxseq::ParseWire<onnxseq::ModelProto>(onnxseq::SerializeModel(model), nullptr) == model)) std::abort();
  CheckTextRoundTrip(model);
  return 0;
}
