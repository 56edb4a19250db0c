// SPDX-License-Identifier: Apache-2.0
// What the tests of writing OpenVINO IR share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnxseq/model_io.h"
#include "openvino_io/ir_reader.h"
#include "runtime/runtime_test_util.h"
#include "runtime/save_ir.h"

namespace ONNX_LIGHT_NAMESPACE {

inline ModelProto FromGraphText(std::string_view graph, int opset = 17) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                        ", \"ai.onnx.ml\" : 3, \"org.openvinotoolkit\" : 1, \"my\" : 1]>\n" + std::string(graph));
}
inline std::string Xml(std::string_view graph, int opset = 17) { return ToIr(FromGraphText(graph, opset)).xml; }
inline ModelProto Read(const IrFiles& files) { return ParseIr(files.xml, Bytes(files.bin)); }

// What a graph is refused with, without what all refusals begin with.
inline std::string Refusal(const ModelProto& model, bool lower = false) {
  constexpr std::string_view kPrefix = "OpenVINO IR cannot say this model: ";
  const std::string text = ThrownBy<Unsupported>([&] { ToIr(model, {.lower = lower, .version = 11}); });
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : "not a refusal: " + text;
}
inline std::string Refusal(std::string_view graph, int opset = 17, bool lower = false) {
  return Refusal(FromGraphText(graph, opset), lower);
}

// The types of the layers, in order, but for those at the ends.
inline std::vector<std::string> Layers(const std::string& xml) {
  std::vector<std::string> types;
  for (size_t at = 0; (at = xml.find("<layer ", at)) != std::string::npos; ++at) {
    const size_t begin = xml.find("type=\"", at) + 6, end = xml.find('"', begin);
    const std::string type = xml.substr(begin, end - begin);
    if (type != "Parameter" && type != "Result" && type != "Const") types.push_back(type);
  }
  return types;
}

}  // namespace ONNX_LIGHT_NAMESPACE
