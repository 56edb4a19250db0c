// SPDX-License-Identifier: Apache-2.0
// How recurrent operators run. Weights are packed once (recurrent_weights.h); recurrent_places.h checks the rest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/cast/cast.h"
#include "kernels/gru/gru.h"
#include "kernels/recurrent/recurrent_walk.h"
#include "kernels/rnn/rnn.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/rnn/recurrent_call.h"
#include "ops/rnn/recurrent_weights.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::PackedRecurrent;
using kernels::RecurrentDirection;
using kernels::RecurrentSequence;

// An output in the type that is computed; narrowed into the node's when that is only stored.
template <class T>
class Output {
 public:
  Output() = default;
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

template <class T>
Tensor Scratch(std::optional<int64_t> bytes, const RecurrentSequence<T>& io) {
  if (!bytes) {
    throw MemoryError(
        fmt::format("the scratch memory for {} steps of {} rows cannot be counted in 64 bits", io.steps, io.rows));
  }
  return Tensor(TensorType::kUint8, Shape{*bytes});
}
std::span<std::byte> BytesOf(Tensor& scratch) {
  return {static_cast<std::byte*>(scratch.mutable_data()), static_cast<size_t>(scratch.NumElements())};
}

template <class Kind, class T>
void RunDirections(std::span<const RecurrentDirection<Kind, T>> directions, ThreadTeam* team, int threads) {
  Tensor scratch = Scratch(kernels::RecurrentScratchBytes<Kind, T>(directions, threads), directions[0].io);
  kernels::RunRecurrent<Kind, T>(directions, BytesOf(scratch), team, threads);
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
class Call final : public RecurrentCall {
 public:
  using Packed = std::vector<PackedRecurrent<Kind, T>>;

  // `packed` outlives this unless it is `made`.
  Call(RunContext& ctx, const RecurrentSpec& spec, RecurrentPlaces places, const Packed& packed)
      : ctx_(ctx), spec_(spec), places_(std::move(places)) {
    SetDirections(packed);
  }
  Call(RunContext& ctx, const RecurrentSpec& spec, RecurrentPlaces places, Packed&& made)
      : ctx_(ctx), spec_(spec), places_(std::move(places)), made_(std::move(made)) {
    SetDirections(made_);
  }

  const RecurrentPlaces& places() const override { return places_; }
  kernels::RecurrentCost Cost(int threads) const override {
    return kernels::RecurrentCostOf<Kind, T>(directions_, threads);
  }
  void Run() override {
    if (places_.of_rows.empty())
      RunDirections<Kind, T>(directions_, &ctx_.team(), ctx_.threads());
    else
      RunInBlocks<Kind, T>(ctx_, spec_, directions_);
    for (Output<T>& output : outputs_) output.Narrow();
  }
  void AddStrands(std::vector<kernels::Strand>& strands) override {
    walks_.reserve(directions_.size());
    for (const Direction& direction : directions_) {
      Tensor scratch = Scratch(kernels::RecurrentWalk<Kind, T>::ScratchBytes(direction), direction.io);
      kernels::RecurrentWalk<Kind, T>& walk = walks_.emplace_back(direction, BytesOf(scratch));
      scratches_.push_back(std::move(scratch));
      const int64_t steps = walk.steps();
      const kernels::RecurrentCost cost = kernels::RecurrentCostOf<Kind, T>(std::span(&direction, 1), 1);
      strands.push_back({.run = walk,
                         .steps = steps,
                         .block = kernels::StrandBlock(steps, places_.rows),
                         .step_cost = cost.alone / static_cast<double>(std::max<int64_t>(1, direction.io.steps))});
    }
  }

 private:
  using Direction = RecurrentDirection<Kind, T>;

  void SetDirections(const Packed& packed) {
    const RecurrentOperands& at = *spec_.operands;
    const auto widened = [&](int i) { return i >= 0 && ctx_.HasInput(i) ? Widened(ctx_.tensor(i)) : Tensor(); };
    x_ = widened(at.x);
    h0_ = widened(at.h0);
    c0_ = widened(at.c0);
    const TensorType stored = ctx_.tensor(at.x).dtype();
    const int state_output = spec_.state_output();
    auto& [y, yh, yc] = outputs_;
    y = Output<T>(ctx_, spec_.is_cell() ? -1 : 0, places_.y, stored);
    yh = Output<T>(ctx_, state_output, places_.state, stored);
    yc = Output<T>(ctx_, at.c0 >= 0 ? state_output + 1 : -1, places_.state, stored);

    RecurrentSequence<T> io;
    io.steps = places_.steps;
    io.rows = places_.rows;
    io.x = x_.View<T>().data();
    io.x_row = places_.x_row;
    io.x_step = places_.x_step;
    io.lengths = places_.lengths.empty() ? nullptr : places_.lengths.data();
    io.places = places_.of_rows.empty() ? nullptr : places_.of_rows.data();
    io.h0_row = io.c0_row = io.yh_row = io.yc_row = places_.state_row;
    io.y_row = places_.y_row;
    io.y_step = places_.y_step;
    const auto offset = [](auto* data, int64_t by) { return data == nullptr ? nullptr : data + by; };
    const auto start = [&](const Tensor& state, int64_t by) {
      return state.defined() ? state.View<T>().data() + by : nullptr;
    };
    for (int64_t k = 0; k < spec_.directions; ++k) {
      Direction& direction = directions_.emplace_back();
      direction.weights = &packed[static_cast<size_t>(k)];
      direction.io = io;
      direction.io.reverse = spec_.reverse[static_cast<size_t>(k)];
      direction.io.h0 = start(h0_, k * places_.state_direction);
      direction.io.c0 = start(c0_, k * places_.state_direction);
      direction.io.y = offset(y.data(), k * places_.y_direction);
      direction.io.yh = offset(yh.data(), k * places_.state_direction);
      direction.io.yc = offset(yc.data(), k * places_.state_direction);
    }
  }

  RunContext& ctx_;
  const RecurrentSpec& spec_;
  const RecurrentPlaces places_;
  const Packed made_;  // in this run, of weights that are no constants
  Tensor x_, h0_, c0_;
  std::array<Output<T>, 3> outputs_;  // y, yh, yc
  std::vector<Direction> directions_;
  std::vector<kernels::RecurrentWalk<Kind, T>> walks_;
  std::vector<Tensor> scratches_;
};

template <class Kind>
struct State final : RecurrentNode {
  bool flush_denormals = true;
  // Of each direction, when all weights are constant.
  std::variant<std::monostate, std::vector<PackedRecurrent<Kind, float>>, std::vector<PackedRecurrent<Kind, double>>>
      packed;

  std::unique_ptr<RecurrentCall> Start(RunContext& ctx) const override {
    if (ctx.tensor(spec.operands->x).dtype() == TensorType::kDouble) return StartAs<double>(ctx);
    return StartAs<float>(ctx);
  }

 private:
  template <class T>
  std::unique_ptr<RecurrentCall> StartAs(RunContext& ctx) const {
    using Packed = std::vector<PackedRecurrent<Kind, T>>;
    if (const auto* constant = std::get_if<Packed>(&packed)) {
      const auto& first = constant->front();
      return std::make_unique<Call<Kind, T>>(
          ctx, spec, PlaceRecurrent(ctx, spec, first.input_size(), first.hidden_size()), *constant);
    }
    const NodeWeights weights = ReadWeights(spec, [&](int i) { return ctx.HasInput(i) ? &ctx.tensor(i) : nullptr; });
    const WeightSizes sizes = CheckWeights(ctx.node(), spec, weights);
    RecurrentPlaces places = PlaceRecurrent(ctx, spec, sizes.inputs, sizes.hidden);
    const bool bytes = weights.w.is_bytes();
    if (bytes) CheckByteSums(ctx.node(), spec, sizes);
    return std::make_unique<Call<Kind, T>>(
        ctx, spec, std::move(places),
        PackWeights<Kind, T>(spec, weights, sizes, bytes ? WeightStorage::kInt8 : WeightStorage::kFull,
                             flush_denormals));
  }
};

}  // namespace

template <class Kind>
std::unique_ptr<OpState> PrepareRecurrent(const PrepareContext& context, const RecurrentSpec& spec) {
  auto state = std::make_unique<State<Kind>>();
  state->spec = spec;
  state->flush_denormals = context.flush_denormals();
  const RecurrentOperands& at = *spec.operands;
  const NodeWeights weights =
      ReadWeights(spec, [&](int i) { return context.HasInput(i) ? context.ConstantInput(i) : nullptr; });
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
    state->packed = PackWeights<Kind, double>(spec, weights, sizes, WeightStorage::kFull, state->flush_denormals);
  } else {
    const WeightStorage storage = bytes ? WeightStorage::kInt8 : context.weight_storage();
    if (storage == WeightStorage::kInt8) CheckByteSums(context.node(), spec, sizes);
    state->packed = PackWeights<Kind, float>(spec, weights, sizes, storage, state->flush_denormals);
  }
  return state;
}

template <class Kind>
void RunRecurrentOp(RunContext& ctx) {
  ctx.CheckCancelled();
  ctx.state<State<Kind>>().Start(ctx)->Run();
}

template std::unique_ptr<OpState> PrepareRecurrent<kernels::Lstm>(const PrepareContext&, const RecurrentSpec&);
template std::unique_ptr<OpState> PrepareRecurrent<kernels::Gru>(const PrepareContext&, const RecurrentSpec&);
template std::unique_ptr<OpState> PrepareRecurrent<kernels::Rnn>(const PrepareContext&, const RecurrentSpec&);
template void RunRecurrentOp<kernels::Lstm>(RunContext&);
template void RunRecurrentOp<kernels::Gru>(RunContext&);
template void RunRecurrentOp<kernels::Rnn>(RunContext&);

}  // namespace ONNX_LIGHT_NAMESPACE
