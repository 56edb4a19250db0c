// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_graph_reader.h"
#include "openvino_io/ir_metadata.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The operator sets the nodes are written in.
constexpr int64_t kOnnxOpset = 22;
constexpr int64_t kOnnxIrVersion = 10;
constexpr int64_t kOpenVinoOpset = 1;

[[noreturn]] void FailUnsupported(const std::vector<std::string>& unsupported, size_t layers) {
  constexpr size_t kListed = 100;
  std::string list;
  for (size_t i = 0; i < std::min(unsupported.size(), kListed); ++i) list += (i == 0 ? "" : "; ") + unsupported[i];
  if (unsupported.size() > kListed) list += fmt::format("; and {} more", unsupported.size() - kListed);
  throw Unsupported(fmt::format("{} of {} layers cannot be read: {}", unsupported.size(), layers, list));
}

ModelProto ReadDocument(const IrDocument& document, const std::optional<Bytes>& weights) {
  ModelProto model;
  model.set_ir_version(kOnnxIrVersion);
  model.set_producer_name("OpenVINO IR");
  for (const auto& [domain, version] : {std::pair{std::string_view(), kOnnxOpset}, {kOpenVinoDomain, kOpenVinoOpset}}) {
    OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(std::string(domain));
    opset.set_version(version);
  }
  GraphProto& graph = *model.mutable_graph();
  graph.set_name(document.name.empty() ? "ir" : document.name);
  AddMetadata(model, kIrVersionKey, std::to_string(document.version));
  const std::string rt_info = InnerXml(document.xml.child("net").child("rt_info"));
  if (!rt_info.empty()) AddMetadata(model, kIrRtInfoKey, rt_info);

  IrModel shared{.weights = weights, .names = {}, .dim_names = {}, .constants = {}, .unsupported = {}};
  IrBuilder builder{.model = shared, .graph = &graph};
  IrGraphReader(document, builder).ReadModel();
  if (!shared.unsupported.empty()) FailUnsupported(shared.unsupported, document.layers.size());
  for (std::unique_ptr<IrConstant>& constant : shared.constants) {
    if (constant->used) *graph.add_initializer() = std::move(constant->tensor);
  }
  return model;
}

}  // namespace

ModelProto ParseIr(std::string_view xml, const std::optional<Bytes>& weights) {
  return TranslateErrors([&] {
    IrDocument document;
    ParseIrDocument(xml, document);
    return ReadDocument(document, weights);
  });
}

ModelProto ReadIr(const std::string& xml_path) {
  const MappedFile xml = MapFile(xml_path);
  std::optional<Bytes> weights;
  const std::string bin_path = std::filesystem::path(xml_path).replace_extension(".bin").string();
  std::error_code ignored;
  if (std::filesystem::exists(bin_path, ignored)) {
    MappedFile bin = MapFile(bin_path);
    weights = Bytes::Shared(bin.bytes, std::move(bin.owner));
  }
  try {
    return ParseIr(xml.bytes, weights);
  } catch (Error& error) {
    error.AddPath(fmt::format("in \"{}\"", xml_path));
    throw;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
