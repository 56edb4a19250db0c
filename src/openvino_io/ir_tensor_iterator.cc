// SPDX-License-Identifier: Apache-2.0
// TensorIterator (https://docs.openvino.ai, opset1) as Scan: both walk slices of some inputs along an axis and carry
// states. A slice of TensorIterator keeps the axis, one of Scan loses it. Inputs that are the same in each iteration
// are outer values of the body.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openvino_io/ir_graph_reader.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Bodies in bodies: more would be no model's, and reading is recursive.
constexpr int kMostDepth = 16;

// One <input> or <output> of <port_map>.
struct PortMapping {
  int port = -1;            // of the layer, by position
  int layer = -1;           // of the body, by position
  std::optional<int> axis;  // sliced, or concatenated
  bool backwards = false;
};

// The parts of one TensorIterator.
class Iterator {
 public:
  explicit Iterator(IrLowering& l) : l_(l) {
    if (l.builder().depth >= kMostDepth)
      l.Refuse(fmt::format("bodies stand in each other more than {} deep", kMostDepth));
    const pugi::xml_node body = l.layer().node.child("body");
    if (body.empty()) l.layer().Fail("", "has no <body>");
    ReadIrLayers(body, body_);
    const pugi::xml_node map = l.layer().node.child("port_map");
    for (const pugi::xml_node node : map.children("input")) inputs_.push_back(ReadMapping(node, "Parameter"));
    for (const pugi::xml_node node : map.children("output")) outputs_.push_back(ReadMapping(node, "Result"));
    for (const pugi::xml_node node : l.layer().node.child("back_edges").children("edge")) {
      const int from = BodyLayer(node, "from-layer", "Result"), to = BodyLayer(node, "to-layer", "Parameter");
      if (!back_edges_.emplace(to, from).second)
        l.layer().Fail("back_edges", fmt::format("two lead to layer {} of the body", Body(to).id));
    }
    CheckMapping();
  }

  void Lower() {
    GraphProto graph;
    graph.set_name(l_.layer().name + "/body");
    IrBuilder builder{.model = l_.builder().model, .graph = &graph, .depth = l_.builder().depth + 1};
    // The scan's inputs: states, then what is sliced.
    std::vector<std::string> operands;
    std::vector<int64_t> axes, directions;
    const size_t refused = builder.model.unsupported.size();
    std::map<int, IrValue> parameters;
    for (const auto& [parameter, result] : back_edges_) {
      const PortMapping& input = InputOf(parameter);
      operands.push_back(l_.Use(input.port));
      parameters[parameter] = BodyInput(graph, parameter, l_.input(input.port));
    }
    for (const PortMapping& input : inputs_) {
      if (!input.axis) {
        if (!back_edges_.contains(input.layer)) parameters[input.layer] = l_.input(input.port);
        continue;
      }
      operands.push_back(l_.Use(input.port));
      axes.push_back(*input.axis);
      directions.push_back(input.backwards ? 1 : 0);
      parameters[input.layer] = Slice(graph, input);
    }
    if (axes.empty()) l_.Refuse("no input is sliced, so that nothing says how often it runs");
    IrGraphReader reader(body_, builder);
    reader.ReadBody([&](int layer) {
      const auto found = parameters.find(layer);
      if (found == parameters.end()) Body(layer).Fail("", "is no input of the port_map");
      return found->second;
    });
    if (builder.model.unsupported.size() > refused) return;  // they are listed; the model is not made
    WriteScan(graph, reader, std::move(operands), axes, directions);
  }

 private:
  const IrLayer& Body(int index) const { return body_.layers[static_cast<size_t>(index)]; }

  int BodyLayer(pugi::xml_node node, const char* attribute, std::string_view type) const {
    const int64_t id = Number(node, attribute, -1);
    const auto found = std::ranges::find(body_.layers, id, &IrLayer::id);
    if (found == body_.layers.end() || found->type != type)
      l_.layer().Fail(fmt::format("<{}>", node.name()),
                      fmt::format("attribute '{}' names layer {} of the body, which is no {}", attribute, id, type));
    return static_cast<int>(found - body_.layers.begin());
  }

  int64_t Number(pugi::xml_node node, const char* attribute, int64_t absent) const {
    const std::string_view text = node.attribute(attribute).value();
    if (text.empty()) return absent;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      l_.layer().Fail(fmt::format("<{}>", node.name()),
                      fmt::format("attribute '{}' must be an integer, got {}", attribute, QuoteForMessage(text)));
    return number;
  }

  PortMapping ReadMapping(pugi::xml_node node, std::string_view type) const {
    const bool is_input = type == "Parameter";
    PortMapping mapping;
    const int64_t id = Number(node, "external_port_id", -1);
    const std::vector<IrPort>& ports = is_input ? l_.layer().inputs : l_.layer().outputs;
    const auto port = std::ranges::find(ports, id, &IrPort::id);
    if (port == ports.end())
      l_.layer().Fail("port_map", fmt::format("names {} port {}, there is none", is_input ? "input" : "output", id));
    mapping.port = static_cast<int>(port - ports.begin());
    mapping.layer = BodyLayer(node, "internal_layer_id", type);
    if (node.attribute("axis").empty()) return mapping;
    const int64_t axis = Number(node, "axis", 0), start = Number(node, "start", 0), end = Number(node, "end", -1);
    const int64_t stride = Number(node, "stride", 1), part = Number(node, "part_size", 1);
    mapping.backwards = stride < 0;
    if (part != 1 || !((start == 0 && end == -1 && stride == 1) || (start == -1 && end == 0 && stride == -1)))
      l_.Refuse(fmt::format("slices from {} to {} by {} of size {}: only all of an axis, one by one, is read", start,
                            end, stride, part));
    if (axis < 0 || axis > 64) l_.Refuse(fmt::format("axis {} of the port_map", axis));
    mapping.axis = static_cast<int>(axis);
    return mapping;
  }

  const PortMapping& InputOf(int parameter) const {
    const auto found = std::ranges::find(inputs_, parameter, &PortMapping::layer);
    if (found == inputs_.end()) Body(parameter).Fail("", "is fed by a back edge, but by no input at first");
    return *found;
  }

  void CheckMapping() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const PortMapping& input = inputs_[i];
      if (std::ranges::count(inputs_, input.layer, &PortMapping::layer) > 1)
        Body(input.layer).Fail("", "is fed by two inputs of the port_map");
      if (input.axis && back_edges_.contains(input.layer))
        Body(input.layer).Fail("", "is a slice of an input, and fed by a back edge too");
    }
    for (size_t port = 0; port < l_.layer().outputs.size(); ++port)
      if (std::ranges::count(outputs_, static_cast<int>(port), &PortMapping::port) != 1)
        l_.layer().Fail("port_map", fmt::format("output port {} must be there once", l_.layer().outputs[port].id));
  }

  // A new input of the body's graph.
  IrValue BodyInput(GraphProto& graph, int parameter, const IrValue& outer) const {
    IrValue value{
        .name = l_.builder().model.names.Unique(Body(parameter).name), .type = outer.type, .rank = outer.rank};
    ValueInfoProto& info = *graph.add_input();
    info.set_name(value.name);
    if (value.type != TensorType::kUndefined)
      info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_optim::TensorTypeToDataType(value.type));
    return value;
  }

  // The slice as the body knows it, with the axis.
  IrValue Slice(GraphProto& graph, const PortMapping& input) {
    const IrValue part = BodyInput(graph, input.layer, l_.input(input.port));
    IrValue value = part;
    value.name = l_.Temporary("slice");
    AxisNode(graph, "Unsqueeze", part.name, *input.axis, value.name);
    return value;
  }

  void AxisNode(GraphProto& graph, std::string_view op_type, const std::string& from, int64_t axis,
                const std::string& to) {
    NodeProto& node = *graph.add_node();
    node.set_op_type(std::string(op_type));
    node.set_name(to);
    node.add_input(from);
    node.add_input(l_.Int64Constant("axis", {&axis, 1}));
    node.add_output(to);
  }

  std::string BodyOutput(GraphProto& graph, const std::string& hint) {
    std::string name = l_.Temporary(hint);
    graph.add_output()->set_name(name);
    return name;
  }

  void WriteScan(GraphProto& graph, IrGraphReader& reader, std::vector<std::string> operands,
                 const std::vector<int64_t>& axes, const std::vector<int64_t>& directions) {
    std::vector<std::string> results;
    const auto of_result = [&](const PortMapping& output) -> IrValue& { return l_.output(output.port); };
    const auto name_of = [&](IrValue& value) {
      if (value.constant != nullptr) value.constant->used = true;
      return value.name;
    };
    std::vector<bool> given(l_.layer().outputs.size(), false);
    for (const auto& [parameter, result] : back_edges_) {
      IrValue& value = reader.ResultValue(result);
      NodeProto& node = *graph.add_node();
      node.set_op_type("Identity");
      node.add_input(name_of(value));
      node.add_output(BodyOutput(graph, "state"));
      results.push_back(l_.Temporary("last"));
      for (const PortMapping& output : outputs_) {
        if (output.axis || output.layer != result || given[static_cast<size_t>(output.port)]) continue;
        given[static_cast<size_t>(output.port)] = true;
        results.back() = of_result(output).name;
        Describe(of_result(output), value);
        break;
      }
    }
    std::vector<int64_t> out_axes, out_directions;
    std::vector<std::pair<std::string, const PortMapping*>> lasts;
    for (const PortMapping& output : outputs_) {
      if (given[static_cast<size_t>(output.port)]) continue;
      IrValue& value = reader.ResultValue(output.layer);
      Describe(of_result(output), value);
      const std::string name = BodyOutput(graph, "part");
      if (output.axis) {
        AxisNode(graph, "Squeeze", name_of(value), *output.axis, name);
        results.push_back(of_result(output).name);
      } else {
        // What the last iteration gives and none takes over: all of them, of which the last is taken.
        NodeProto& node = *graph.add_node();
        node.set_op_type("Identity");
        node.add_input(name_of(value));
        node.add_output(name);
        results.push_back(l_.Temporary("all"));
        lasts.emplace_back(results.back(), &output);
      }
      out_axes.push_back(output.axis.value_or(0));
      out_directions.push_back(output.backwards ? 1 : 0);
    }
    NodeProto& scan = l_.Node("Scan", std::move(operands), std::move(results));
    scan.set_name(l_.layer().name);
    AttributeProto& body = *scan.add_attribute();
    body.set_name("body");
    body.set_type(AttributeProto::GRAPH);
    *body.mutable_g() = std::move(graph);
    SetInt(scan, "num_scan_inputs", static_cast<int64_t>(axes.size()));
    SetInts(scan, "scan_input_axes", axes);
    SetInts(scan, "scan_input_directions", directions);
    if (!out_axes.empty()) {
      SetInts(scan, "scan_output_axes", out_axes);
      SetInts(scan, "scan_output_directions", out_directions);
    }
    for (const auto& [all, output] : lasts) {
      constexpr int64_t kLast[] = {-1};
      const std::string one = l_.Temporary("last");
      SetInt(l_.Node("Gather", {all, l_.Int64Constant("last", kLast)}, {one}), "axis", 0);
      constexpr int64_t kFirst[] = {0};
      l_.Node("Squeeze", {one, l_.Int64Constant("axis", kFirst)}, {of_result(*output).name});
    }
  }

  static void Describe(IrValue& output, const IrValue& result) {
    output.type = result.type;
    output.rank = result.rank;
  }

  IrLowering& l_;
  IrLayers body_;
  std::vector<PortMapping> inputs_, outputs_;
  std::map<int, int> back_edges_;  // Parameter of the body -> Result, by position
};

}  // namespace

void LowerTensorIterator(IrLowering& l) { Iterator(l).Lower(); }

}  // namespace ONNX_LIGHT_NAMESPACE
