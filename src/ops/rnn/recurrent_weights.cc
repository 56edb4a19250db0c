// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/recurrent_weights.h"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/gru/gru.h"
#include "kernels/rnn/rnn.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/rnn/recurrent_limits.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailInput(const NodeProto& node, const RecurrentSpec& spec, int i, std::string fact) {
  throw InvalidArgument(
      std::move(fact),
      ErrorWhere{.op_type = {},
                 .node_name = {},
                 .subject = fmt::format("input {} '{}' (\"{}\")", i, spec.operands->names[static_cast<size_t>(i)],
                                        node.input(static_cast<size_t>(i)).as_string()),
                 .path = {}});
}

// Input i, W or R; undefined when it is not known.
GateWeight WeightOf(const RecurrentSpec& spec, int i, FunctionRef<const Tensor*(int)> input) {
  if (spec.read_bytes != nullptr) return spec.read_bytes(i, input);
  const Tensor* const tensor = input(i);
  return {tensor != nullptr ? *tensor : Tensor(), {}, {}};
}

// `dims` with D before them, which only cells are without.
Shape PerDirection(const RecurrentSpec& spec, Shape dims) {
  if (!spec.is_cell()) dims.insert(0, spec.directions);
  return dims;
}

// The cell of direction d.
void SetCell(const RecurrentSpec& spec, size_t d, kernels::LstmCell& cell) {
  cell.f = spec.functions[d][0];
  cell.g = spec.functions[d][1];
  cell.h = spec.functions[d][2];
  cell.coupling = spec.coupling;
}
void SetCell(const RecurrentSpec& spec, size_t d, kernels::GruCell& cell) {
  cell.f = spec.functions[d][0];
  cell.g = spec.functions[d][1];
  cell.linear_before_reset = spec.linear_before_reset;
}
void SetCell(const RecurrentSpec& spec, size_t d, kernels::RnnCell& cell) { cell.f = spec.functions[d][0]; }

}  // namespace

NodeWeights ReadWeights(const RecurrentSpec& spec, FunctionRef<const Tensor*(int)> input) {
  const RecurrentOperands& at = *spec.operands;
  const auto optional = [&](int i) { return i >= 0 ? input(i) : nullptr; };
  return {WeightOf(spec, at.w, input), WeightOf(spec, at.r, input), optional(at.b), optional(at.p)};
}

WeightSizes CheckWeights(const NodeProto& node, const RecurrentSpec& spec, const NodeWeights& weights) {
  const RecurrentOperands& at = *spec.operands;
  const auto require = [&](int i, const Tensor& tensor, const Shape& expected, std::string_view why = {}) {
    if (tensor.shape() == expected) return;
    const auto shown = [&](Shape shape) {
      if (spec.read_bytes != nullptr && (i == at.w || i == at.r)) std::swap(shape[1], shape[2]);
      return shape.ToString();
    };
    FailInput(node, spec, i, fmt::format("must be {}{}, got {}", shown(expected), why, shown(tensor.shape())));
  };
  const int rank = spec.is_cell() ? 2 : 3;
  for (const auto& [i, tensor] : {std::pair{at.w, &weights.w.values}, {at.r, &weights.r.values}}) {
    if (tensor->rank() != rank)
      FailInput(node, spec, i, fmt::format("must have rank {}, got {}", rank, tensor->shape().ToString()));
  }
  const int64_t hidden = spec.hidden_size.value_or(weights.r.values.dim(rank - 1));
  if (hidden < 1 || hidden > kMaxHiddenSize) {
    FailInput(node, spec, at.r,
              fmt::format("must have a hidden size in [1,{}] as last dim, got {}", kMaxHiddenSize,
                          weights.r.values.shape().ToString()));
  }
  const std::string why = spec.hidden_size ? fmt::format(" for hidden_size {}", hidden) : "";
  const int64_t inputs = weights.w.values.dim(rank - 1);
  require(at.r, weights.r.values, PerDirection(spec, {spec.gates * hidden, hidden}), why);
  require(at.w, weights.w.values, PerDirection(spec, {spec.gates * hidden, inputs}), why);
  if (weights.b != nullptr) require(at.b, *weights.b, PerDirection(spec, {spec.bias_blocks * hidden}));
  if (weights.p != nullptr) require(at.p, *weights.p, PerDirection(spec, {3 * hidden}));
  return {inputs, hidden};
}

void CheckByteSums(const NodeProto& node, const RecurrentSpec& spec, const WeightSizes& sizes) {
  const RecurrentOperands& at = *spec.operands;
  for (const auto& [i, count, what] : {std::tuple{at.w, sizes.inputs, "inputs"}, {at.r, sizes.hidden, "hidden units"}})
    if (count > kernels::kMostByteSums)
      FailInput(node, spec, i,
                fmt::format("weights as int8 may have at most {} {}, got {}", kernels::kMostByteSums, what, count));
}

template <class Kind, class T>
std::vector<kernels::PackedRecurrent<Kind, T>> PackWeights(const RecurrentSpec& spec, const NodeWeights& weights,
                                                           const WeightSizes& sizes, WeightStorage storage,
                                                           bool flush_denormals) {
  const int64_t h = sizes.hidden, gates = spec.gates;
  const auto widened = [](const Tensor* tensor) { return tensor != nullptr ? Widened(*tensor) : Tensor(); };
  const Tensor w = Widened(weights.w.values), r = Widened(weights.r.values), b = widened(weights.b),
               p = widened(weights.p);
  std::vector<kernels::PackedRecurrent<Kind, T>> packed;
  for (int d = 0; d < spec.directions; ++d) {
    typename Kind::template Weights<T> one;
    one.input_size = sizes.inputs;
    one.hidden_size = h;
    if (!weights.w.is_bytes()) {
      one.w = w.View<T>().data() + d * gates * h * sizes.inputs;
      one.r = r.View<T>().data() + d * gates * h * h;
    }
    if (b.defined()) {
      one.wb = b.View<T>().data() + d * spec.bias_blocks * h;
      if (spec.bias_blocks == 2 * gates) one.rb = one.wb + gates * h;
    }
    if constexpr (std::is_same_v<Kind, kernels::Lstm>) {
      const auto bytes = [&](const GateWeight& weight, int64_t k) {
        const int64_t row = d * gates * h;
        return kernels::ByteRows{weight.values.View<int8_t>().data() + row * k,
                                 weight.scales.View<float>().data() + row, weight.zeros.View<int32_t>().data() + row};
      };
      if (weights.w.is_bytes()) {
        one.w_bytes = bytes(weights.w, sizes.inputs);
        one.r_bytes = bytes(weights.r, h);
      }
      if (p.defined()) one.p = p.View<T>().data() + d * 3 * h;
      one.gates = spec.gate_order;
      one.peepholes = spec.peephole_order;
    }
    if constexpr (std::is_same_v<Kind, kernels::Gru>) {
      if (b.defined() && spec.bias_blocks == gates + 1) one.candidate_rb = one.wb + gates * h;
    }
    typename Kind::Cell cell;
    cell.clip = spec.clip;
    SetCell(spec, static_cast<size_t>(d), cell);
    packed.emplace_back(cell, one, flush_denormals, storage);
  }
  return packed;
}

template std::vector<kernels::PackedRecurrent<kernels::Lstm, float>> PackWeights(const RecurrentSpec&,
                                                                                 const NodeWeights&, const WeightSizes&,
                                                                                 WeightStorage, bool);
template std::vector<kernels::PackedRecurrent<kernels::Lstm, double>> PackWeights(const RecurrentSpec&,
                                                                                  const NodeWeights&,
                                                                                  const WeightSizes&, WeightStorage,
                                                                                  bool);
template std::vector<kernels::PackedRecurrent<kernels::Gru, float>> PackWeights(const RecurrentSpec&,
                                                                                const NodeWeights&, const WeightSizes&,
                                                                                WeightStorage, bool);
template std::vector<kernels::PackedRecurrent<kernels::Gru, double>> PackWeights(const RecurrentSpec&,
                                                                                 const NodeWeights&, const WeightSizes&,
                                                                                 WeightStorage, bool);
template std::vector<kernels::PackedRecurrent<kernels::Rnn, float>> PackWeights(const RecurrentSpec&,
                                                                                const NodeWeights&, const WeightSizes&,
                                                                                WeightStorage, bool);
template std::vector<kernels::PackedRecurrent<kernels::Rnn, double>> PackWeights(const RecurrentSpec&,
                                                                                 const NodeWeights&, const WeightSizes&,
                                                                                 WeightStorage, bool);

}  // namespace ONNX_LIGHT_NAMESPACE
