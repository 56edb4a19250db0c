// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

IrLayers ReadBodyLayers(const IrLowering& l, const char* name) {
  if (l.builder().depth >= kMostBodyDepth)
    l.Refuse(fmt::format("bodies stand in each other more than {} deep", kMostBodyDepth));
  const pugi::xml_node body = l.layer().node.child(name);
  if (body.empty()) l.layer().Fail("", fmt::format("has no <{}>", name));
  IrLayers layers;
  ReadIrLayers(body, layers);
  return layers;
}

}  // namespace

IrBody::IrBody(IrLowering& l, const char* name)
    : l_(l),
      layers_(ReadBodyLayers(l, name)),
      builder_{.model = l.builder().model, .graph = &graph_, .depth = l.builder().depth + 1},
      reader_(layers_, builder_) {
  graph_.set_name(fmt::format("{}/{}", l.layer().name, name));
}

int64_t IrBody::Number(pugi::xml_node node, const char* attribute, int64_t absent) const {
  const std::string_view text = node.attribute(attribute).value();
  if (text.empty()) return absent;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    l_.layer().Fail(fmt::format("<{}>", node.name()),
                    fmt::format("attribute '{}' must be an integer, got {}", attribute, QuoteForMessage(text)));
  return number;
}

int IrBody::FindLayer(pugi::xml_node node, const char* attribute, std::string_view type) const {
  const int64_t id = Number(node, attribute, -1);
  const auto found = std::ranges::find(layers_.layers, id, &IrLayer::id);
  if (found == layers_.layers.end() || found->type != type)
    l_.layer().Fail(fmt::format("<{}>", node.name()),
                    fmt::format("attribute '{}' names layer {} of the body, which is no {}", attribute, id, type));
  return static_cast<int>(found - layers_.layers.begin());
}

std::vector<IrPortMapping> IrBody::Mappings(pugi::xml_node map, const char* side, std::string_view type) const {
  std::vector<IrPortMapping> mappings;
  const std::vector<IrPort>& ports = type == "Parameter" ? l_.layer().inputs : l_.layer().outputs;
  for (const pugi::xml_node node : map.children(side)) {
    if (!node.attribute("purpose").empty() && Number(node, "external_port_id", -1) == -1) continue;
    IrPortMapping mapping;
    const int64_t id = Number(node, "external_port_id", -1);
    const auto port = std::ranges::find(ports, id, &IrPort::id);
    if (port == ports.end()) l_.layer().Fail("port_map", fmt::format("names {} port {}, there is none", side, id));
    mapping.port = static_cast<int>(port - ports.begin());
    mapping.layer = FindLayer(node, "internal_layer_id", type);
    if (!node.attribute("axis").empty()) {
      const int64_t axis = Number(node, "axis", 0), start = Number(node, "start", 0), end = Number(node, "end", -1);
      const int64_t stride = Number(node, "stride", 1), part = Number(node, "part_size", 1);
      mapping.backwards = stride < 0;
      if (part != 1 || !((start == 0 && end == -1 && stride == 1) || (start == -1 && end == 0 && stride == -1)))
        l_.Refuse(fmt::format("slices from {} to {} by {} of size {}: only all of an axis, one by one, is read", start,
                              end, stride, part));
      if (axis < 0 || axis > 64) l_.Refuse(fmt::format("axis {} of the port_map: 0 to 64 are read", axis));
      mapping.axis = static_cast<int>(axis);
    }
    mappings.push_back(mapping);
  }
  return mappings;
}

int IrBody::Purpose(pugi::xml_node map, const char* side, std::string_view type, std::string_view purpose) const {
  for (const pugi::xml_node node : map.children(side)) {
    if (node.attribute("purpose").value() == purpose) return FindLayer(node, "internal_layer_id", type);
  }
  return -1;
}

std::map<int, int> IrBody::BackEdges() const {
  std::map<int, int> edges;
  for (const pugi::xml_node node : l_.layer().node.child("back_edges").children("edge")) {
    const int from = FindLayer(node, "from-layer", "Result"), to = FindLayer(node, "to-layer", "Parameter");
    if (!edges.emplace(to, from).second)
      l_.layer().Fail("back_edges", fmt::format("two lead to layer {} of the body", Layer(to).id));
  }
  return edges;
}

void IrBody::Check(const std::vector<IrPortMapping>& inputs, const std::vector<IrPortMapping>& outputs,
                   const std::map<int, int>& back_edges) const {
  for (const IrPortMapping& input : inputs) {
    if (std::ranges::count(inputs, input.layer, &IrPortMapping::layer) > 1)
      Layer(input.layer).Fail("", "is fed by two inputs of the port_map");
    if (input.axis && back_edges.contains(input.layer))
      Layer(input.layer).Fail("", "is a slice of an input, and fed by a back edge too");
  }
  for (const auto& [parameter, result] : back_edges) {
    if (std::ranges::find(inputs, parameter, &IrPortMapping::layer) == inputs.end())
      Layer(parameter).Fail("", "is fed by a back edge, but by no input at first");
  }
  for (size_t port = 0; port < l_.layer().outputs.size(); ++port)
    if (std::ranges::count(outputs, static_cast<int>(port), &IrPortMapping::port) != 1)
      l_.layer().Fail("port_map", fmt::format("output port {} must be there once", l_.layer().outputs[port].id));
}

IrValue IrBody::AddInput(int parameter, const IrValue& outer) {
  IrValue value{.name = l_.builder().model.names.Unique(Layer(parameter).name), .type = outer.type, .rank = outer.rank};
  ValueInfoProto& info = *graph_.add_input();
  info.set_name(value.name);
  if (value.type != TensorType::kUndefined)
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_optim::TensorTypeToDataType(value.type));
  return value;
}

NodeProto& IrBody::Node(std::string_view op_type, std::vector<std::string> inputs, std::string output) {
  NodeProto& node = *graph_.add_node();
  node.set_op_type(std::string(op_type));
  node.set_name(output);
  for (std::string& name : inputs) node.add_input(std::move(name));
  node.add_output(std::move(output));
  return node;
}

void IrBody::AxisNode(std::string_view op_type, const std::string& from, int64_t axis, const std::string& to) {
  Node(op_type, {from, l_.Int64Constant("axis", {&axis, 1})}, to);
}

std::string IrBody::AddOutput(const std::string& hint) {
  std::string name = l_.Temporary(hint);
  graph_.add_output()->set_name(name);
  return name;
}

std::string IrBody::Use(IrValue& value) const {
  if (value.constant != nullptr) value.constant->used = true;
  return value.name;
}

bool IrBody::Read(const std::map<int, IrValue>& parameters) {
  const size_t refused = builder_.model.unsupported.size();
  reader_.ReadBody([&](int layer) {
    const auto found = parameters.find(layer);
    if (found == parameters.end()) Layer(layer).Fail("", "is no input of the port_map");
    return found->second;
  });
  return builder_.model.unsupported.size() == refused;
}

void IrBody::MoveTo(NodeProto& node, std::string_view attribute) { SetGraph(node, attribute) = std::move(graph_); }

}  // namespace ONNX_LIGHT_NAMESPACE
