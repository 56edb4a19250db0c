// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "model/set_attribute.h"
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Where axis `axis` of an element lies in the batched value.
int64_t Shifted(const Batched& value, int axis) { return value.IsStacked() ? axis + 1 : axis; }

// The node as it is, for all elements: outputs in the form of input 0. `axis` is an attribute.
bool WithAxis(BatchNode& node, int axis) {
  for (const Batched& output : node.outputs)
    if (!output.name.empty() && output.form != node.inputs[0].form) return node.Fail("lengths become other sizes");
  SetInt(node.Copy(node.InputNames(), {"axis"}), "axis", Shifted(node.inputs[0], axis));
  return true;
}

}  // namespace

bool BatchReduce(BatchNode& node) {
  const Batched& x = node.inputs[0];
  const bool takes_input = node.op.inputs.size() > 1;
  std::vector<int64_t> axes;
  if (takes_input && node.HasInput(1)) {
    if (!node.inputs[1].IsUniform() || !node.ints[1]) return node.Fail("its axes are not known");
    axes = *node.ints[1];
  } else if (!takes_input) {
    axes = node.attrs.Ints("axes");
  }
  if (axes.empty()) {
    if (node.attrs.Int("noop_with_empty_axes", 0) != 0) return node.Fail("it reduces nothing");
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  bool over_lengths = false;
  for (int64_t& axis : axes) {
    const std::optional<int> found = node.Axis(axis);
    if (!found) return node.Fail("an axis is outside");
    over_lengths = over_lengths || (x.IsPacked() && *found == x.axis);
    axis = over_lengths ? *found : Shifted(x, *found);
    if (x.IsPacked()) axis = *found;
  }
  if (over_lengths) {
    const std::string_view type = node.op.type;
    NodeProto& segments = node.graph.Node("SegmentReduce", {x.name, node.graph.Lengths(x.length())},
                                          {node.outputs[0].name}, kInternalDomain);
    SetString(segments, "op", std::string(type.substr(std::string_view("Reduce").size())));
    SetInt(segments, "axis", x.axis);
    SetInts(segments, "axes", axes);
    SetInt(segments, "keepdims", node.attrs.Int("keepdims", 1));
    return true;
  }
  if (x.IsStacked() && x.rank() == 0) return node.Fail("an element is a scalar");
  if (takes_input) {
    node.Copy({x.name, node.graph.Ints(axes)});
  } else {
    SetInts(node.Copy({x.name}, {"axes"}), "axes", axes);
  }
  return true;
}

bool BatchSoftmax(BatchNode& node) {
  const Batched& x = node.inputs[0];
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis", -1));
  if (!axis) return node.Fail("an axis is outside");
  if (!x.IsPacked() || *axis != x.axis) return WithAxis(node, *axis);
  NodeProto& segments = node.graph.Node("SegmentSoftmax", {x.name, node.graph.Lengths(x.length())},
                                        {node.outputs[0].name}, kInternalDomain);
  SetInt(segments, "axis", x.axis);
  SetInt(segments, "log", node.op.type == "LogSoftmax" ? 1 : 0);
  return true;
}

bool BatchAxisAttribute(BatchNode& node) {
  const Batched& x = node.inputs[0];
  const bool first_is_default = node.op.type == "ArgMax" || node.op.type == "ArgMin";
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis", first_is_default ? 0 : -1));
  if (!axis) return node.Fail("an axis is outside");
  if (x.IsPacked() && *axis == x.axis) return node.Fail("its axis is the one of the lengths");
  if (!node.AreUniform(1)) return node.Fail("input 1 differs between elements");
  return WithAxis(node, *axis);
}

bool BatchNormalizedAxes(BatchNode& node) {
  const Batched& x = node.inputs[0];
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis", -1));
  if (!axis) return node.Fail("an axis is outside");
  if (x.IsPacked() && *axis <= x.axis) return node.Fail("it goes over the lengths");
  if (!node.AreUniform(1)) return node.Fail("its scale or bias differs between elements");
  return WithAxis(node, *axis);
}

bool BatchCumulative(BatchNode& node) {
  const Batched& x = node.inputs[0];
  if (!node.HasInput(1) || !node.inputs[1].IsUniform() || !node.ints[1] || node.ints[1]->size() != 1)
    return node.Fail("its axis is not known");
  const std::optional<int> axis = node.Axis(node.ints[1]->front());
  if (!axis) return node.Fail("an axis is outside");
  if (x.IsPacked() && *axis == x.axis) return node.Fail("its axis is the one of the lengths");
  node.Copy({x.name, node.graph.IntScalar(Shifted(x, *axis))});
  return true;
}

bool BatchGather(BatchNode& node) {
  const Batched &data = node.inputs[0], &indices = node.inputs[1], &out = node.outputs[0];
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis", 0));
  if (!axis) return node.Fail("an axis is outside");
  if (data.IsUniform()) {
    if (*axis != 0) return node.Fail("the axis is not the first");
    node.Copy(node.InputNames());
    return true;
  }
  if (!indices.IsUniform()) return node.Fail("data and indices differ between elements");
  if (data.IsPacked() && *axis == data.axis) {
    SetInt(node.graph.Node("SegmentGather", {data.name, node.graph.Lengths(data.length()), indices.name}, {out.name},
                           kInternalDomain),
           "axis", data.axis);
    return true;
  }
  return WithAxis(node, *axis);
}

bool BatchConcat(BatchNode& node) {
  const Batched& out = node.outputs[0];
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis"));
  if (!axis) return node.Fail("an axis is outside");
  std::vector<std::string> names;
  for (const Batched& input : node.inputs) {
    if (out.IsPacked()) {
      if (*axis == out.axis) return node.Fail("its axis is the one of the lengths");
      if (!input.IsPacked() || input.length() != out.length()) return node.Fail("lengths meet other sizes");
      names.push_back(input.name);
      continue;
    }
    const std::optional<Batched> stacked = node.graph.Stack(input);
    if (!stacked) return node.Fail("an input differs in form");
    names.push_back(stacked->name);
  }
  SetInt(node.Copy(names, {"axis"}), "axis", Shifted(out, *axis));
  return true;
}

bool BatchSplit(BatchNode& node) {
  const Batched& x = node.inputs[0];
  const std::optional<int> axis = node.Axis(node.attrs.Int("axis", 0));
  if (!axis) return node.Fail("an axis is outside");
  if (x.IsPacked() && *axis == x.axis) return node.Fail("its axis is the one of the lengths");
  if (!node.AreUniform(1)) return node.Fail("its sizes differ between elements");
  return WithAxis(node, *axis);
}

bool BatchSlice(BatchNode& node) {
  const Batched &x = node.inputs[0], &out = node.outputs[0];
  if (!node.AreUniform(1)) return node.Fail("its bounds differ between elements");
  if (out.form != x.form) return node.Fail("lengths become other sizes");
  std::vector<int64_t> axes;
  if (node.HasInput(3)) {
    if (!node.ints[3]) return node.Fail("its axes are not known");
    axes = *node.ints[3];
  } else {
    if (!node.ints[1]) return node.Fail("its bounds are not known");
    axes.resize(node.ints[1]->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) {
    const std::optional<int> found = node.Axis(axis);
    if (!found) return node.Fail("an axis is outside");
    if (x.IsPacked() && *found == x.axis) return node.Fail("its axis is the one of the lengths");
    axis = Shifted(x, *found);
  }
  std::vector<std::string> names = node.InputNames();
  names.resize(std::max<size_t>(names.size(), 4));
  names[3] = node.graph.Ints(axes);
  if (node.inputs[1].dtype == TensorType::kInt32)  // all bounds have one type
    names[3] = node.graph.Emit("Cast", {names[3]}, [](NodeProto& cast) { SetInt(cast, "to", TensorProto::INT32); });
  node.Copy(names);
  return true;
}

bool BatchPad(BatchNode& node) {
  const Batched& x = node.inputs[0];
  if (!node.AreUniform(1)) return node.Fail("its pads differ between elements");
  if (!node.HasInput(1) || !node.ints[1]) return node.Fail("its pads are not known");
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (node.HasInput(3)) {
    if (!node.ints[3]) return node.Fail("its axes are not known");
    axes = *node.ints[3];
  }
  const std::vector<int64_t>& pads = *node.ints[1];
  if (pads.size() != 2 * axes.size()) return node.Fail("its pads are not two per axis");
  const size_t shift = x.IsStacked() ? 1 : 0, rank = static_cast<size_t>(x.rank()) + shift;
  std::vector<int64_t> all(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int> axis = node.Axis(axes[i]);
    if (!axis) return node.Fail("an axis is outside");
    if (x.IsPacked() && *axis == x.axis && (pads[i] != 0 || pads[i + axes.size()] != 0))
      return node.Fail("it pads the axis of the lengths");
    all[static_cast<size_t>(*axis) + shift] = pads[i];
    all[static_cast<size_t>(*axis) + shift + rank] = pads[i + axes.size()];
  }
  std::vector<std::string> names = {x.name, node.graph.Ints(all)};
  if (node.HasInput(2)) names.push_back(node.inputs[2].name);
  node.Copy(names);
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
