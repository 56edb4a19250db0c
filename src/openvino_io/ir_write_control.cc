// SPDX-License-Identifier: Apache-2.0
// Scan as TensorIterator, Loop as Loop, If as If. What bodies use of outer values are inputs of the layer.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "openvino_io/ir_metadata.h"
#include "openvino_io/ir_write_body.h"
#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The ports of the layer, and what is said of them.
class Ports {
 public:
  explicit Ports(IrNodeWriter& w) : w_(w) {}

  // The number of the new port.
  int Input(const IrRef& from) {
    text_.inputs.push_back(from);
    return static_cast<int>(text_.inputs.size()) - 1;
  }
  // Output ports count on from the inputs: their mappings are written once these are known.
  void Output(int output) { outputs_.push_back(output); }
  int OutputPort(size_t k) const { return static_cast<int>(text_.inputs.size() + k); }

  pugi::xml_node Write(std::string_view type, std::string_view version) {
    text_.name = w_.name();
    text_.type = type;
    text_.version = version;
    text_.rt_info = MetadataOf(w_.node(), kIrRtInfoKey);
    for (const int output : outputs_) text_.outputs.push_back({w_.OutputType(output), {w_.node().output(output)}});
    std::vector<IrRef> ports;
    pugi::xml_node node = w_.graph().xml().Add(text_, &ports);
    for (size_t k = 0; k < ports.size(); ++k) w_.Define(outputs_[k], ports[k]);
    return node;
  }

 private:
  IrNodeWriter& w_;
  IrLayerText text_;
  std::vector<int> outputs_;  // of the node
};

void AddBackEdge(pugi::xml_node back_edges, int result, int parameter) {
  pugi::xml_node edge = back_edges.append_child("edge");
  edge.append_attribute("from-layer").set_value(result);
  edge.append_attribute("to-layer").set_value(parameter);
}

void AddCaptures(IrNodeWriter& w, const IrBodyWriter& body, Ports& ports, pugi::xml_node map) {
  for (const auto& capture : body.captures())
    AddMapping(map, "input", ports.Input(w.graph().ValueOf(capture.name)), capture.parameter);
}

const GraphProto& BodyOf(IrNodeWriter& w, std::string_view attribute) {
  const AttributeProto* body = w.Attribute(attribute);
  if (body == nullptr || !body->has_g()) w.RefuseAttribute(attribute, "is missing");
  return body->g();
}

// The output of the node is used, or is one of the graph.
bool IsWanted(IrNodeWriter& w, int output) { return w.Gives(output) && w.graph().IsUsed(w.node().output(output)); }

// Of the `count` values of an attribute, which are all 0 when it is absent.
std::vector<int64_t> ZerosUnless(IrNodeWriter& w, std::string_view name, int count) {
  std::vector<int64_t> values = w.Ints(name);
  values.resize(static_cast<size_t>(count), 0);
  return values;
}

int64_t Positive(IrNodeWriter& w, std::string_view attribute, int64_t axis, const IrType& of) {
  if (of.ranked && (axis < -of.rank() || axis >= of.rank()))
    w.RefuseAttribute(attribute, fmt::format("{} is no axis of rank {}", axis, of.rank()));
  if (axis >= 0) return axis;
  if (!of.ranked) w.RefuseAttribute(attribute, "counts from the end of a rank that is not known");
  return axis + of.rank();
}

// Below 0 it is endless in IR, and none at all in ONNX.
IrRef TripCount(IrNodeWriter& w) {
  if (!w.Has(0)) return w.Int64("endless", -1);
  const auto known = w.ConstantInts(0);
  if (known && known->size() == 1 && known->front() >= 0) return w.In(0);
  const IrRef count = w.In(0);
  return w.Binary("Maximum", count, w.Int64("none", 0), *count.type);
}

}  // namespace

void WriteScan(IrNodeWriter& w) {
  if (w.opset() < 9)
    w.Refuse("", fmt::format("Scan of operator set {} has a batch, TensorIterator has none", w.opset()));
  const GraphProto& graph = BodyOf(w, "body");
  const int slices = static_cast<int>(w.Int("num_scan_inputs", 0)), states = w.input_size() - slices;
  const int parts = w.output_size() - states;
  if (slices < 1 || states < 0 || parts < 0 || graph.input_size() != w.input_size() ||
      graph.output_size() != w.output_size())
    w.Refuse("", "its inputs and outputs are not those of its body");
  const std::vector<int64_t> in_axes = ZerosUnless(w, "scan_input_axes", slices),
                             in_directions = ZerosUnless(w, "scan_input_directions", slices),
                             out_axes = ZerosUnless(w, "scan_output_axes", parts),
                             out_directions = ZerosUnless(w, "scan_output_directions", parts);
  IrBodyWriter body(w, graph, "body");
  Ports ports(w);
  pugi::xml_document scratch;
  pugi::xml_node map = scratch.append_child("port_map"), back_edges = scratch.append_child("back_edges");
  std::vector<int> parameters;
  for (int i = 0; i < states; ++i) {
    parameters.push_back(body.AddParameter(i));
    AddMapping(map, "input", ports.Input(w.In(i)), parameters.back());
  }
  for (int i = 0; i < slices; ++i) {
    const IrRef sliced = w.In(states + i);
    const auto k = static_cast<size_t>(i);
    const int64_t axis = Positive(w, "scan_input_axes", in_axes[k], *sliced.type);
    const int parameter = body.AddSlice(states + i, axis);
    AddMapping(map, "input", ports.Input(sliced), parameter, axis, in_directions[k] != 0);
  }
  std::vector<int64_t> part_axes;
  for (int i = 0; i < parts; ++i) {
    const int64_t axis = out_axes[static_cast<size_t>(i)];
    part_axes.push_back(w.Gives(states + i) ? Positive(w, "scan_output_axes", axis, w.OutputType(states + i)) : axis);
    body.DeclarePart(states + i, part_axes.back());
  }
  body.WriteNodes();
  AddCaptures(w, body, ports, map);
  size_t port = 0;
  for (int i = 0; i < states; ++i) {
    const int result = body.AddResult(i);
    AddBackEdge(back_edges, result, parameters[static_cast<size_t>(i)]);
    if (!IsWanted(w, i)) continue;
    ports.Output(i);
    AddMapping(map, "output", ports.OutputPort(port++), result);
  }
  for (int i = 0; i < parts; ++i) {
    if (!IsWanted(w, states + i)) continue;
    const auto k = static_cast<size_t>(i);
    ports.Output(states + i);
    AddMapping(map, "output", ports.OutputPort(port++), body.AddPart(states + i, part_axes[k]), part_axes[k],
               out_directions[k] != 0);
  }
  pugi::xml_node layer = ports.Write("TensorIterator", "opset1");
  layer.prepend_copy(back_edges);
  layer.prepend_copy(map);
  body.MoveTo(layer);
}

void WriteLoop(IrNodeWriter& w) {
  const GraphProto& graph = BodyOf(w, "body");
  const int states = w.input_size() - 2, parts = w.output_size() - states;
  if (states < 0 || parts < 0 || graph.input_size() != states + 2 || graph.output_size() != w.output_size() + 1)
    w.Refuse("", "its inputs and outputs are not those of its body");
  IrBodyWriter body(w, graph, "body");
  Ports ports(w);
  pugi::xml_document scratch;
  pugi::xml_node map = scratch.append_child("port_map"), back_edges = scratch.append_child("back_edges");
  const std::string iteration = body.InputName(0), condition = body.InputName(1);
  ports.Input(TripCount(w));
  const IrRef first = w.Has(1) ? w.In(1) : w.Const("true", TensorType::kBool, {}, Bytes(std::string(1, '\1')));
  ports.Input(first);
  // The first Parameter: OpenVINO removes those of states that stay as they are, but not from the number of this one.
  const int counter = body.IsUsed(iteration) ? body.AddParameter(0) : -1;
  const std::vector<IrBodyWriter::Slice> slices = body.AddGatheredSlices(iteration);
  for (const IrBodyWriter::Slice& slice : slices)
    AddMapping(map, "input", ports.Input(w.graph().ValueOf(slice.outer)), slice.parameter, slice.axis);
  std::vector<int> parameters;
  for (int i = 0; i < states; ++i) {
    parameters.push_back(body.AddParameter(i + 2));
    AddMapping(map, "input", ports.Input(w.In(i + 2)), parameters.back());
  }
  int condition_parameter = -1;
  if (body.IsUsed(condition)) {
    condition_parameter = body.AddParameter(1);
    AddMapping(map, "input", ports.Input(first), condition_parameter);
  }
  body.DeclareOneElement(0);
  for (int i = 0; i < parts; ++i) body.DeclarePart(states + i + 1, 0);
  body.WriteNodes();
  AddCaptures(w, body, ports, map);
  size_t port = 0;
  const int go_on = body.AddResult(0);
  if (condition_parameter >= 0) AddBackEdge(back_edges, go_on, condition_parameter);
  for (int i = 0; i < states; ++i) {
    const int result = body.AddResult(i + 1);
    AddBackEdge(back_edges, result, parameters[static_cast<size_t>(i)]);
    if (!IsWanted(w, i)) continue;
    ports.Output(i);
    AddMapping(map, "output", ports.OutputPort(port++), result);
  }
  for (int i = states; i < w.output_size(); ++i) {
    if (!IsWanted(w, i)) continue;
    ports.Output(i);
    AddMapping(map, "output", ports.OutputPort(port++), body.AddPart(i + 1, 0), 0);
  }
  if (counter >= 0) {
    AddMapping(map, "input", -1, counter);
    map.last_child().append_attribute("purpose").set_value("current_iteration");
  }
  AddMapping(map, "output", -1, go_on);
  map.last_child().append_attribute("purpose").set_value("execution_condition");
  pugi::xml_node layer = ports.Write("Loop", "opset5");
  layer.prepend_copy(back_edges);
  layer.prepend_copy(map);
  body.MoveTo(layer);
}

void WriteIf(IrNodeWriter& w) {
  Ports ports(w);
  ports.Input(w.In(0));
  std::map<std::string, int> shared;  // outer values of both branches
  pugi::xml_document scratch;
  std::vector<std::unique_ptr<IrBodyWriter>> bodies;
  for (const char* branch : {"then", "else"}) {
    const std::string name = branch;
    bodies.push_back(std::make_unique<IrBodyWriter>(w, BodyOf(w, name + "_branch"), (name + "_body").c_str()));
    IrBodyWriter& body = *bodies.back();
    if (body.graph().output_size() != w.output_size()) w.Refuse("", "its outputs are not those of its branches");
    body.WriteNodes();
    pugi::xml_node map = scratch.append_child((name + "_port_map").c_str());
    std::vector<int> results;
    for (int i = 0; i < w.output_size(); ++i) results.push_back(body.AddResult(i));
    for (const auto& capture : body.captures()) {
      auto known = shared.find(capture.name);
      if (known == shared.end())
        known = shared.emplace(capture.name, ports.Input(w.graph().ValueOf(capture.name))).first;
      AddMapping(map, "input", known->second, capture.parameter);
    }
    // Numbered once the inputs of both are known.
    for (int i = 0; i < w.output_size(); ++i)
      if (w.Gives(i)) AddMapping(map, "output", 0, results[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < w.output_size(); ++i)
    if (w.Gives(i)) ports.Output(i);
  for (pugi::xml_node map : scratch.children()) {
    size_t port = 0;
    for (pugi::xml_node output : map.children("output"))
      output.attribute("external_port_id").set_value(ports.OutputPort(port++));
  }
  pugi::xml_node layer = ports.Write("If", "opset8");
  layer.prepend_copy(scratch.child("then_port_map"));
  layer.prepend_copy(scratch.child("else_port_map"));
  for (const auto& body : bodies) body->MoveTo(layer);
}

}  // namespace ONNX_LIGHT_NAMESPACE
