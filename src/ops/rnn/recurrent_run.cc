// SPDX-License-Identifier: Apache-2.0
// How recurrent operators run: checks of weights, which are packed once; recurrent_places.h checks the rest.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/cast/cast.h"
#include "kernels/gru/gru.h"
#include "kernels/rnn/rnn.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/rnn/recurrent_limits.h"
#include "ops/rnn/recurrent_op.h"
#include "ops/rnn/recurrent_places.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::PackedRecurrent;
using kernels::RecurrentDirection;
using kernels::RecurrentSequence;

template <class Kind>
struct RecurrentState : OpState {
  RecurrentSpec spec;
  bool flush_denormals = true;
  // Of each direction, when all weights are constant.
  std::variant<std::monostate, std::vector<PackedRecurrent<Kind, float>>, std::vector<PackedRecurrent<Kind, double>>>
      packed;
};

[[noreturn]] void FailInput(const NodeProto& node, const RecurrentSpec& spec, int i, std::string fact) {
  throw InvalidArgument(
      std::move(fact),
      ErrorWhere{.op_type = {},
                 .node_name = {},
                 .subject = fmt::format("input {} '{}' (\"{}\")", i, spec.operands->names[static_cast<size_t>(i)],
                                        node.input(static_cast<size_t>(i)).as_string()),
                 .path = {}});
}

// b and p may be null.
struct NodeWeights {
  GateWeight w, r;
  const Tensor* b;
  const Tensor* p;
};
struct WeightSizes {
  int64_t inputs;
  int64_t hidden;
};

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

// Checks the shapes of all weights against each other, the direction and hidden_size.
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

// Refuses sums that the integers of kernels for bytes could not hold.
void CheckByteSums(const NodeProto& node, const RecurrentSpec& spec, const WeightSizes& sizes) {
  const RecurrentOperands& at = *spec.operands;
  for (const auto& [i, count, what] : {std::tuple{at.w, sizes.inputs, "inputs"}, {at.r, sizes.hidden, "hidden units"}})
    if (count > kernels::kMostByteSums)
      FailInput(node, spec, i,
                fmt::format("weights as int8 may have at most {} {}, got {}", kernels::kMostByteSums, what, count));
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

template <class Kind, class T>
std::vector<PackedRecurrent<Kind, T>> Pack(const RecurrentState<Kind>& state, const NodeWeights& weights,
                                           const WeightSizes& sizes, WeightStorage storage) {
  const RecurrentSpec& spec = state.spec;
  const int64_t h = sizes.hidden, gates = spec.gates;
  const auto widened = [](const Tensor* tensor) { return tensor != nullptr ? Widened(*tensor) : Tensor(); };
  const Tensor w = Widened(weights.w.values), r = Widened(weights.r.values), b = widened(weights.b),
               p = widened(weights.p);
  std::vector<PackedRecurrent<Kind, T>> packed;
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
    packed.emplace_back(cell, one, state.flush_denormals, storage);
  }
  return packed;
}

// An output in the type that is computed; narrowed into the node's when that is only stored.
template <class T>
class Output {
 public:
  Output(RunContext& ctx, int index, const Shape& shape, TensorType stored) {
    if (index < 0 || !ctx.HasOutput(index)) return;
    tensor_ = &ctx.AllocateOutput(index, stored, shape);
    if (stored != kTensorTypeOf<T>) wide_ = Tensor(kTensorTypeOf<T>, shape);
  }
  T* data() {
    if (tensor_ == nullptr) return nullptr;
    return (wide_.defined() ? wide_ : *tensor_).template MutableView<T>().data();
  }
  void Narrow() {
    if (wide_.defined())
      kernels::Cast(wide_.data(), wide_.dtype(), tensor_->mutable_data(), tensor_->dtype(), wide_.NumElements());
  }

 private:
  Tensor* tensor_ = nullptr;
  Tensor wide_;
};

template <class Kind, class T>
void RunDirections(std::span<const RecurrentDirection<Kind, T>> directions, ThreadTeam* team, int threads) {
  const auto bytes = kernels::RecurrentScratchBytes<Kind, T>(directions, threads);
  if (!bytes) {
    throw MemoryError(fmt::format("the scratch memory for {} steps of {} rows cannot be counted in 64 bits",
                                  directions[0].io.steps, directions[0].io.rows));
  }
  Tensor scratch(TensorType::kUint8, Shape{*bytes});
  kernels::RunRecurrent<Kind, T>(
      directions, {static_cast<std::byte*>(scratch.mutable_data()), static_cast<size_t>(*bytes)}, team, threads);
}

// States and sums of this many bytes stay in a second-level cache; with fewer rows reading the weights would count.
constexpr int64_t kBlockBytes = 512 << 10;
constexpr int64_t kLeastBlockRows = 64;

// Rows with places, the longest first, as many at a time as pay. A row does not depend on the others.
template <class Kind, class T>
void RunInBlocks(RunContext& ctx, const RecurrentSpec& spec, std::span<const RecurrentDirection<Kind, T>> directions) {
  const RecurrentSequence<T>& all = directions[0].io;
  if (all.rows == 0) return;
  const int64_t row_bytes =
      (spec.gates + 2 + Kind::kExtra) * directions[0].weights->hidden_size() * static_cast<int64_t>(sizeof(T));
  const int64_t block = std::max(kLeastBlockRows, kBlockBytes / row_bytes), blocks = (all.rows - 1) / block + 1;
  const auto run = [&](int64_t i, ThreadTeam* team, int threads) {
    std::vector<RecurrentDirection<Kind, T>> part(directions.begin(), directions.end());
    for (RecurrentDirection<Kind, T>& direction : part) {
      direction.io.rows = std::min(block, all.rows - i * block);
      direction.io.places += i * block;
      direction.io.lengths += i * block;
      direction.io.steps = *direction.io.lengths;
    }
    RunDirections<Kind, T>(part, team, threads);
  };
  if (blocks >= 2 * ctx.threads()) {
    ctx.ParallelFor(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run(i, nullptr, 1);
    });
  } else {
    for (int64_t i = 0; i < blocks; ++i) run(i, &ctx.team(), ctx.threads());
  }
}

template <class Kind, class T>
void Compute(RunContext& ctx, const RecurrentSpec& spec, const RecurrentPlaces& places,
             std::span<const PackedRecurrent<Kind, T>> packed) {
  const RecurrentOperands& at = *spec.operands;
  const auto widened = [&](int i) { return i >= 0 && ctx.HasInput(i) ? Widened(ctx.tensor(i)) : Tensor(); };
  const Tensor x = widened(at.x), h0 = widened(at.h0), c0 = widened(at.c0);
  const TensorType stored = ctx.tensor(at.x).dtype();
  const int state_output = spec.state_output();
  Output<T> y(ctx, spec.is_cell() ? -1 : 0, places.y, stored), yh(ctx, state_output, places.state, stored),
      yc(ctx, at.c0 >= 0 ? state_output + 1 : -1, places.state, stored);

  RecurrentSequence<T> io;
  io.steps = places.steps;
  io.rows = places.rows;
  io.x = x.View<T>().data();
  io.x_row = places.x_row;
  io.x_step = places.x_step;
  io.lengths = places.lengths.empty() ? nullptr : places.lengths.data();
  io.places = places.of_rows.empty() ? nullptr : places.of_rows.data();
  io.h0_row = io.c0_row = io.yh_row = io.yc_row = places.state_row;
  io.y_row = places.y_row;
  io.y_step = places.y_step;
  std::vector<RecurrentDirection<Kind, T>> directions;
  const auto offset = [](auto* data, int64_t by) { return data == nullptr ? nullptr : data + by; };
  const auto start = [&](const Tensor& state, int64_t by) {
    return state.defined() ? state.View<T>().data() + by : nullptr;
  };
  for (int64_t k = 0; k < spec.directions; ++k) {
    RecurrentDirection<Kind, T>& direction = directions.emplace_back();
    direction.weights = &packed[static_cast<size_t>(k)];
    direction.io = io;
    direction.io.reverse = spec.reverse[static_cast<size_t>(k)];
    direction.io.h0 = start(h0, k * places.state_direction);
    direction.io.c0 = start(c0, k * places.state_direction);
    direction.io.y = offset(y.data(), k * places.y_direction);
    direction.io.yh = offset(yh.data(), k * places.state_direction);
    direction.io.yc = offset(yc.data(), k * places.state_direction);
  }
  if (places.of_rows.empty())
    RunDirections<Kind, T>(directions, &ctx.team(), ctx.threads());
  else
    RunInBlocks<Kind, T>(ctx, spec, directions);
  for (Output<T>* output : {&y, &yh, &yc}) output->Narrow();
}

template <class Kind, class T>
void RunAs(RunContext& ctx, const RecurrentState<Kind>& state) {
  using Packed = std::vector<PackedRecurrent<Kind, T>>;
  const RecurrentSpec& spec = state.spec;
  const RecurrentOperands& at = *spec.operands;
  if (const auto* packed = std::get_if<Packed>(&state.packed)) {
    const auto& first = packed->front();
    return Compute<Kind, T>(ctx, spec, PlaceRecurrent(ctx, spec, first.input_size(), first.hidden_size()), *packed);
  }
  const auto optional = [&](int i) { return i >= 0 && ctx.HasInput(i) ? &ctx.tensor(i) : nullptr; };
  const NodeWeights tensors{WeightOf(spec, at.w, optional), WeightOf(spec, at.r, optional), optional(at.b),
                            optional(at.p)};
  const WeightSizes weights = CheckWeights(ctx.node(), spec, tensors);
  const RecurrentPlaces places = PlaceRecurrent(ctx, spec, weights.inputs, weights.hidden);
  if (tensors.w.is_bytes()) CheckByteSums(ctx.node(), spec, weights);
  const Packed packed =
      Pack<Kind, T>(state, tensors, weights, tensors.w.is_bytes() ? WeightStorage::kInt8 : WeightStorage::kFull);
  Compute<Kind, T>(ctx, spec, places, packed);
}

}  // namespace

template <class Kind>
std::unique_ptr<OpState> PrepareRecurrent(const PrepareContext& context, const RecurrentSpec& spec) {
  auto state = std::make_unique<RecurrentState<Kind>>();
  state->spec = spec;
  state->flush_denormals = context.flush_denormals();
  const RecurrentOperands& at = *spec.operands;
  const auto constant = [&](int i) { return i >= 0 && context.HasInput(i) ? context.ConstantInput(i) : nullptr; };
  const NodeWeights weights{WeightOf(spec, at.w, constant), WeightOf(spec, at.r, constant), constant(at.b),
                            constant(at.p)};
  if (!weights.w.values.defined() || !weights.r.values.defined()) return state;
  const auto is_fed = [&](int i, const Tensor* tensor) { return i >= 0 && context.HasInput(i) && tensor == nullptr; };
  if (is_fed(at.b, weights.b) || is_fed(at.p, weights.p)) return state;
  // What has the wrong element type is for the run to refuse.
  const bool bytes = weights.w.is_bytes();
  const TensorType type = bytes ? TensorType::kFloat : weights.w.values.dtype();
  if (!kFloatTypes.Has(type) || (!bytes && weights.r.values.dtype() != type)) return state;
  for (const Tensor* tensor : {weights.b, weights.p})
    if (tensor != nullptr && tensor->dtype() != type) return state;
  const WeightSizes sizes = CheckWeights(context.node(), spec, weights);
  if (type == TensorType::kDouble) {
    state->packed = Pack<Kind, double>(*state, weights, sizes, WeightStorage::kFull);
  } else {
    const WeightStorage storage = bytes ? WeightStorage::kInt8 : context.weight_storage();
    if (storage == WeightStorage::kInt8) CheckByteSums(context.node(), spec, sizes);
    state->packed = Pack<Kind, float>(*state, weights, sizes, storage);
  }
  return state;
}

template <class Kind>
void RunRecurrentOp(RunContext& ctx) {
  const auto& state = ctx.state<RecurrentState<Kind>>();
  ctx.CheckCancelled();
  if (ctx.tensor(state.spec.operands->x).dtype() == TensorType::kDouble) return RunAs<Kind, double>(ctx, state);
  RunAs<Kind, float>(ctx, state);
}

template std::unique_ptr<OpState> PrepareRecurrent<kernels::Lstm>(const PrepareContext&, const RecurrentSpec&);
template std::unique_ptr<OpState> PrepareRecurrent<kernels::Gru>(const PrepareContext&, const RecurrentSpec&);
template std::unique_ptr<OpState> PrepareRecurrent<kernels::Rnn>(const PrepareContext&, const RecurrentSpec&);
template void RunRecurrentOp<kernels::Lstm>(RunContext&);
template void RunRecurrentOp<kernels::Gru>(RunContext&);
template void RunRecurrentOp<kernels::Rnn>(RunContext&);

}  // namespace ONNX_LIGHT_NAMESPACE
