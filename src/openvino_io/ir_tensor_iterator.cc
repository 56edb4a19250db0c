// SPDX-License-Identifier: Apache-2.0
// TensorIterator (https://docs.openvino.ai, opset1) as Scan: both walk slices of some inputs along an axis and carry
// states. A slice of TensorIterator keeps the axis, one of Scan loses it. Inputs that are the same in each iteration
// are outer values of the body.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "openvino_io/ir_body.h"
#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The parts of one TensorIterator.
class Iterator {
 public:
  explicit Iterator(IrLowering& l)
      : l_(l),
        body_(l, "body"),
        inputs_(body_.Inputs(l.layer().node.child("port_map"))),
        outputs_(body_.Outputs(l.layer().node.child("port_map"))),
        back_edges_(body_.BackEdges()) {
    body_.Check(inputs_, outputs_, back_edges_);
  }

  void Lower() {
    // The scan's inputs: states, then what is sliced.
    std::vector<std::string> operands;
    std::vector<int64_t> axes, directions;
    std::map<int, IrValue> parameters;
    for (const auto& [parameter, result] : back_edges_) {
      const IrPortMapping& input = *std::ranges::find(inputs_, parameter, &IrPortMapping::layer);
      operands.push_back(l_.Use(input.port));
      parameters[parameter] = body_.AddInput(parameter, l_.input(input.port));
    }
    for (const IrPortMapping& input : inputs_) {
      if (!input.axis) {
        if (!back_edges_.contains(input.layer)) parameters[input.layer] = l_.input(input.port);
        continue;
      }
      operands.push_back(l_.Use(input.port));
      axes.push_back(*input.axis);
      directions.push_back(input.backwards ? 1 : 0);
      parameters[input.layer] = Slice(input);
    }
    if (axes.empty()) l_.Refuse("no input is sliced, so that nothing says how often it runs");
    if (body_.Read(parameters)) WriteScan(std::move(operands), axes, directions);
  }

 private:
  // The slice as the body knows it, with the axis.
  IrValue Slice(const IrPortMapping& input) {
    const IrValue part = body_.AddInput(input.layer, l_.input(input.port));
    IrValue value = part;
    value.name = l_.Temporary("slice");
    body_.AxisNode("Unsqueeze", part.name, *input.axis, value.name);
    return value;
  }

  void WriteScan(std::vector<std::string> operands, const std::vector<int64_t>& axes,
                 const std::vector<int64_t>& directions) {
    std::vector<std::string> results;
    const auto of_result = [&](const IrPortMapping& output) -> IrValue& { return l_.output(output.port); };
    std::vector<bool> given(l_.layer().outputs.size(), false);
    for (const auto& [parameter, result] : back_edges_) {
      IrValue& value = body_.ResultValue(result);
      body_.Node("Identity", {body_.Use(value)}, body_.AddOutput("state"));
      results.push_back(l_.Temporary("last"));
      for (const IrPortMapping& output : outputs_) {
        if (output.axis || output.layer != result || given[static_cast<size_t>(output.port)]) continue;
        given[static_cast<size_t>(output.port)] = true;
        results.back() = of_result(output).name;
        Describe(of_result(output), value);
        break;
      }
    }
    std::vector<int64_t> out_axes, out_directions;
    std::vector<std::pair<std::string, const IrPortMapping*>> lasts;
    for (const IrPortMapping& output : outputs_) {
      if (given[static_cast<size_t>(output.port)]) continue;
      IrValue& value = body_.ResultValue(output.layer);
      Describe(of_result(output), value);
      const std::string name = body_.AddOutput("part");
      if (output.axis) {
        body_.AxisNode("Squeeze", body_.Use(value), *output.axis, name);
        results.push_back(of_result(output).name);
      } else {
        // What the last iteration gives and none takes over: all of them, of which the last is taken.
        body_.Node("Identity", {body_.Use(value)}, name);
        results.push_back(l_.Temporary("all"));
        lasts.emplace_back(results.back(), &output);
      }
      out_axes.push_back(output.axis.value_or(0));
      out_directions.push_back(output.backwards ? 1 : 0);
    }
    NodeProto& scan = l_.Node("Scan", std::move(operands), std::move(results));
    body_.MoveTo(scan, "body");
    SetInt(scan, "num_scan_inputs", static_cast<int64_t>(axes.size()));
    SetInts(scan, "scan_input_axes", axes);
    SetInts(scan, "scan_input_directions", directions);
    if (!out_axes.empty()) {
      SetInts(scan, "scan_output_axes", out_axes);
      SetInts(scan, "scan_output_directions", out_directions);
    }
    for (const auto& [all, output] : lasts) l_.TakeLast(all, of_result(*output).name);
  }

  static void Describe(IrValue& output, const IrValue& result) {
    output.type = result.type;
    output.rank = result.rank;
  }

  IrLowering& l_;
  IrBody body_;
  std::vector<IrPortMapping> inputs_, outputs_;
  std::map<int, int> back_edges_;  // Parameter of the body -> Result, by position
};

}  // namespace

void LowerTensorIterator(IrLowering& l) { Iterator(l).Lower(); }

}  // namespace ONNX_LIGHT_NAMESPACE
