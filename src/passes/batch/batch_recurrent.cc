// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: elements are rows of one batch, each with its own number of steps.
#include <array>

#include "model/set_attribute.h"
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Positions of what all three have, and of the LSTM's own.
constexpr size_t kX = 0, kWeights = 1, kLengths = 4, kInitialH = 5, kInitialC = 6;

std::string Transposed(BatchGraph& graph, const std::string& value, std::span<const int64_t> perm) {
  return graph.Emit("Transpose", {value}, [&](NodeProto& node) { SetInts(node, "perm", perm); });
}

}  // namespace

// All elements have as many steps: rows of one batch. X [N,T,B,I] or, batch-major, [N,B,T,I].
bool Stacked(BatchNode& node, int time) {
  BatchGraph& graph = node.graph;
  const Batched& x = node.inputs[kX];
  const int64_t steps = x.shape[static_cast<size_t>(time)].AsInt(),
                rows = x.shape[static_cast<size_t>(1 - time)].AsInt();
  if (steps == 0 || rows == 0 || x.shape[2] == OptimDim(0)) return node.Fail("an element is empty");
  const bool batch_major = time == 1;
  // [T,N,B,I] to [T,N*B,I]; batch-major [N,B,T,I] to [N*B,T,I].
  const auto merged = [&](const std::string& value, int axis, std::vector<int64_t> dims) {
    const std::string moved = axis == 0 ? value : Transposed(graph, value, std::array<int64_t, 4>{1, 0, 2, 3});
    return graph.Emit("Reshape", {moved, graph.Ints(dims)});
  };
  const int64_t features = x.shape[2].AsInt();
  std::vector<std::string> names = node.InputNames();
  names[kX] = batch_major ? merged(x.name, 0, {-1, steps, features}) : merged(x.name, 1, {steps, -1, features});
  for (const size_t i : {kInitialH, kInitialC}) {
    if (!node.HasInput(i)) continue;
    // [N,D,B,H] to [D,N*B,H]; batch-major [N,B,D,H] to [N*B,D,H].
    const std::optional<Batched> state = graph.Stack(node.inputs[i]);
    if (!state || state->rank() != 3) return node.Fail("a state has lengths");
    const int64_t outer = state->shape[batch_major ? 1 : 0].AsInt(), hidden = state->shape[2].AsInt();
    names[i] = batch_major ? merged(state->name, 0, {-1, outer, hidden}) : merged(state->name, 1, {outer, -1, hidden});
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    results.push_back(node.HasOutput(i) ? graph.NewName(node.outputs[i].name) : std::string());
  NodeProto& copy = node.Copy(names);
  for (size_t i = 0; i < results.size(); ++i) copy.set_output(static_cast<int>(i), results[i]);

  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty()) continue;
    const Batched& out = node.outputs[i];
    std::vector<int64_t> dims;
    for (const OptimDim& dim : out.shape) dims.push_back(dim.AsInt());
    // Y [T,D,N*B,H] and states [D,N*B,H]: N before B, then to the front. Batch-major ones have N*B first.
    const size_t batch = batch_major ? 0 : dims.size() - 2;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(batch), -1);
    const std::string parted = graph.Emit("Reshape", {results[i], graph.Ints(dims)});
    std::vector<int64_t> perm = {static_cast<int64_t>(batch)};
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (axis != batch) perm.push_back(static_cast<int64_t>(axis));
    SetInts(graph.Node("Transpose", {parted}, {out.name}), "perm", perm);
  }
  return true;
}

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
  if (x.IsStacked()) return Stacked(node, time);

  if (x.axis == batch && !has_states) {  // rows side by side, as the operator itself has them
    node.Copy(node.InputNames());
    return true;
  }
  if (x.axis != time) return node.Fail("it goes over the lengths");

  // As [steps of all elements, B, I].
  BatchGraph& graph = node.graph;
  std::string packed = x.name;
  if (batch_major) packed = Transposed(graph, packed, std::array<int64_t, 3>{1, 0, 2});
  std::vector<std::string> names = node.InputNames();
  names[kX] = packed;
  names.resize(std::max<size_t>(names.size(), kLengths + 1));
  names[kLengths] = graph.Lengths(x.length());
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
    graph.Node("Identity", {value}, {out.name});
  }
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
