// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/new_file.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_graph_writer.h"
#include "openvino_io/ir_metadata.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string WriteXml(const ModelProto& model, const IrWriteOptions& options, IrWriting& writing) {
  if (options.version != 10 && options.version != 11)
    throw InvalidArgument(fmt::format("OpenVINO IR version {}: 10 and 11 are written", options.version));
  if (!model.has_graph()) throw InvalidArgument("the model has no graph");
  for (const OperatorSetIdProto& import : model.opset_import())
    writing.opsets[import.domain() == "ai.onnx" ? std::string() : import.domain().as_string()] = import.version();
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  pugi::xml_node net = document.append_child("net");
  net.append_attribute("name").set_value(model.graph().name().c_str());
  net.append_attribute("version").set_value(options.version);
  IrGraphWriter(writing, model.graph(), net, nullptr).WriteModel();
  if (net.child("layers").first_child().empty())
    throw Unsupported("OpenVINO IR cannot say a graph without inputs, nodes and outputs");
  if (!writing.unsupported.empty()) {
    constexpr size_t kListed = 100;
    std::string list;
    for (size_t i = 0; i < std::min(writing.unsupported.size(), kListed); ++i)
      list += (i == 0 ? "" : "; ") + writing.unsupported[i];
    if (writing.unsupported.size() > kListed)
      list += fmt::format("; and {} more", writing.unsupported.size() - kListed);
    throw Unsupported("OpenVINO IR cannot say this model: " + list);
  }
  pugi::xml_node rt_info = net.append_child("rt_info");
  const std::string_view text = MetadataOf(model, kIrRtInfoKey);
  if (!text.empty()) rt_info.append_buffer(text.data(), text.size());
  std::ostringstream out;
  document.save(out, "\t", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

IrWriting Begin(const IrTypeSource& types, const IrWriteOptions& options) {
  return {.types = types, .lower = options.lower, .opsets = {}, .weights = {}, .unsupported = {}};
}

}  // namespace

IrFiles SerializeIr(const ModelProto& model, const IrTypeSource& types, const IrWriteOptions& options) {
  return TranslateErrors([&] {
    IrWriting writing = Begin(types, options);
    IrFiles files;
    files.xml = WriteXml(model, options, writing);
    writing.weights.Write([&](std::string_view bytes) { files.bin += bytes; });
    return files;
  });
}

void WriteIr(const ModelProto& model, const IrTypeSource& types, const std::string& xml_path,
             const IrWriteOptions& options) {
  TranslateErrors([&] {
    IrWriting writing = Begin(types, options);
    const std::string xml = WriteXml(model, options, writing);
    const std::string bin_path = FollowLinks(std::filesystem::path(xml_path).replace_extension(".bin").string());
    NewFile bin(bin_path);
    writing.weights.Write([&](std::string_view bytes) { bin.Write(bytes); });
    NewFile file(FollowLinks(xml_path));
    file.Write(xml);
    bin.PutInPlace(bin_path);
    file.PutInPlace(FollowLinks(xml_path));
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
