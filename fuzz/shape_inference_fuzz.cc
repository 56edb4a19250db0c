// SPDX-License-Identifier: Apache-2.0
// Inference of any model ends without an exception, says the same twice, and what it writes into the model is a model
// that can be read again and inferred again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "onnxseq/shapes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnxseq::ModelProto model;
  try {
    model = onnxseq::ParseModel(std::string_view(reinterpret_cast<const char*>(data), size), nullptr);
  } catch (const onnxseq::ModelParseError&) {
    return 0;
  }
  const onnxseq::InferredShapes first = onnxseq::InferShapes(model), second = onnxseq::InferShapes(model);
  if (first.graphs.size() != second.graphs.size() || first.problems.size() != second.problems.size()) std::abort();
  for (size_t i = 0; i < first.graphs.size(); ++i) {
    for (const auto& [name, value] : first.graphs[i].values)
      if (second.graphs[i].values.at(name).ToString() != value.ToString()) std::abort();
  }
  const onnxseq::ModelProto& given = model;
  if (!given.has_graph()) return 0;
  onnxseq::WriteShapes(model);
  static_cast<void>(onnxseq::InferShapes(onnxseq::ParseModel(onnxseq::SerializeModel(model), nullptr)));
  return 0;
}
