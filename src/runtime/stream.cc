// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/sequence/copy_elements.h"
#include "runtime/session_impl.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kNoAxis = -1;

// Where an input or output has the batch dim.
int BatchAxis(std::string_view what, const ValueDescription& value, std::string_view batch) {
  if (batch.empty() || !value.shape) return kNoAxis;
  const auto first = std::ranges::find(*value.shape, batch, &ValueDescription::Dim::text);
  if (first == value.shape->end()) return kNoAxis;
  if (std::ranges::count(*value.shape, batch, &ValueDescription::Dim::text) > 1)
    FailIo(what, value.name, fmt::format("has two dims {}", batch));
  return static_cast<int>(first - value.shape->begin());
}

// The dims before the axis and from it on, as factors of the element count.
struct Blocks {
  Blocks(const Shape& shape, int axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : i == axis ? rows : inner) *= shape[i];
  }
  int64_t outer = 1, rows = 1, inner = 1;
};

bool HasShapeOf(const Value& value, TensorType dtype, const Shape& shape) {
  return value.IsTensor() && value.tensor().dtype() == dtype && value.tensor().shape() == shape;
}

// A tensor of this type and shape to be written: what `value` holds, if nobody else has it, otherwise a new one.
Tensor& WritableIn(Value& value, TensorType dtype, const Shape& shape) {
  if (!HasShapeOf(value, dtype, shape) || !value.tensor().IsUnique()) value = Tensor(dtype, shape);
  return value.mutable_tensor();
}

// Puts row `row` of a batch, which `blocks` describes, into `to` as a batch of one of shape `one`. It has memory of its
// own: a stream that goes idle must not keep those of others.
void CopyRow(Value& to, const Tensor& batch, const Blocks& blocks, const Shape& one, int64_t row) {
  Tensor& tensor = WritableIn(to, batch.dtype(), one);
  for (int64_t o = 0; o < blocks.outer; ++o)
    CopyElements(tensor, o * blocks.inner, batch, (o * blocks.rows + row) * blocks.inner, blocks.inner);
}

bool AlikeButForAxis(const Tensor& a, const Tensor& b, int axis) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (i != axis && a.dim(i) != b.dim(i)) return false;
  return true;
}

bool Equal(const Value& a, const Value& b) {
  if (!a.IsTensor() || !b.IsTensor()) return a.IsNone() && b.IsNone();
  const Tensor &x = a.tensor(), &y = b.tensor();
  if (x.dtype() != y.dtype() || x.shape() != y.shape()) return false;
  if (x.dtype() == TensorType::kString) return std::ranges::equal(x.View<std::string>(), y.View<std::string>());
  return x.ByteSize() == 0 || std::memcmp(x.data(), y.data(), x.ByteSize()) == 0;
}

}  // namespace

struct Stream::Impl {
  std::shared_ptr<StreamGroup::Impl> group;
  // In the order of the group's. A run writes `next`, and the two change places when all of it went well: their memory
  // serves all runs.
  std::vector<Value> states, next;
  size_t run = 0;  // number of the last one that had this stream
};

struct StreamGroup::Impl {
  struct State {
    size_t input, output;  // positions in the model
    Value initial;
  };
  // A step with all its inputs by their position in the model, states among them.
  struct Placed {
    Stream::Impl* stream;
    std::span<const Value*> inputs;
    ValueMap* results;
  };
  using Batch = std::vector<const Placed*>;

  Impl(const Session& session_in, const StreamOptions& options);
  void AddState(const StreamState& named);
  Value ZerosFor(size_t input) const;
  void Place(const Step& step, std::span<const Value*> inputs) const;
  bool FitTogether(const Placed& a, const Placed& b) const;
  std::vector<Batch> Batches(std::span<const Placed> steps) const;
  void Stack(const Batch& batch, size_t input);
  Value TakeOutput(size_t i, size_t rows);
  void RunBatch(const Batch& batch, const RunOptions& options);

  Session session;
  Runner runner;
  std::string batch_symbol;
  std::vector<State> states;
  std::vector<int> input_axes, output_axes;
  std::vector<bool> is_state_input, is_state_output;
  std::vector<Value> stacked;  // by input: memory for the rows of a batch
  size_t last_batches = 0, runs = 0;
};

StreamGroup::Impl::Impl(const Session& session_in, const StreamOptions& options)
    : session(session_in), runner(session_in), batch_symbol(options.batch) {
  for (const ValueDescription& input : session.inputs()) input_axes.push_back(BatchAxis("input", input, batch_symbol));
  if (!batch_symbol.empty() && std::ranges::all_of(input_axes, [](int axis) { return axis == kNoAxis; }))
    throw InvalidArgument(fmt::format("no input has a dim {} to batch streams along", batch_symbol));
  is_state_input.resize(input_axes.size());
  stacked.resize(input_axes.size());
  is_state_output.resize(session.outputs().size());
  output_axes.resize(session.outputs().size(), kNoAxis);
  for (const StreamState& state : options.states) AddState(state);
  if (batch_symbol.empty()) return;
  if (std::ranges::all_of(states, [&](const State& state) { return input_axes[state.input] == kNoAxis; }))
    throw InvalidArgument(fmt::format("no state has a dim {} to batch streams along", batch_symbol));
  for (size_t i = 0; i < output_axes.size(); ++i) {
    if (is_state_output[i]) continue;
    const ValueDescription& output = session.outputs()[i];
    output_axes[i] = BatchAxis("output", output, batch_symbol);
    if (output_axes[i] == kNoAxis)
      FailIo("output", output.name, fmt::format("has no dim {} by which to tell streams apart", batch_symbol));
  }
}

void StreamGroup::Impl::AddState(const StreamState& named) {
  const auto find = [](std::string_view what, std::span<const ValueDescription> values, const std::string& name,
                       std::vector<bool>& taken) {
    const auto it = std::ranges::find(values, name, &ValueDescription::name);
    if (it == values.end()) FailIo(what, name, fmt::format("is to be a state, but the model has no such {}", what));
    const auto i = static_cast<size_t>(it - values.begin());
    if (taken[i]) FailIo(what, name, "is named in two states");
    taken[i] = true;
    return i;
  };
  State state;
  state.input = find("input", session.inputs(), named.input, is_state_input);
  state.output = find("output", session.outputs(), named.output, is_state_output);
  const auto &shape = session.inputs()[state.input].shape, &next = session.outputs()[state.output].shape;
  if (shape && next && shape->size() != next->size())
    FailIo("output", named.output,
           fmt::format("has rank {}, and input \"{}\", whose state it is, rank {}", next->size(), named.input,
                       shape->size()));
  state.initial = named.initial.IsNone() ? ZerosFor(state.input) : named.initial;
  state.initial.CopyBorrowed();  // the lender may be gone when a stream is opened
  const int axis = output_axes[state.output] = input_axes[state.input];
  if (axis != kNoAxis &&
      (!state.initial.IsTensor() || axis >= state.initial.tensor().rank() || state.initial.tensor().dim(axis) != 1))
    FailIo("input", named.input,
           fmt::format("the initial state is {}, but a stream is one row along axis {}", state.initial.TypeString(),
                       axis));
  states.push_back(std::move(state));
}

Value StreamGroup::Impl::ZerosFor(size_t input) const {
  const ValueDescription& described = session.inputs()[input];
  const auto fail = [&](std::string_view why) {
    FailIo("input", described.name, fmt::format("is a state without an initial value, and {}", why));
  };
  const auto& declared = session.model().graph().input();
  const auto info = std::ranges::find_if(declared, [&](const auto& each) { return each.name() == described.name; });
  if (info == declared.end() || !info->type().has_tensor_type() || !described.shape)
    fail(fmt::format("{} says no shape to make zeros of", described.type));
  Shape shape;
  for (const ValueDescription::Dim& dim : *described.shape) {
    if (!dim.size && (batch_symbol.empty() || dim.text != batch_symbol))
      fail(fmt::format("its dim {} is open", dim.text));
    shape.push_back(dim.size.value_or(1));
  }
  Tensor zeros(onnx_optim::DataTypeToTensorType(info->type().tensor_type().elem_type()), std::move(shape));
  if (zeros.dtype() != TensorType::kString && zeros.ByteSize() > 0)
    std::memset(zeros.mutable_data(), 0, zeros.ByteSize());
  return zeros;
}

// `inputs`: where each of the step's is.
void StreamGroup::Impl::Place(const Step& step, std::span<const Value*> inputs) const {
  static const Value none;
  std::ranges::fill(inputs, &none);
  for (size_t s = 0; s < states.size(); ++s) inputs[states[s].input] = &step.stream->impl_->states[s];
  for (const auto& [name, value] : step.inputs) {
    const auto it = std::ranges::find(session.inputs(), name, &ValueDescription::name);
    if (it == session.inputs().end()) FailIo("input", name, "the model has no such input");
    const auto i = static_cast<size_t>(it - session.inputs().begin());
    if (is_state_input[i]) FailIo("input", name, "is a state, which the stream feeds");
    const int axis = input_axes[i];
    if (axis != kNoAxis && value.IsTensor() && (axis >= value.tensor().rank() || value.tensor().dim(axis) != 1))
      FailIo("input", name,
             fmt::format("expected one row along axis {}, {}, got {}", axis, batch_symbol, value.TypeString()));
    inputs[i] = &value;
  }
}

bool StreamGroup::Impl::FitTogether(const Placed& a, const Placed& b) const {
  for (size_t i = 0; i < input_axes.size(); ++i) {
    const Value &x = *a.inputs[i], &y = *b.inputs[i];
    const bool together = input_axes[i] != kNoAxis && x.IsTensor() && y.IsTensor();
    if (!(together ? AlikeButForAxis(x.tensor(), y.tensor(), input_axes[i]) : Equal(x, y))) return false;
  }
  return true;
}

std::vector<StreamGroup::Impl::Batch> StreamGroup::Impl::Batches(std::span<const Placed> steps) const {
  std::vector<Batch> batches;
  for (const Placed& step : steps) {
    const auto it = batch_symbol.empty() ? batches.end() : std::ranges::find_if(batches, [&](const Batch& batch) {
      return FitTogether(*batch.front(), step);
    });
    if (it == batches.end())
      batches.push_back({&step});
    else
      it->push_back(&step);
  }
  return batches;
}

Value StreamGroup::Impl::TakeOutput(size_t i, size_t rows) {
  Value value = runner.TakeOutput(static_cast<int>(i));
  const int axis = output_axes[i];
  if (axis != kNoAxis &&
      (!value.IsTensor() || axis >= value.tensor().rank() || value.tensor().dim(axis) != static_cast<int64_t>(rows)))
    FailIo("output", session.outputs()[i].name,
           fmt::format("expected {} rows along axis {}, got {}", rows, axis, value.TypeString()));
  return value;
}

// Feeds the rows of a batch, alike but for their elements, as one.
void StreamGroup::Impl::Stack(const Batch& batch, size_t input) {
  const auto row = [&](size_t i) -> const Tensor& { return batch[i]->inputs[input]->tensor(); };
  Shape shape = row(0).shape();
  shape[input_axes[input]] = std::ssize(batch);
  const Blocks blocks(shape, input_axes[input]);
  Tensor& all = WritableIn(stacked[input], row(0).dtype(), shape);
  for (size_t i = 0; i < batch.size(); ++i)
    for (int64_t o = 0; o < blocks.outer; ++o)
      CopyElements(all, (o * blocks.rows + static_cast<int64_t>(i)) * blocks.inner, row(i), o * blocks.inner,
                   blocks.inner);
  runner.SetInput(static_cast<int>(input), stacked[input]);
}

void StreamGroup::Impl::RunBatch(const Batch& batch, const RunOptions& options) {
  for (size_t i = 0; i < input_axes.size(); ++i) {
    const Value& first = *batch.front()->inputs[i];
    if (batch.size() == 1 || input_axes[i] == kNoAxis || !first.IsTensor())
      runner.SetInput(static_cast<int>(i), first);
    else
      Stack(batch, i);
  }
  // The runner keeps none of what it was fed, which may be memory that was lent.
  const auto release = [&] {
    for (size_t i = 0; i < input_axes.size(); ++i) runner.SetInput(static_cast<int>(i), Value());
  };
  try {
    runner.Run(options);
  } catch (...) {
    release();
    throw;
  }
  release();
  // to(step) is where the output goes.
  const auto give = [&](size_t output, const auto& to) {
    const Value value = TakeOutput(output, batch.size());
    if (batch.size() == 1 || output_axes[output] == kNoAxis) {
      for (const Placed* step : batch) to(*step) = value;
      return;
    }
    const Tensor& all = value.tensor();
    const Blocks blocks(all.shape(), output_axes[output]);
    Shape one = all.shape();
    one[output_axes[output]] = 1;
    for (size_t row = 0; row < batch.size(); ++row)
      CopyRow(to(*batch[row]), all, blocks, one, static_cast<int64_t>(row));
  };
  for (size_t s = 0; s < states.size(); ++s)
    give(states[s].output, [&](const Placed& step) -> Value& { return step.stream->next[s]; });
  for (size_t i = 0; i < output_axes.size(); ++i)
    if (!is_state_output[i])
      give(i, [&](const Placed& step) -> Value& { return (*step.results)[session.outputs()[i].name]; });
}

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

ValueMap Stream::Run(const ValueMap& inputs, const RunOptions& options) {
  const StreamGroup::Step step{this, inputs};
  return std::move(StreamGroup::RunSteps(*impl_->group, {&step, 1}, options).front());
}

Value Stream::State(std::string_view input) const {
  const StreamGroup::Impl& group = *impl_->group;
  for (size_t s = 0; s < group.states.size(); ++s)
    if (group.session.inputs()[group.states[s].input].name == input) return impl_->states[s];
  FailIo("input", input, "is no state of the stream");
}

void Stream::Reset() {
  for (size_t s = 0; s < impl_->states.size(); ++s) impl_->states[s] = impl_->group->states[s].initial;
}

StreamGroup::StreamGroup(const Session& session, StreamOptions options)
    : impl_(TranslateErrors([&] { return std::make_shared<Impl>(session, options); })) {}

Stream StreamGroup::Open() const {
  auto impl = std::make_unique<Stream::Impl>();
  impl->group = impl_;
  impl->states.resize(impl_->states.size());
  impl->next.resize(impl_->states.size());
  Stream stream(std::move(impl));
  stream.Reset();
  return stream;
}

std::vector<ValueMap> StreamGroup::Run(std::span<const Step> steps, const RunOptions& options) {
  return RunSteps(*impl_, steps, options);
}

size_t StreamGroup::last_batches() const { return impl_->last_batches; }

std::vector<ValueMap> StreamGroup::RunSteps(Impl& group, std::span<const Step> steps, const RunOptions& options) {
  return TranslateErrors([&] {
    ++group.runs;
    const size_t width = group.input_axes.size();
    std::vector<const Value*> inputs(steps.size() * width);
    std::vector<ValueMap> results(steps.size());
    std::vector<Impl::Placed> placed(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto fail = [&](const char* why) { throw InvalidArgument(fmt::format("step {}: {}", i, why)); };
      if (steps[i].stream == nullptr || steps[i].stream->impl_ == nullptr) fail("there is no stream");
      Stream::Impl& stream = *steps[i].stream->impl_;
      if (stream.group.get() != &group) fail("the stream is of another group");
      if (std::exchange(stream.run, group.runs) == group.runs) fail("the stream is there twice");
      placed[i] = {&stream, std::span(inputs).subspan(i * width, width), &results[i]};
      try {
        group.Place(steps[i], placed[i].inputs);
      } catch (Error& error) {
        error.AddPath(fmt::format("in step {}", i));
        throw;
      }
    }
    const std::vector<Impl::Batch> batches = group.Batches(placed);
    for (const Impl::Batch& batch : batches) group.RunBatch(batch, options);
    group.last_batches = batches.size();
    for (const Impl::Placed& step : placed) step.stream->states.swap(step.stream->next);
    return results;
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
