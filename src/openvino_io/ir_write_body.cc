// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_write_body.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

IrType WithAxis(IrType type, int64_t axis, int64_t size) {
  if (type.ranked && axis >= 0 && axis <= static_cast<int64_t>(type.dims.size()))
    type.dims.insert(type.dims.begin() + axis, size);
  return type;
}

}  // namespace

const NodeProto* IrBodyWriter::Producer(std::string_view name) const {
  for (const NodeProto& node : graph_.node())
    if (std::ranges::any_of(node.output(), [&](const String& output) { return output == name; })) return &node;
  return nullptr;
}

// Squeeze or Unsqueeze of this one axis.
bool IrBodyWriter::IsAxis(const NodeProto& node, int64_t axis) const {
  if (node.input_size() != 2) return false;
  const TensorProto* axes = layers_.ConstantOf(node.input(1));
  return axes != nullptr && axes->data_type() == TensorProto::INT64 &&
         ConstantBytes(*axes) == Bytes(&axis, sizeof(axis));
}

IrRef IrBodyWriter::AxisLayer(const char* type, const IrRef& value, int64_t axis, IrType result) {
  TensorProto axes;
  axes.set_name("axis");
  axes.set_data_type(TensorProto::INT64);
  axes.add_dims(1);
  axes.set_raw_data(Bytes(&axis, sizeof(axis)));
  IrLayerText layer{.name = w_.name() + "/" + type,
                    .type = type,
                    .version = "opset1",
                    .data = {},
                    .inputs = {value, layers_.AddConst(axes)},
                    .outputs = {{std::move(result), {}}},
                    .rt_info = {}};
  std::vector<IrRef> ports;
  layers_.xml().Add(layer, &ports);
  return ports.front();
}

int IrBodyWriter::AddParameter(int input) {
  const IrRef port = layers_.AddParameter(InputName(input), layers_.TypeOf(InputName(input)));
  layers_.Define(InputName(input), port);
  return port.layer;
}

int IrBodyWriter::AddSlice(int input, int64_t axis) {
  const std::string name = InputName(input);
  const IrType type = layers_.TypeOf(name);
  const IrRef port = layers_.AddParameter(name, WithAxis(type, axis, 1));
  // What only puts the axis back is the Parameter itself.
  int others = 0;
  for (const NodeProto& node : graph_.node()) {
    if (node.op_type() == "Unsqueeze" && node.input(0) == name && IsAxis(node, axis)) {
      layers_.Define(node.output(0), port);
      layers_.Skip(node);
    } else if (IrGraphWriter::Uses(node, name)) {
      ++others;
    }
  }
  others +=
      static_cast<int>(std::ranges::count_if(graph_.output(), [&](const auto& info) { return info.name() == name; }));
  if (others > 0) layers_.Define(name, AxisLayer("Squeeze", port, axis, type));
  return port.layer;
}

std::vector<IrBodyWriter::Slice> IrBodyWriter::AddGatheredSlices(const std::string& iteration) {
  std::vector<Slice> slices;
  for (const NodeProto& gather : graph_.node()) {
    if (gather.op_type() != "Gather" || gather.input_size() != 2 || layers_.IsOwn(gather.input(0))) continue;
    const NodeProto* at = Producer(gather.input(1));
    if (at == nullptr || at->op_type() != "Unsqueeze" || at->input(0) != iteration || !IsAxis(*at, 0)) continue;
    const auto uses =
        std::ranges::count_if(graph_.node(),
                              [&](const NodeProto& node) { return IrGraphWriter::Uses(node, gather.input(1)); }) +
        std::ranges::count_if(graph_.output(),
                              [&](const ValueInfoProto& info) { return info.name() == gather.input(1); });
    const auto axis = std::ranges::find(gather.attribute(), std::string_view("axis"),
                                        [](const AttributeProto& a) { return std::string_view(a.name()); });
    const int64_t along = axis == gather.attribute().end() ? 0 : axis->i();
    if (uses != 1 || along < 0) continue;
    const IrRef port = layers_.AddParameter(gather.output(0), layers_.TypeOf(gather.output(0)));
    layers_.Define(gather.output(0), port);
    layers_.Skip(gather);
    layers_.Skip(*at);
    slices.push_back({gather.input(0), along, port.layer});
  }
  return slices;
}

const NodeProto* IrBodyWriter::OnlyFor(int output, std::string_view op_type) const {
  const std::string name = OutputName(output);
  const NodeProto* node = Producer(name);
  if (node == nullptr || node->op_type() != op_type) return nullptr;
  const auto uses =
      std::ranges::count_if(graph_.output(), [&](const auto& info) { return info.name() == name; }) +
      std::ranges::count_if(graph_.node(), [&](const NodeProto& user) { return IrGraphWriter::Uses(user, name); });
  return uses == 1 ? node : nullptr;
}

// What only takes the axis away is left out.
void IrBodyWriter::DeclarePart(int output, int64_t axis) {
  const NodeProto* node = OnlyFor(output, "Squeeze");
  if (node != nullptr && IsAxis(*node, axis)) layers_.Skip(*node);
}

void IrBodyWriter::DeclareOneElement(int output) {
  const NodeProto* node = OnlyFor(output, "Reshape");
  if (node != nullptr && node->input_size() == 2) layers_.Skip(*node);
}

int IrBodyWriter::AddResult(int output) {
  const std::string name = OutputName(output);
  const NodeProto* node = Producer(name);
  const bool skipped = node != nullptr && layers_.IsSkipped(*node);
  return layers_.AddResult(name, layers_.ValueOf(skipped ? node->input(0).as_string() : name), false);
}

int IrBodyWriter::AddPart(int output, int64_t axis) {
  const std::string name = OutputName(output);
  const NodeProto* node = Producer(name);
  if (node != nullptr && layers_.IsSkipped(*node)) return AddResult(output);
  const IrRef value = layers_.ValueOf(name);
  return layers_.AddResult(name, AxisLayer("Unsqueeze", value, axis, WithAxis(*value.type, axis, 1)), false);
}

void AddMapping(pugi::xml_node map, const char* side, int port, int layer, std::optional<int64_t> axis,
                bool backwards) {
  pugi::xml_node mapping = map.append_child(side);
  mapping.append_attribute("external_port_id").set_value(port);
  mapping.append_attribute("internal_layer_id").set_value(layer);
  if (!axis) return;
  mapping.append_attribute("axis").set_value(static_cast<long long>(*axis));
  mapping.append_attribute("start").set_value(backwards ? -1 : 0);
  mapping.append_attribute("end").set_value(backwards ? 0 : -1);
  mapping.append_attribute("stride").set_value(backwards ? -1 : 1);
  mapping.append_attribute("part_size").set_value(1);
}

}  // namespace ONNX_LIGHT_NAMESPACE
