// SPDX-License-Identifier: Apache-2.0
// If (opset8) as If: inputs of the layer are outer values of its bodies.
#include <algorithm>
#include <utility>

#include "openvino_io/ir_body.h"
#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

void LowerIf(IrLowering& l) {
  bool read = true;
  NodeProto node;
  for (const char* branch : {"then", "else"}) {
    IrBody body(l, (branch + std::string("_body")).c_str());
    const pugi::xml_node map = l.layer().node.child((branch + std::string("_port_map")).c_str());
    const std::vector<IrPortMapping> inputs = body.Inputs(map), outputs = body.Outputs(map);
    body.Check(inputs, outputs, {});
    std::map<int, IrValue> parameters;
    for (const IrPortMapping& input : inputs) parameters[input.layer] = l.input(input.port);
    if (!body.Read(parameters)) {
      read = false;
      continue;
    }
    for (int port = 0; port < static_cast<int>(l.layer().outputs.size()); ++port) {
      IrValue& value = body.ResultValue(std::ranges::find(outputs, port, &IrPortMapping::port)->layer);
      body.Node("Identity", {body.Use(value)}, body.AddOutput(branch));
      if (l.output(port).type == TensorType::kUndefined) l.output(port).type = value.type;
      const bool first = branch == std::string_view("then");
      l.output(port).rank = first || l.output(port).rank == value.rank ? value.rank : -1;
    }
    body.MoveTo(node, branch + std::string("_branch"));
  }
  if (!read) return;
  std::vector<std::string> outputs;
  for (size_t i = 0; i < l.layer().outputs.size(); ++i) outputs.push_back(l.output(static_cast<int>(i)).name);
  NodeProto& written = l.Node("If", {l.Use(0)}, std::move(outputs));
  *written.mutable_attribute() = std::move(*node.mutable_attribute());
}

}  // namespace ONNX_LIGHT_NAMESPACE
