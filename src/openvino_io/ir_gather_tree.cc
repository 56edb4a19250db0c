// SPDX-License-Identifier: Apache-2.0
// GatherTree: beams [T, B, W] of a search, put together from their ends.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

NodeProto& AddNode(GraphProto& graph, std::string_view op_type, std::vector<std::string> inputs, std::string output) {
  NodeProto& node = *graph.add_node();
  node.set_op_type(std::string(op_type));
  node.set_name(output);
  for (std::string& name : inputs) node.add_input(std::move(name));
  node.add_output(std::move(output));
  return node;
}

}  // namespace

// A Scan from the last step to the first knows which beam each one goes on as; from the first end token on all are
// such.
void LowerGatherTree(IrLowering& l) {
  const TensorType type = l.KnownType(0), int64 = TensorType::kInt64;
  const std::string steps = l.Use(0), parents = l.Int64(1, false);
  const std::string lengths = l.Apply("Unsqueeze", {l.Int64(2, true), l.Int64Constant("axes", {1})});
  const std::string end = l.Apply("Reshape", {l.Use(3), l.Int64Constant("scalar", std::vector<int64_t>())});
  const std::string sizes =
      l.Apply("Slice", {l.Apply("Shape", {steps}), l.Int64Constant("from", {1}), l.Int64Constant("to", {3})});
  const std::string own = l.Apply("Expand", {l.CountTo(l.AxisSize(steps, 2)), sizes});
  const std::string time = l.CountTo(l.AxisSize(steps, 0));

  GraphProto body;
  body.set_name(l.layer().name + "/body");
  std::vector<std::string> inputs;
  for (const char* hint : {"beam", "ids", "parents", "time"}) {
    inputs.push_back(l.Temporary(hint));
    body.add_input()->set_name(inputs.back());
  }
  const std::string active = l.Temporary("active"), id = l.Temporary("id"), parent = l.Temporary("parent");
  const std::string next = l.Temporary("next"), given = l.Temporary("given");
  AddNode(body, "Less", {inputs[3], lengths}, active);
  SetInt(AddNode(body, "GatherElements", {inputs[1], inputs[0]}, id), "axis", 1);
  SetInt(AddNode(body, "GatherElements", {inputs[2], inputs[0]}, parent), "axis", 1);
  AddNode(body, "Where", {active, parent, inputs[0]}, next);
  AddNode(body, "Where", {active, id, end}, given);
  body.add_output()->set_name(next);
  body.add_output()->set_name(given);

  const std::string beams = l.Temporary("beams");
  NodeProto& scan = l.Node("Scan", {own, steps, parents, time}, {l.Temporary("first"), beams});
  SetGraph(scan, "body") = std::move(body);
  SetInt(scan, "num_scan_inputs", 3);
  SetInts(scan, "scan_input_directions", std::vector<int64_t>{1, 1, 1});
  SetInts(scan, "scan_output_directions", std::vector<int64_t>{1});

  const std::string is_end = l.CastTo(l.Apply("Equal", {beams, end}), int64);
  const std::string ends = l.Apply("CumSum", {is_end, l.Int64Constant("axis", {0})});
  const std::string before = l.Apply("Sub", {ends, is_end});
  const std::string over = l.Apply("Greater", {before, l.ScalarConstant("zero", int64, 0)});
  l.Finish("Where", {over, end, beams});
  l.output(0).type = type;
  l.output(0).rank = 3;
}

}  // namespace ONNX_LIGHT_NAMESPACE
