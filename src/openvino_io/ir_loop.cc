// SPDX-License-Identifier: Apache-2.0
// Loop (opset5) as Loop. A slice of an input is gathered at the iteration; concatenated outputs are stacked along a new
// first axis, which then goes where they were concatenated.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "openvino_io/ir_body.h"
#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class LoopReader {
 public:
  explicit LoopReader(IrLowering& l)
      : l_(l),
        body_(l, "body"),
        map_(l.layer().node.child("port_map")),
        inputs_(body_.Inputs(map_)),
        outputs_(body_.Outputs(map_)),
        back_edges_(body_.BackEdges()) {
    body_.Check(inputs_, outputs_, back_edges_);
    condition_ = body_.Purpose(map_, "output", "Result", "execution_condition");
    if (condition_ < 0) l.layer().Fail("port_map", "names no output as the execution_condition");
  }

  void Lower() {
    const int counter = body_.Purpose(map_, "input", "Parameter", "current_iteration");
    iteration_ = l_.Temporary("iteration");
    AddScalar(iteration_, TensorProto::INT64);
    AddScalar(l_.Temporary("condition"), TensorProto::BOOL);
    std::map<int, IrValue> parameters;
    std::vector<std::string> operands{TripCount(), l_.Use(1)};
    for (const IrPortMapping& input : inputs_) {
      if (back_edges_.contains(input.layer)) continue;
      parameters[input.layer] = input.axis ? Slice(input) : l_.input(input.port);
    }
    for (const auto& [parameter, result] : back_edges_) {
      const IrPortMapping& input = *std::ranges::find(inputs_, parameter, &IrPortMapping::layer);
      operands.push_back(l_.Use(input.port));
      parameters[parameter] = body_.AddInput(parameter, l_.input(input.port));
      parameters[parameter].rank = -1;  // a state may change its shape
    }
    if (counter >= 0) parameters[counter] = Counter(counter);
    if (body_.Read(parameters)) Write(std::move(operands));
  }

 private:
  void AddScalar(const std::string& name, int32_t type) {
    ValueInfoProto& info = *body_.graph().add_input();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    (void)info.mutable_type()->mutable_tensor_type()->mutable_shape();
  }

  // A count below 0 is none.
  std::string TripCount() {
    if (const auto count = l_.ConstantInts(0); count && count->size() == 1)
      return count->front() < 0 ? std::string() : l_.Int64(0, false);
    const std::string count = l_.Int64(0, false), zero = l_.ScalarConstant("zero", TensorType::kInt64, 0);
    const std::string most = l_.Int64Constant("most", std::array<int64_t, 1>{std::numeric_limits<int64_t>::max()});
    return l_.Apply("Where", {l_.Apply("Less", {count, zero}), most, count});
  }

  // The number of the iteration in the type and rank the body's Parameter has.
  IrValue Counter(int parameter) {
    const IrAttributes attrs(body_.Layer(parameter));
    IrValue value{.name = iteration_, .type = attrs.ElementType("element_type"), .rank = 0};
    if (value.type != TensorType::kInt64) {
      const std::string cast = l_.Temporary("iteration");
      SetInt(body_.Node("Cast", {value.name}, cast), "to", onnx_optim::TensorTypeToDataType(value.type));
      value.name = cast;
    }
    if (const auto dims = attrs.PartialShape("shape"); dims && dims->size() == 1) {
      const std::string vector = l_.Temporary("iteration");
      body_.AxisNode("Unsqueeze", value.name, 0, vector);
      value.name = vector;
      value.rank = 1;
    }
    return value;
  }

  // At the iteration, or as far from the end.
  IrValue Slice(const IrPortMapping& input) {
    IrValue value{.name = l_.Temporary("slice"), .type = l_.input(input.port).type, .rank = l_.input(input.port).rank};
    std::string at = iteration_;
    if (input.backwards) {
      const std::string last = l_.ScalarConstant("last", TensorType::kInt64, -1), back = l_.Temporary("from_end");
      body_.Node("Sub", {last, iteration_}, back);
      at = back;
    }
    const std::string vector = l_.Temporary("at");
    body_.AxisNode("Unsqueeze", at, 0, vector);
    SetInt(body_.Node("Gather", {l_.Use(input.port), vector}, value.name), "axis", *input.axis);
    return value;
  }

  void Write(std::vector<std::string> operands) {
    const std::string scalar = l_.Int64Constant("scalar", std::vector<int64_t>());
    body_.Node("Reshape", {body_.Use(body_.ResultValue(condition_)), scalar}, body_.AddOutput("condition"));
    std::vector<std::string> results;
    std::map<int, std::string> states;  // of a Result: what it is at last
    for (const auto& [parameter, result] : back_edges_) {
      body_.Node("Identity", {body_.Use(body_.ResultValue(result))}, body_.AddOutput("state"));
      results.push_back(l_.Temporary("last"));
      states.emplace(result, results.back());
    }
    struct After {
      std::string from;
      const IrPortMapping* output;
      bool is_state;
    };
    std::vector<After> after;
    for (const IrPortMapping& output : outputs_) {
      IrValue& value = body_.ResultValue(output.layer);
      l_.output(output.port).type = value.type;
      l_.output(output.port).rank = value.rank;
      if (const auto state = states.find(output.layer); !output.axis && state != states.end()) {
        after.push_back({state->second, &output, true});
        continue;
      }
      const std::string name = body_.AddOutput("part");
      if (output.axis) {
        if (output.backwards) l_.Refuse("outputs concatenated backwards are not read");
        body_.AxisNode("Squeeze", body_.Use(value), *output.axis, name);
      } else {
        body_.Node("Identity", {body_.Use(value)}, name);
      }
      results.push_back(l_.Temporary("all"));
      after.push_back({results.back(), &output, false});
    }
    NodeProto& loop = l_.Node("Loop", std::move(operands), std::move(results));
    loop.set_name(l_.layer().name);
    body_.MoveTo(loop, "body");
    for (const auto& [from, output, is_state] : after) {
      IrValue& to = l_.output(output->port);
      if (is_state || (output->axis && *output->axis == 0)) {
        l_.Node("Identity", {from}, {to.name}).set_name(to.name);
      } else if (!output->axis) {
        l_.TakeLast(from, to.name);
      } else {
        if (to.rank < 0) l_.Refuse(fmt::format("the rank of output {} must be known", output->port));
        if (*output->axis >= to.rank)
          l_.layer().Fail("port_map", fmt::format("concatenates along axis {} of rank {}", *output->axis, to.rank));
        std::vector<int64_t> perm(static_cast<size_t>(to.rank));
        std::iota(perm.begin(), perm.end(), int64_t{0});
        std::rotate(perm.begin(), perm.begin() + 1, perm.begin() + *output->axis + 1);
        SetInts(l_.Node("Transpose", {from}, {to.name}), "perm", perm);
      }
    }
  }

  IrLowering& l_;
  IrBody body_;
  pugi::xml_node map_;
  std::vector<IrPortMapping> inputs_, outputs_;
  std::map<int, int> back_edges_;
  int condition_ = -1;
  std::string iteration_;
};

}  // namespace

void LowerLoop(IrLowering& l) { LoopReader(l).Lower(); }

}  // namespace ONNX_LIGHT_NAMESPACE
