// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or a ModelParseError; a model survives writing and reading again, and its text does; its
// references to external data are followed or refused.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/external_data.h"
#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "text_round_trip.h"

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
  CheckTextRoundTrip(model);
  std::vector<std::string> missing;
  const auto found = onnxseq::LoadExternalData(model, {"/no/such/folder"}, &missing);
  if (found.size() != 0 || onnxseq::SerializeModel(model) != written) std::abort();
  return 0;
}
