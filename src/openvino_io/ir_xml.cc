// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_xml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "openvino_io/ir_document.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(std::string(value).c_str());
}

pugi::xml_node AppendPort(pugi::xml_node side, int id, const IrType& type) {
  pugi::xml_node port = side.append_child("port");
  port.append_attribute("id").set_value(id);
  Set(port, "precision", IrPrecision(type.element));
  for (const int64_t dim : type.dims) port.append_child("dim").text().set(static_cast<long long>(dim));
  return port;
}

}  // namespace

std::string JoinIrNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    for (const char c : name) {
      if (c == ',') text += '\\';
      text += c;
    }
  }
  return text;
}

std::string IrText(bool value) { return value ? "true" : "false"; }
std::string IrText(double value) { return fmt::format("{}", value); }
std::string IrText(float value) { return fmt::format("{}", value); }
std::string IrText(const std::vector<int64_t>& values) { return fmt::format("{}", fmt::join(values, ", ")); }
std::string IrText(const std::vector<float>& values) { return fmt::format("{}", fmt::join(values, ", ")); }

pugi::xml_node AppendIrLayer(pugi::xml_node parent, const IrLayerText& layer) {
  pugi::xml_node node = parent.append_child("layer");
  node.append_attribute("id").set_value(0);
  Set(node, "name", layer.name);
  Set(node, "type", layer.type);
  Set(node, "version", layer.version);
  if (!layer.data.empty()) {
    pugi::xml_node data = node.append_child("data");
    for (const auto& [name, value] : layer.data) Set(data, name.c_str(), value);
  }
  if (!layer.rt_info.empty())
    node.append_child("rt_info").append_buffer(layer.rt_info.data(), layer.rt_info.size(), pugi::parse_default);
  int port = 0;
  if (!layer.inputs.empty()) {
    pugi::xml_node side = node.append_child("input");
    for (const IrRef& input : layer.inputs) AppendPort(side, port++, *input.type);
  }
  if (!layer.outputs.empty()) {
    pugi::xml_node side = node.append_child("output");
    for (const IrLayerText::Output& output : layer.outputs) {
      pugi::xml_node written = AppendPort(side, port++, output.type);
      if (const std::string names = JoinIrNames(output.names); !names.empty()) Set(written, "names", names);
    }
  }
  return node;
}

IrXml::IrXml(pugi::xml_node parent) : layers_(parent.append_child("layers")), edges_(parent.append_child("edges")) {}

pugi::xml_node IrXml::Add(const IrLayerText& layer, std::vector<IrRef>* outputs) {
  const int id = static_cast<int>(by_id_.size());
  pugi::xml_node node = AppendIrLayer(layers_, layer);
  node.attribute("id").set_value(id);
  by_id_.push_back(node);
  int port = 0;
  const auto edge = [&](const IrRef& from, int to) {
    pugi::xml_node written = edges_.append_child("edge");
    written.append_attribute("from-layer").set_value(from.layer);
    written.append_attribute("from-port").set_value(from.port);
    written.append_attribute("to-layer").set_value(id);
    written.append_attribute("to-port").set_value(to);
  };
  for (const IrRef& input : layer.inputs) edge(input, port++);
  for (const IrLayerText::Output& output : layer.outputs) {
    types_.push_back(output.type);
    if (outputs != nullptr) outputs->push_back({id, port, &types_.back()});
    ++port;
  }
  return node;
}

std::string_view IrXml::LayerType(const IrRef& port) const {
  return by_id_[static_cast<size_t>(port.layer)].attribute("type").value();
}

pugi::xml_node IrXml::NodeOf(const IrRef& port) const {
  const pugi::xml_node layer = by_id_[static_cast<size_t>(port.layer)];
  return layer.child("output").find_child_by_attribute("id", std::to_string(port.port).c_str());
}

pugi::xml_attribute IrXml::NamesOf(const IrRef& port) const {
  pugi::xml_node node = NodeOf(port);
  const pugi::xml_attribute names = node.attribute("names");
  return names.empty() ? node.append_attribute("names") : names;
}

void IrXml::AddRuntimeInfo(const IrRef& port, std::string_view xml) {
  NodeOf(port).append_child("rt_info").append_buffer(xml.data(), xml.size());
}

void IrXml::AddName(const IrRef& port, std::string_view name) {
  pugi::xml_attribute names = NamesOf(port);
  const std::string before = names.value(), added = JoinIrNames({std::string(name)});
  names.set_value((before.empty() ? added : before + "," + added).c_str());
}

void IrXml::Rename(const IrRef& port, std::string_view name) {
  NamesOf(port).set_value(JoinIrNames({std::string(name)}).c_str());
}

}  // namespace ONNX_LIGHT_NAMESPACE
