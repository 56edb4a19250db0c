// SPDX-License-Identifier: Apache-2.0
// Scan (ai.onnx 8, 9): runs `body` once for each slice of the last num_scan_inputs inputs, all equally long along their
// scan axes; slice and state in, state and one slice of each scan output out. The states of the last run and the
// stacked slices are the outputs. Axes, negative ones included, and directions per scan input and output; direction 1
// goes from the end. Length 0 gives the initial states and empty scan outputs. Version 8 has a batch: axis 0 of
// everything is the row, axis 1 is scanned, row b only to sequence_lens[b] when that is given; scan outputs are 0 after
// it. https://onnx.ai/onnx/operators/onnx__Scan.html
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxseq/errors.h"
#include "ops/control/body_values.h"
#include "ops/control/carried_values.h"
#include "ops/control/scan_output.h"
#include "ops/control/unrolled.h"
#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/copy_elements.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::Interval;

struct ScanForm : OpState {
  // Throws InvalidArgument when node, attributes and body do not fit. `batched`: version 8.
  ScanForm(const NodeProto& node, bool batched_in) : batched(batched_in), first(batched_in ? 1 : 0) {
    const NodeAttributes attrs(node);
    const int64_t count = attrs.Int("num_scan_inputs");
    const int values = std::max(static_cast<int>(node.input_size()) - first, 0);
    if (count < 1 || count > values)
      FailAttribute("num_scan_inputs", fmt::format("is {}, not in [1, {}]", count, values));
    scans = static_cast<int>(count);
    states = values - scans;
    const int outputs = static_cast<int>(node.output_size());
    if (outputs < states)
      throw InvalidArgument(fmt::format("has {} outputs, fewer than its {} state variables", outputs, states));
    results = outputs - states;
    body = &CheckBody(node, "body", values, outputs);
    input_axes = PerValue(attrs, "scan_input_axes", scans);
    output_axes = PerValue(attrs, "scan_output_axes", results);
    input_backwards = Directions(attrs, batched ? "directions" : "scan_input_directions", scans);
    output_backwards = Directions(attrs, "scan_output_directions", results);
  }

  static std::vector<int64_t> PerValue(const NodeAttributes& attrs, std::string_view name, int count) {
    const auto given = attrs.FindInts(name);
    if (given && static_cast<int>(given->size()) != count)
      FailAttribute(name, fmt::format("has {} entries, {} are needed", given->size(), count));
    return given ? *given : std::vector<int64_t>(static_cast<size_t>(count), 0);
  }
  static std::vector<int64_t> Directions(const NodeAttributes& attrs, std::string_view name, int count) {
    std::vector<int64_t> directions = PerValue(attrs, name, count);
    for (const int64_t direction : directions)
      if (direction != 0 && direction != 1) FailAttribute(name, fmt::format("has {}, must be 0 or 1", direction));
    return directions;
  }
  int StateInput(int s) const { return first + s; }
  int ScanInput(int i) const { return first + states + i; }

  bool batched;
  int first;  // input
  int states;
  int scans;
  int results;  // scan outputs
  const GraphProto* body;
  std::vector<int64_t> input_axes;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> input_backwards;
  std::vector<int64_t> output_backwards;
};

// Shapes ------------------------------------------------------------------------------------------

ShapeValue WithoutAxis(const ShapeValue& value, size_t axis) {
  if (!value.IsTensor()) return value;
  if (!value.HasRank() || axis >= value.Shape().Rank()) return ShapeValue::Tensor(value.Dtype(), OptimShape::Unknown());
  std::vector<OptimDim> dims(value.Shape().begin(), value.Shape().end());
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return ShapeValue::Tensor(value.Dtype(), OptimShape(std::move(dims)));
}

ShapeValue WithBatch(const ShapeValue& value, const OptimDim& batch) {
  if (!value.IsTensor() || !value.HasRank()) return WithoutAxis(value, 0);
  std::vector<OptimDim> dims(value.Shape().begin(), value.Shape().end());
  dims.insert(dims.begin(), batch);
  return ShapeValue::Tensor(value.Dtype(), OptimShape(std::move(dims)));
}

class ScanRule {
 public:
  ScanRule(InferScope& scope, bool batched) : scope_(scope), ctx_(scope.context()), form_(scope.node(), batched) {}

  void Infer() {
    std::vector<ShapeValue> slices;
    for (int i = 0; i < form_.scans; ++i) slices.push_back(Slice(i));
    std::vector<ShapeValue> initial;
    for (int s = 0; s < form_.states; ++s) initial.push_back(State(s));
    if (!length_) length_ = ctx_.FreshDim("length");
    if (!batch_) batch_ = ctx_.FreshDim("batch");
    OptimDim runs = *length_;
    if (form_.batched && scope_.HasInput(0)) runs = ctx_.FreshDim("length", Interval{0, ctx_.Bounds(runs).upper});
    const bool some = ctx_.ProvablyGreaterEqual(runs, OptimDim(1));
    const OptimDim number = ctx_.FreshDim("iteration");
    const auto bind = [&](std::span<const ShapeValue> head) {
      std::vector<ShapeValue> inputs(head.begin(), head.end());
      inputs.insert(inputs.end(), slices.begin(), slices.end());
      return inputs;
    };
    CarriedValues carried(scope_, *form_.body, initial, 0, number);
    carried.Infer(bind);
    std::vector<ShapeValue> last = carried.After(runs, some);
    if (some && runs.IsInt() && !carried.exact()) {
      const std::optional<Unrolled> unrolled =
          Unroll(scope_, *form_.body, std::move(initial),
                 {.bind = [&](int64_t, std::span<const ShapeValue> head) { return bind(head); },
                  .goes_on = [](std::span<const ShapeValue>) { return std::optional(true); },
                  .first_output = 0,
                  .limit = runs.AsInt()});
      if (unrolled) last = unrolled->last;
    }
    for (int s = 0; s < form_.states; ++s)
      scope_.SetOutput(s,
                       form_.batched ? WithBatch(last[static_cast<size_t>(s)], *batch_) : last[static_cast<size_t>(s)]);
    for (int r = 0; r < form_.results; ++r) {
      const ShapeValue stacked = carried.Stacked(static_cast<size_t>(form_.states + r), *length_, some,
                                                 form_.output_axes[static_cast<size_t>(r)]);
      scope_.SetOutput(form_.states + r, form_.batched ? WithBatch(stacked, *batch_) : stacked);
    }
  }

 private:
  // What the body takes of scan input i.
  ShapeValue Slice(int i) {
    const int input = form_.ScanInput(i);
    ShapeValue value = scope_.Input(input);
    if (value.IsUnknown()) return WithDeclared(ctx_, value, form_.body->input(static_cast<size_t>(form_.states + i)));
    if (form_.batched) value = WithoutBatch(input, value);
    if (!value.HasRank()) return WithoutAxis(value, 0);
    const int axis = scope_.NormalizeAxis(form_.input_axes[static_cast<size_t>(i)],
                                          static_cast<int>(value.Shape().Rank()), AxisSubject(input));
    const OptimDim& dim = value.Shape()[static_cast<size_t>(axis)];
    const std::string subject = fmt::format("the length of {}", scope_.InputSubject(input));
    length_ = length_ ? scope_.Unify(*length_, dim, length_subject_, subject) : dim;
    if (length_subject_.empty()) length_subject_ = subject;
    return WithoutAxis(value, static_cast<size_t>(axis));
  }
  ShapeValue State(int s) {
    const int input = form_.StateInput(s);
    const ShapeValue value = WithDeclared(ctx_, scope_.Input(input), form_.body->input(static_cast<size_t>(s)));
    return form_.batched ? WithoutBatch(input, value) : value;
  }
  ShapeValue WithoutBatch(int input, const ShapeValue& value) {
    if (!value.HasRank()) return WithoutAxis(value, 0);
    if (value.Shape().Rank() == 0) scope_.Fail(scope_.InputSubject(input), "is a scalar, it must have a batch axis");
    const std::string subject = fmt::format("the batch of {}", scope_.InputSubject(input));
    batch_ = batch_ ? scope_.Unify(*batch_, value.Shape()[0], batch_subject_, subject) : value.Shape()[0];
    if (batch_subject_.empty()) batch_subject_ = subject;
    return WithoutAxis(value, 0);
  }
  std::string AxisSubject(int input) const {
    return form_.batched ? scope_.InputSubject(input) : std::string("attribute 'scan_input_axes'");
  }

  InferScope& scope_;
  ShapesContext& ctx_;
  ScanForm form_;
  std::optional<OptimDim> length_;
  std::string length_subject_;
  std::optional<OptimDim> batch_;
  std::string batch_subject_;
};

// Running -----------------------------------------------------------------------------------------

// One scan: over everything, or over one row of a batch.
class ScanRun {
 public:
  ScanRun(RunContext& ctx, const ScanForm& form)
      : ctx_(ctx),
        form_(form),
        body_(ctx.Body("body")),
        inputs_(static_cast<size_t>(form.states + form.scans)),
        outputs_(static_cast<size_t>(form.states + form.results)) {}

  // Slices 0 .. length-1 of `scanned` along `axes`; `states` become the last ones. Scan outputs have room for `length`.
  void Run(std::vector<Value>& states, std::span<const Tensor> scanned, std::span<const int> axes, int64_t length) {
    scans_.clear();
    for (int r = 0; r < form_.results; ++r)
      scans_.emplace_back(length, true, form_.output_axes[static_cast<size_t>(r)]);
    CarriedTypes types(states);
    for (int64_t t = 0; t < length; ++t) {
      ctx_.CheckCancelled();
      if (steps_ == nullptr) steps_ = body_.Start("iteration");
      for (size_t s = 0; s < states.size(); ++s) inputs_[s] = std::move(states[s]);
      for (size_t i = 0; i < scanned.size(); ++i)
        inputs_[states.size() + i] = Slice(scanned[i], axes[i], form_.input_backwards[i] != 0 ? length - 1 - t : t);
      steps_->Run(inputs_, outputs_, t);
      types.Check(ctx_, *form_.body, 0, outputs_, t);
      for (size_t s = 0; s < states.size(); ++s) states[s] = std::move(outputs_[s]);
      for (int r = 0; r < form_.results; ++r) {
        if (!ctx_.HasOutput(form_.states + r)) continue;
        const int64_t at = form_.output_backwards[static_cast<size_t>(r)] != 0 ? length - 1 - t : t;
        const int output = form_.states + r;
        scans_[static_cast<size_t>(r)].Put(ctx_, *form_.body, output, outputs_[static_cast<size_t>(output)], at, t);
      }
    }
  }

  // Scan output r of a run of this length.
  Tensor Result(int r, int64_t length) {
    ScanOutput& scan = scans_[static_cast<size_t>(r)];
    return length > 0
               ? scan.Take(length)
               : EmptyStack(ctx_, body_, *form_.body, form_.states + r, form_.output_axes[static_cast<size_t>(r)]);
  }

 private:
  static Tensor Slice(const Tensor& from, int axis, int64_t at) {
    Shape shape = from.shape();
    shape.erase(axis);
    const int64_t inner = DimsProduct(from.shape().dims(), axis + 1, from.rank());
    if (axis == 0) return from.Part(at * inner, std::move(shape));
    const int64_t outer = DimsProduct(from.shape().dims(), 0, axis);
    Tensor slice(from.dtype(), std::move(shape));
    for (int64_t row = 0; row < outer; ++row)
      CopyElements(slice, row * inner, from, (row * from.dim(axis) + at) * inner, inner);
    return slice;
  }

  RunContext& ctx_;
  const ScanForm& form_;
  const BodyRunner& body_;
  std::unique_ptr<BodySteps> steps_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  std::vector<ScanOutput> scans_;
};

void RunScan(RunContext& ctx) {
  const auto& form = ctx.state<ScanForm>();
  std::vector<Tensor> scanned;
  std::vector<int> axes;
  for (int i = 0; i < form.scans; ++i) {
    const int input = form.ScanInput(i);
    scanned.push_back(ctx.tensor(input));
    axes.push_back(NormalizeAxis(ctx, form.input_axes[static_cast<size_t>(i)], scanned.back().rank(),
                                 "attribute 'scan_input_axes'"));
    const int64_t length = scanned.back().dim(axes.back());
    if (const int64_t first = scanned[0].dim(axes[0]); length != first)
      ctx.FailInput(input, fmt::format("has {} slices along axis {}, {} has {} along axis {}", length, axes.back(),
                                       ctx.InputSubject(form.ScanInput(0)), first, axes[0]));
  }
  const int64_t length = scanned[0].dim(axes[0]);
  std::vector<Value> states;
  for (int s = 0; s < form.states; ++s) states.push_back(ctx.TakeInput(form.StateInput(s)));
  ScanRun run(ctx, form);
  run.Run(states, scanned, axes, length);
  for (int s = 0; s < form.states; ++s) ctx.SetOutput(s, std::move(states[static_cast<size_t>(s)]));
  for (int r = 0; r < form.results; ++r)
    if (ctx.HasOutput(form.states + r)) ctx.SetOutput(form.states + r, run.Result(r, length));
}

// Version 8 ---------------------------------------------------------------------------------------

Tensor Row(const Tensor& batch, int64_t row) {
  Shape shape = batch.shape();
  shape.erase(0);
  const int64_t count = shape.NumElements();
  return batch.Part(row * count, std::move(shape));
}

// A scan output of one row, as long as the longest one may be, 0 (or "") after its end.
Tensor Padded(const Tensor& row, int64_t length) {
  if (row.dim(0) == length) return row;
  Shape shape = row.shape();
  shape[0] = length;
  Tensor padded(row.dtype(), std::move(shape));
  if (row.dtype() != TensorType::kString) std::memset(padded.mutable_data(), 0, padded.ByteSize());
  CopyElements(padded, 0, row, 0, row.NumElements());
  return padded;
}

void RunBatchedScan(RunContext& ctx) {
  const auto& form = ctx.state<ScanForm>();
  const Tensor& first = ctx.tensor(form.ScanInput(0));
  const int64_t batch = first.rank() < 2 ? 0 : first.dim(0);
  const int64_t length = first.rank() < 2 ? 0 : first.dim(1);
  for (int i = 0; i < form.states + form.scans; ++i) {
    const Tensor& value = ctx.tensor(form.first + i);
    const int least = i < form.states ? 1 : 2;
    if (value.rank() < least)
      ctx.FailInput(form.first + i, fmt::format("is {}, it must have rank {} at least", value.TypeString(), least));
    if (value.dim(0) != batch || (least == 2 && value.dim(1) != length))
      ctx.FailInput(form.first + i, fmt::format("is {}, {} is {}", value.TypeString(),
                                                ctx.InputSubject(form.ScanInput(0)), first.TypeString()));
  }
  std::vector<int64_t> lengths(static_cast<size_t>(batch), length);
  if (ctx.HasInput(0)) {
    lengths = ReadInts(ctx, 0);
    if (static_cast<int64_t>(lengths.size()) != batch)
      ctx.FailInput(0, fmt::format("has {} lengths, the batch has {} rows", lengths.size(), batch));
    for (const int64_t l : lengths)
      if (l < 0 || l > length) ctx.FailInput(0, fmt::format("has {}, not in [0, {}]", l, length));
  }
  const std::vector<int> axes(static_cast<size_t>(form.scans), 0);
  std::vector<ScanOutput> rows(static_cast<size_t>(form.states + form.results), ScanOutput(batch, true));
  ScanRun run(ctx, form);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Value> states;
    std::vector<Tensor> scanned;
    for (int s = 0; s < form.states; ++s) states.emplace_back(Row(ctx.tensor(form.StateInput(s)), b));
    for (int i = 0; i < form.scans; ++i) scanned.push_back(Row(ctx.tensor(form.ScanInput(i)), b));
    const int64_t of_row = lengths[static_cast<size_t>(b)];
    run.Run(states, scanned, axes, of_row);
    for (int s = 0; s < form.states; ++s)
      rows[static_cast<size_t>(s)].Put(ctx, *form.body, s, states[static_cast<size_t>(s)], b, b);
    for (int r = 0; r < form.results; ++r) {
      if (!ctx.HasOutput(form.states + r)) continue;
      const int output = form.states + r;
      rows[static_cast<size_t>(output)].Put(ctx, *form.body, output, Padded(run.Result(r, of_row), length), b, b);
    }
  }
  for (int o = 0; o < form.states + form.results; ++o) {
    if (!ctx.HasOutput(o)) continue;
    if (batch > 0) {
      ctx.SetOutput(o, rows[static_cast<size_t>(o)].Take(batch));
    } else if (o < form.states) {
      ctx.SetOutput(o, ctx.TakeInput(form.StateInput(o)));
    } else {
      Tensor none = EmptyStack(ctx, ctx.Body("body"), *form.body, o);
      Shape shape = none.shape();
      shape[0] = length;
      shape.insert(0, 0);
      ctx.SetOutput(o, Tensor(none.dtype(), std::move(shape)));
    }
  }
}

OpDef Version9() {
  return {.domain = "",
          .type = "Scan",
          .since_version = 9,
          .inputs = {{.name = "initial_state_and_scan_inputs", .types = kAllTypes, .count = FormalCount::kVariadic}},
          .outputs = {{.name = "final_state_and_scan_outputs", .types = kAllTypes, .count = FormalCount::kVariadic}},
          .attributes = {{"body", AttrKind::kGraph, true},
                         {"num_scan_inputs", AttrKind::kInt, true},
                         {"scan_input_axes", AttrKind::kInts},
                         {"scan_input_directions", AttrKind::kInts},
                         {"scan_output_axes", AttrKind::kInts},
                         {"scan_output_directions", AttrKind::kInts}},
          .shape = [](InferScope& scope) { ScanRule(scope, false).Infer(); },
          .prepare = [](const PrepareContext& ctx) -> std::unique_ptr<OpState> {
            return std::make_unique<ScanForm>(ctx.node(), false);
          },
          .run = RunScan,
          .repeats_bodies = true};
}

OpDef Version8() {
  return {.domain = "",
          .type = "Scan",
          .since_version = 8,
          .inputs = {{.name = "sequence_lens", .types = TypeSet{TensorType::kInt64}, .count = FormalCount::kOptional},
                     {.name = "initial_state_and_scan_inputs", .types = kAllTypes, .count = FormalCount::kVariadic}},
          .outputs = {{.name = "final_state_and_scan_outputs", .types = kAllTypes, .count = FormalCount::kVariadic}},
          .attributes = {{"body", AttrKind::kGraph, true},
                         {"num_scan_inputs", AttrKind::kInt, true},
                         {"directions", AttrKind::kInts}},
          .shape = [](InferScope& scope) { ScanRule(scope, true).Infer(); },
          .prepare = [](const PrepareContext& ctx) -> std::unique_ptr<OpState> {
            return std::make_unique<ScanForm>(ctx.node(), true);
          },
          .run = RunBatchedScan,
          .repeats_bodies = true};
}

}  // namespace

std::span<const OpDef> scan_ops() {
  static const OpDef ops[] = {Version8(), Version9()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
