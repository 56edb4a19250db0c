// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/lstm_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::LstmCell;
using kernels::LstmDirection;
using kernels::LstmSequence;
using kernels::LstmWeights;
using kernels::PackedLstm;

// Hidden sizes above would overflow the sizes of weights, and no weights are that large.
constexpr int64_t kMaxHiddenSize = int64_t{1} << 30;

struct LstmState : OpState {
  LstmSpec spec;
  bool flush_denormals = true;
  // Of each direction, when all weights are constant.
  std::variant<std::monostate, std::vector<PackedLstm<float>>, std::vector<PackedLstm<double>>> packed;
};

[[noreturn]] void FailInput(const NodeProto& node, const LstmSpec& spec, int i, std::string fact) {
  throw InvalidArgument(
      std::move(fact),
      ErrorWhere{.op_type = {},
                 .node_name = {},
                 .subject = fmt::format("input {} '{}' (\"{}\")", i, spec.operands->names[static_cast<size_t>(i)],
                                        node.input(static_cast<size_t>(i)).as_string()),
                 .path = {}});
}

// The weights as tensors; b and p may be null.
struct WeightTensors {
  const Tensor* w;
  const Tensor* r;
  const Tensor* b;
  const Tensor* p;
};
struct WeightSizes {
  int64_t inputs;
  int64_t hidden;
};

// Checks the shapes of all weights against each other, the direction and hidden_size.
WeightSizes CheckWeights(const NodeProto& node, const LstmSpec& spec, const WeightTensors& weights) {
  const LstmOperands& at = *spec.operands;
  const int64_t d = spec.directions;
  const auto require = [&](int i, const Tensor& tensor, const Shape& expected, std::string_view why = {}) {
    if (tensor.shape() == expected) return;
    FailInput(node, spec, i, fmt::format("must be {}{}, got {}", expected.ToString(), why, tensor.shape().ToString()));
  };
  for (const auto& [i, tensor] : {std::pair{at.w, weights.w}, {at.r, weights.r}}) {
    if (tensor->rank() != 3)
      FailInput(node, spec, i, fmt::format("must have rank 3, got {}", tensor->shape().ToString()));
  }
  const int64_t hidden = spec.hidden_size.value_or(weights.r->dim(2));
  if (hidden < 1 || hidden > kMaxHiddenSize) {
    FailInput(node, spec, at.r,
              fmt::format("must have a hidden size in [1,{}] as last dim, got {}", kMaxHiddenSize,
                          weights.r->shape().ToString()));
  }
  const std::string why = spec.hidden_size ? fmt::format(" for hidden_size {}", hidden) : "";
  const int64_t inputs = weights.w->dim(2);
  require(at.r, *weights.r, {d, 4 * hidden, hidden}, why);
  require(at.w, *weights.w, {d, 4 * hidden, inputs}, why);
  if (weights.b != nullptr) require(at.b, *weights.b, {d, at.bias_blocks * hidden});
  if (weights.p != nullptr) require(at.p, *weights.p, {d, 3 * hidden});
  return {inputs, hidden};
}

template <class T>
std::vector<PackedLstm<T>> Pack(const LstmState& state, const WeightTensors& weights, const WeightSizes& sizes) {
  const LstmSpec& spec = state.spec;
  const int64_t h = sizes.hidden;
  std::vector<PackedLstm<T>> packed;
  for (int d = 0; d < spec.directions; ++d) {
    LstmWeights<T> one;
    one.input_size = sizes.inputs;
    one.hidden_size = h;
    one.w = weights.w->View<T>().data() + d * 4 * h * sizes.inputs;
    one.r = weights.r->View<T>().data() + d * 4 * h * h;
    if (weights.b != nullptr) {
      one.wb = weights.b->View<T>().data() + d * spec.operands->bias_blocks * h;
      if (spec.operands->bias_blocks == 8) one.rb = one.wb + 4 * h;
    }
    if (weights.p != nullptr) one.p = weights.p->View<T>().data() + d * 3 * h;
    one.gates = spec.gates;
    one.peepholes = spec.peepholes;
    packed.emplace_back(spec.cells[static_cast<size_t>(d)], one, state.flush_denormals);
  }
  return packed;
}

struct RunSizes {
  int64_t steps, rows, inputs, hidden;
};

// Checks X, lengths and states.
RunSizes CheckData(const RunContext& ctx, const LstmSpec& spec, const WeightSizes& weights) {
  const LstmOperands& at = *spec.operands;
  const NodeProto& node = ctx.node();
  const Shape& x = ctx.tensor(at.x).shape();
  const bool time_major = spec.layout == LstmLayout::kTimeMajor;
  if (x.rank() != 3) {
    FailInput(node, spec, at.x,
              fmt::format("must have rank 3 ({}), got {}", time_major ? "[T,N,I]" : "[N,T,I]", x.ToString()));
  }
  if (x[2] != weights.inputs) {
    FailInput(node, spec, at.x,
              fmt::format("must be [{},{},{}] for {} {}, got {}", x[0], x[1], weights.inputs,
                          at.names[static_cast<size_t>(at.w)], ctx.tensor(at.w).shape().ToString(), x.ToString()));
  }
  const RunSizes sizes{x[time_major ? 0 : 1], x[time_major ? 1 : 0], weights.inputs, weights.hidden};
  if (std::max(sizes.steps, sizes.rows) > std::numeric_limits<int32_t>::max())
    FailInput(node, spec, at.x, fmt::format("at most 2^31 - 1 steps and rows are possible, got {}", x.ToString()));
  const Shape states =
      time_major ? Shape{spec.directions, sizes.rows, sizes.hidden} : Shape{sizes.rows, spec.directions, sizes.hidden};
  const auto require = [&](int i, const Shape& expected) {
    if (!ctx.HasInput(i) || ctx.tensor(i).shape() == expected) return;
    FailInput(node, spec, i, fmt::format("must be {}, got {}", expected.ToString(), ctx.tensor(i).shape().ToString()));
  };
  require(at.lengths, {sizes.rows});
  require(at.h0, states);
  require(at.c0, states);
  return sizes;
}

template <class I>
void ReadLengths(const RunContext& ctx, const LstmSpec& spec, int64_t steps, std::vector<int32_t>& lengths) {
  const int input = spec.operands->lengths;
  const std::span<const I> given = ctx.tensor(input).View<I>();
  lengths.reserve(given.size());
  for (size_t row = 0; row < given.size(); ++row) {
    const I length = given[row];
    if (std::cmp_less(length, 0) || std::cmp_greater(length, steps)) {
      FailInput(ctx.node(), spec, input, fmt::format("element {} must be in [0,{}], got {}", row, steps, +length));
    }
    lengths.push_back(static_cast<int32_t>(length));
  }
}

// The lengths of the rows; none when all are `steps`. With no steps they mean nothing and are not looked at.
std::vector<int32_t> Lengths(const RunContext& ctx, const LstmSpec& spec, const RunSizes& sizes) {
  const int input = spec.operands->lengths;
  std::vector<int32_t> lengths;
  if (!ctx.HasInput(input) || sizes.steps == 0) return lengths;
  switch (ctx.tensor(input).dtype()) {
    case TensorType::kInt8:
      ReadLengths<int8_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kInt16:
      ReadLengths<int16_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kInt32:
      ReadLengths<int32_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kInt64:
      ReadLengths<int64_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kUint8:
      ReadLengths<uint8_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kUint16:
      ReadLengths<uint16_t>(ctx, spec, sizes.steps, lengths);
      break;
    case TensorType::kUint32:
      ReadLengths<uint32_t>(ctx, spec, sizes.steps, lengths);
      break;
    default:
      ReadLengths<uint64_t>(ctx, spec, sizes.steps, lengths);
      break;
  }
  const auto full = static_cast<int32_t>(sizes.steps);
  if (std::all_of(lengths.begin(), lengths.end(), [full](int32_t length) { return length == full; })) lengths.clear();
  return lengths;
}

template <class T>
void Compute(RunContext& ctx, const LstmSpec& spec, const RunSizes& sizes, std::span<const PackedLstm<T>> packed) {
  const LstmOperands& at = *spec.operands;
  const std::vector<int32_t> lengths = Lengths(ctx, spec, sizes);
  const auto [t, n, i, h] = sizes;
  const int64_t d = spec.directions;
  LstmSequence<T> io;
  io.steps = t;
  io.rows = n;
  io.x = ctx.tensor(at.x).View<T>().data();
  io.lengths = lengths.empty() ? nullptr : lengths.data();
  int64_t y_direction = 0, state_direction = h, state_row = d * h;
  Shape y_shape, state_shape{n, d, h};
  io.x_row = t * i;
  io.x_step = i;
  switch (spec.layout) {
    case LstmLayout::kTimeMajor:
      io.x_row = i;
      io.x_step = n * i;
      y_shape = Shape{t, d, n, h};
      io.y_step = d * n * h;
      y_direction = n * h;
      io.y_row = h;
      state_shape = Shape{d, n, h};
      state_direction = n * h;
      state_row = h;
      break;
    case LstmLayout::kBatchMajor:
      y_shape = Shape{n, t, d, h};
      io.y_row = t * d * h;
      io.y_step = d * h;
      y_direction = h;
      break;
    case LstmLayout::kOpenVino:
      y_shape = Shape{n, d, t, h};
      io.y_row = d * t * h;
      y_direction = t * h;
      io.y_step = h;
      break;
  }
  io.h0_row = io.c0_row = io.yh_row = io.yc_row = state_row;
  const T* const h0 = ctx.HasInput(at.h0) ? ctx.tensor(at.h0).View<T>().data() : nullptr;
  const T* const c0 = ctx.HasInput(at.c0) ? ctx.tensor(at.c0).View<T>().data() : nullptr;
  const auto allocate = [&](int output, const Shape& shape) -> T* {
    if (!ctx.HasOutput(output)) return nullptr;
    return ctx.AllocateOutput(output, kTensorTypeOf<T>, shape).template MutableView<T>().data();
  };
  T* const y = allocate(0, y_shape);
  T* const yh = allocate(1, state_shape);
  T* const yc = allocate(2, state_shape);
  std::vector<LstmDirection<T>> directions;
  const auto offset = [](auto* data, int64_t by) { return data == nullptr ? nullptr : data + by; };
  for (int64_t k = 0; k < d; ++k) {
    LstmDirection<T>& direction = directions.emplace_back();
    direction.weights = &packed[static_cast<size_t>(k)];
    direction.io = io;
    direction.io.reverse = spec.reverse[static_cast<size_t>(k)];
    direction.io.h0 = offset(h0, k * state_direction);
    direction.io.c0 = offset(c0, k * state_direction);
    direction.io.y = offset(y, k * y_direction);
    direction.io.yh = offset(yh, k * state_direction);
    direction.io.yc = offset(yc, k * state_direction);
  }
  const std::span<const LstmDirection<T>> all(directions);
  const auto bytes = kernels::LstmScratchBytes<T>(all, ctx.threads());
  if (!bytes)
    throw MemoryError(fmt::format("the scratch memory for {} steps of {} rows cannot be counted in 64 bits", t, n));
  Tensor scratch(TensorType::kUint8, Shape{*bytes});
  kernels::RunLstm<T>(all, {static_cast<std::byte*>(scratch.mutable_data()), static_cast<size_t>(*bytes)}, &ctx.team(),
                      ctx.threads());
}

template <class T>
void RunAs(RunContext& ctx, const LstmState& state) {
  const LstmSpec& spec = state.spec;
  const LstmOperands& at = *spec.operands;
  if (const auto* packed = std::get_if<std::vector<PackedLstm<T>>>(&state.packed)) {
    const WeightSizes weights{packed->front().input_size(), packed->front().hidden_size()};
    return Compute<T>(ctx, spec, CheckData(ctx, spec, weights), *packed);
  }
  const auto optional = [&](int i) { return ctx.HasInput(i) ? &ctx.tensor(i) : nullptr; };
  const WeightTensors tensors{&ctx.tensor(at.w), &ctx.tensor(at.r), optional(at.b), optional(at.p)};
  const WeightSizes weights = CheckWeights(ctx.node(), spec, tensors);
  const RunSizes sizes = CheckData(ctx, spec, weights);
  const std::vector<PackedLstm<T>> packed = Pack<T>(state, tensors, weights);
  Compute<T>(ctx, spec, sizes, packed);
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string KnownActivations() {
  std::string names;
  for (int kind = 0; kind < kernels::kActivationKinds; ++kind) {
    names += (kind == 0 ? "" : ", ") + std::string(kernels::ActivationName(static_cast<kernels::ActivationKind>(kind)));
  }
  return names;
}

}  // namespace

void ReadLstmAttributes(const NodeAttributes& attrs, std::string_view alpha_name, std::string_view beta_name,
                        bool one_set_serves_both, LstmSpec& spec) {
  const std::string given = attrs.String("direction", "forward"), direction = Lower(given);
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    FailAttribute("direction", fmt::format("must be forward, reverse or bidirectional, got \"{}\"", given));
  }
  spec.directions = direction == "bidirectional" ? 2 : 1;
  spec.reverse = {direction == "reverse", true};
  if (attrs.Has("hidden_size")) {
    spec.hidden_size = attrs.Int("hidden_size");
    if (*spec.hidden_size < 1 || *spec.hidden_size > kMaxHiddenSize) {
      FailAttribute("hidden_size", fmt::format("must be in [1,{}], got {}", kMaxHiddenSize, *spec.hidden_size));
    }
  }

  std::vector<std::string> names = attrs.Strings("activations");
  if (names.empty()) {
    for (int d = 0; d < spec.directions; ++d) names.insert(names.end(), {"Sigmoid", "Tanh", "Tanh"});
  }
  const auto all = static_cast<size_t>(3 * spec.directions);
  const bool shared = spec.directions == 2 && one_set_serves_both && names.size() == 3;
  if (names.size() != all && !shared) {
    FailAttribute("activations", fmt::format("must be {}{} names for direction {}, got {}",
                                             one_set_serves_both && spec.directions == 2 ? "3 or " : "", all, direction,
                                             names.size()));
  }
  const std::vector<float> alphas = attrs.Floats(alpha_name), betas = attrs.Floats(beta_name);
  size_t next_alpha = 0, next_beta = 0;
  for (int d = 0; d < spec.directions; ++d) {
    LstmCell& cell = spec.cells[static_cast<size_t>(d)];
    cell.clip = static_cast<double>(attrs.Float("clip", 0.0f));
    if (d == 1 && shared) {
      if (alphas.size() < 2 * next_alpha) next_alpha = 0;
      if (betas.size() < 2 * next_beta) next_beta = 0;
    }
    kernels::Activation* const functions[] = {&cell.f, &cell.g, &cell.h};
    for (size_t k = 0; k < 3; ++k) {
      const size_t entry = shared ? k : static_cast<size_t>(3 * d) + k;
      const auto kind = kernels::ActivationFromName(names[entry]);
      if (!kind) {
        FailAttribute("activations",
                      fmt::format("entry {} must be one of {}, got \"{}\"", entry, KnownActivations(), names[entry]));
      }
      *functions[k] = kernels::Activation::Default(*kind);
      if (kernels::TakesAlpha(*kind) && next_alpha < alphas.size())
        functions[k]->alpha = static_cast<double>(alphas[next_alpha++]);
      if (kernels::TakesBeta(*kind) && next_beta < betas.size())
        functions[k]->beta = static_cast<double>(betas[next_beta++]);
    }
  }
}

std::unique_ptr<OpState> PrepareLstm(const PrepareContext& context, const LstmSpec& spec) {
  auto state = std::make_unique<LstmState>();
  state->spec = spec;
  state->flush_denormals = context.flush_denormals();
  const LstmOperands& at = *spec.operands;
  const TensorType type =
      context.InputType(at.x) != TensorType::kUndefined ? context.InputType(at.x) : context.InputType(at.w);
  if (type == TensorType::kFloat16 || type == TensorType::kBfloat16) {
    throw Unsupported(fmt::format("runs in float and double, not in {}", onnx_optim::TensorTypeName(type)));
  }
  const auto constant = [&](int i) { return context.HasInput(i) ? context.ConstantInput(i) : nullptr; };
  const WeightTensors weights{constant(at.w), constant(at.r), constant(at.b), constant(at.p)};
  if (weights.w == nullptr || weights.r == nullptr) return state;
  if ((context.HasInput(at.b) && weights.b == nullptr) || (context.HasInput(at.p) && weights.p == nullptr))
    return state;
  // What has the wrong element type is for the run to refuse.
  for (const Tensor* tensor : {weights.w, weights.r, weights.b, weights.p}) {
    if (tensor != nullptr && (tensor->dtype() != weights.w->dtype() ||
                              (tensor->dtype() != TensorType::kFloat && tensor->dtype() != TensorType::kDouble)))
      return state;
  }
  const WeightSizes sizes = CheckWeights(context.node(), spec, weights);
  if (weights.w->dtype() == TensorType::kFloat) {
    state->packed = Pack<float>(*state, weights, sizes);
  } else {
    state->packed = Pack<double>(*state, weights, sizes);
  }
  return state;
}

void RunLstmOp(RunContext& ctx) {
  const auto& state = ctx.state<LstmState>();
  ctx.CheckCancelled();
  if (ctx.tensor(state.spec.operands->x).dtype() == TensorType::kFloat) return RunAs<float>(ctx, state);
  RunAs<double>(ctx, state);
}

}  // namespace ONNX_LIGHT_NAMESPACE
