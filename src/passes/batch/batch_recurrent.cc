// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: elements are rows of one batch, each with its own number of steps.
#include <array>

#include "model/set_attribute.h"
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Positions of what all three have, and of the LSTM's own.
constexpr size_t kX = 0, kWeights = 1, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeephole = 7;

std::string Transposed(BatchGraph& graph, const std::string& value, std::span<const int64_t> perm) {
  return graph.Emit("Transpose", {value}, [&](NodeProto& node) { SetInts(node, "perm", perm); });
}

}  // namespace

bool BatchRecurrent(BatchNode& node) {
  const Batched& x = node.inputs[kX];
  if (x.IsUniform() || x.rank() != 3) return node.Fail("its weights or states alone differ between elements");
  if (node.HasInput(kLengths)) return node.Fail("it has lengths of its own");
  for (size_t i = kWeights; i < node.inputs.size(); ++i)
    if (i != kInitialH && i != kInitialC && !node.inputs[i].IsUniform())
      return node.Fail("its weights differ between elements");
  const bool batch_major = node.attrs.Int("layout", 0) == 1;
  const int time = batch_major ? 1 : 0, batch = 1 - time;
  const bool has_states = node.HasInput(kInitialH) || node.HasInput(kInitialC);

  if (x.IsPacked() && x.axis == batch && !has_states) {  // rows side by side, as the operator itself has them
    node.Copy(node.InputNames());
    return true;
  }
  if (x.IsPacked() && x.axis != time) return node.Fail("it goes over the lengths");

  // As [steps of all elements, B, I].
  BatchGraph& graph = node.graph;
  std::string packed = x.name, lengths;
  if (x.IsStacked()) {
    const int64_t steps = x.shape[static_cast<size_t>(time)].AsInt(),
                  rows = x.shape[static_cast<size_t>(batch)].AsInt();
    const int64_t features = x.shape[2].AsInt();
    if (steps == 0 || rows == 0 || features == 0) return node.Fail("an element is empty");
    if (batch_major) packed = Transposed(graph, packed, std::array<int64_t, 4>{0, 2, 1, 3});
    packed = graph.Emit("Reshape", {packed, graph.Ints({-1, rows, features})});
    lengths = graph.Emit("Expand", {graph.Ints({steps}), graph.count()});
  } else {
    if (batch_major) packed = Transposed(graph, packed, std::array<int64_t, 3>{1, 0, 2});
    lengths = graph.Lengths(x.length());
  }
  std::vector<std::string> names = node.InputNames();
  names[kX] = packed;
  names.resize(std::max<size_t>(names.size(), kLengths + 1));
  names[kLengths] = lengths;
  for (const size_t i : {kInitialH, kInitialC}) {
    if (!node.HasInput(i)) continue;
    const Batched& state = node.inputs[i];
    if (state.IsPacked() || state.rank() != 3) return node.Fail("a state has lengths");
    if (batch_major) {
      names[i] = state.IsStacked() ? Transposed(graph, state.name, std::array<int64_t, 4>{0, 2, 1, 3})
                                   : Transposed(graph, state.name, std::array<int64_t, 3>{1, 0, 2});
    }
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    results.push_back(node.HasOutput(i) ? graph.NewName(node.outputs[i].name) : std::string());
  NodeProto& copy = graph.Node(fmt::format("Packed{}", node.op.type), names, results, kInternalDomain);
  if (!node.node.name().empty()) copy.set_name(node.node.name());
  for (const AttributeProto& attribute : node.node.attribute())
    if (attribute.name() != "layout") *copy.add_attribute() = attribute;

  for (size_t i = 0; i < results.size(); ++i) {
    const Batched& out = node.outputs[i];
    if (results[i].empty()) continue;
    std::string value = results[i];  // [all steps, D, B, H] or [N, D, B, H]
    if (batch_major) {
      value = i == 0 ? Transposed(graph, value, std::array<int64_t, 4>{2, 0, 1, 3})
                     : Transposed(graph, value, std::array<int64_t, 4>{0, 2, 1, 3});
    }
    if (i == 0 && x.IsStacked()) {
      // Steps become [N, T] again; batch-major ones have rows before them.
      if (batch_major && x.shape[0] != OptimDim(1)) return node.Fail("several rows of several steps each");
      std::vector<int64_t> dims = {-1};
      for (const OptimDim& dim : out.shape) dims.push_back(dim.AsInt());
      value = graph.Emit("Reshape", {value, graph.Ints(dims)});
    }
    graph.Node("Identity", {value}, {out.name});
  }
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
