// SPDX-License-Identifier: Apache-2.0
// Loop (ai.onnx 1, 13, 16): runs `body` for iterations 0, 1, ... while they are fewer than M and the condition holds. M
// that is left out sets no limit; `cond` that is left out is true; from iteration 1 on the condition is the body's
// first output. M and the conditions are tensors of one element. The body takes the iteration's number, the condition
// (true in every iteration) and the carried values, and gives the condition, the carried values for the next iteration
// and the scan outputs, each of which must have the same shape in all iterations and is stacked along a new first axis.
// Carried values may be sequences from version 13 on, optionals from 16 on.
// https://onnx.ai/onnx/operators/onnx__Loop.html
#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::Interval;

// Some exporters declare the iteration's number and the condition as vectors of one element; they get what they
// declare.
bool IsVector(const ValueInfoProto& input) {
  return input.type().has_tensor_type() && input.type().tensor_type().has_shape() &&
         input.type().tensor_type().shape().dim_size() == 1;
}

// The condition the body gives is the one it takes: only M ends the loop.
bool NeverStops(const GraphProto& body) {
  std::string_view name = body.output(0).name();
  for (size_t hops = 0; hops <= body.node().size(); ++hops) {
    if (name == std::string_view(body.input(1).name())) return true;
    const auto& nodes = body.node();
    const auto copy = std::find_if(nodes.begin(), nodes.end(), [&](const NodeProto& node) {
      return node.op_type() == "Identity" && node.output_size() == 1 && node.input_size() == 1 &&
             std::string_view(node.output(0)) == name;
    });
    if (copy == nodes.end()) return false;
    name = copy->input(0);
  }
  return false;
}

struct LoopForm : OpState {
  // Throws InvalidArgument when node and body do not fit.
  explicit LoopForm(const NodeProto& node) : carried(std::max(static_cast<int>(node.input_size()) - 2, 0)) {
    const int outputs = static_cast<int>(node.output_size());
    if (outputs < carried)
      throw InvalidArgument(fmt::format("has {} outputs, fewer than its {} carried values", outputs, carried));
    scans = outputs - carried;
    body = &CheckBody(node, "body", carried + 2, outputs + 1);
    number_is_vector = IsVector(body->input(0));
    condition_is_vector = IsVector(body->input(1));
    never_stops = NeverStops(*body);
  }
  int carried;
  int scans;
  const GraphProto* body;
  bool number_is_vector;
  bool condition_is_vector;
  bool never_stops;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return std::make_unique<LoopForm>(ctx.node()); }

// Shapes ------------------------------------------------------------------------------------------

ShapeValue OneElement(TensorType dtype, bool vector, OptimDim value) {
  return ShapeValue::TensorWithValue(dtype, vector ? OptimShape{OptimDim(1)} : OptimShape(), {std::move(value)});
}

void InferLoop(InferScope& scope) {
  const LoopForm form(scope.node());
  ShapesContext& ctx = scope.context();
  std::optional<OptimDim> limit;
  if (const auto m = scope.InputValue(0); m && m->size() == 1) limit = onnx_optim::Max(m->front(), OptimDim(0));
  std::optional<bool> begins;
  if (!scope.HasInput(1)) begins = true;
  if (const auto cond = scope.InputInts(1); cond && cond->size() == 1) begins = cond->front() != 0;
  const bool none = begins == false || limit == OptimDim(0);
  const bool some = begins == true && (!scope.HasInput(0) || (limit && ctx.ProvablyGreaterEqual(*limit, OptimDim(1))));

  const int64_t most = limit ? ctx.Bounds(*limit).upper : std::numeric_limits<int64_t>::max();
  OptimDim runs = ctx.FreshDim("trips", Interval{some ? 1 : 0, most});
  const OptimDim number =
      ctx.FreshDim("iteration", Interval{0, most == INT64_MAX ? most : std::max<int64_t>(most - 1, 0)});
  std::vector<ShapeValue> initial;
  for (int c = 0; c < form.carried; ++c)
    initial.push_back(WithDeclared(ctx, scope.Input(2 + c), form.body->input(static_cast<size_t>(2 + c))));
  const auto bind = [&](const OptimDim& i, std::span<const ShapeValue> head) {
    std::vector<ShapeValue> inputs{OneElement(TensorType::kInt64, form.number_is_vector, i),
                                   OneElement(TensorType::kBool, form.condition_is_vector, OptimDim(1))};
    inputs.insert(inputs.end(), head.begin(), head.end());
    return inputs;
  };
  CarriedValues carried(scope, *form.body, initial, 1, number);
  carried.Infer([&](std::span<const ShapeValue> head) { return bind(number, head); });
  const bool goes_on = carried.outputs()[0].ScalarValue() == OptimDim(1);
  if (none) {
    runs = OptimDim(0);
  } else if (begins == true && goes_on && limit) {
    runs = *limit;
  }

  std::optional<Unrolled> unrolled;
  if (some && !(carried.exact() && goes_on)) {
    unrolled = Unroll(scope, *form.body, initial,
                      {.bind = [&](int64_t i, std::span<const ShapeValue> head) { return bind(OptimDim(i), head); },
                       .goes_on = [](std::span<const ShapeValue> outputs) -> std::optional<bool> {
                         const std::optional<OptimDim> condition = outputs[0].ScalarValue();
                         return condition && condition->IsInt() ? std::optional(condition->AsInt() != 0) : std::nullopt;
                       },
                       .first_output = 1,
                       .limit = limit && limit->IsInt() ? limit->AsInt() : std::numeric_limits<int64_t>::max()});
  }
  std::vector<ShapeValue> last = none ? std::move(initial) : unrolled ? unrolled->last : carried.After(runs, some);
  for (int c = 0; c < form.carried; ++c) scope.SetOutput(c, std::move(last[static_cast<size_t>(c)]));
  for (int s = 0; s < form.scans; ++s) {
    const size_t output = static_cast<size_t>(1 + form.carried + s);
    if (unrolled) {
      scope.SetOutput(form.carried + s, StackedRuns(scope, *form.body, *unrolled, output, 0));
    } else if (none && !form.body->output(output).type().tensor_type().has_shape()) {
      // Of a stack of nothing nobody said the rank of, engines disagree.
      scope.SetTensor(form.carried + s, carried.outputs()[output].Dtype(), OptimShape::Unknown());
    } else {
      scope.SetOutput(form.carried + s, carried.Stacked(output, runs, some, 0));
    }
  }
}

// Running -----------------------------------------------------------------------------------------

class LoopRun {
 public:
  explicit LoopRun(RunContext& ctx)
      : ctx_(ctx),
        form_(ctx.state<LoopForm>()),
        body_(ctx.Body("body")),
        limit_(ctx.HasInput(0) ? ReadInt(ctx, 0) : std::numeric_limits<int64_t>::max()),
        inputs_(static_cast<size_t>(2 + form_.carried)),
        outputs_(static_cast<size_t>(1 + form_.carried + form_.scans)),
        scans_(static_cast<size_t>(form_.scans), ScanOutput(limit_, form_.never_stops && ctx.HasInput(0))) {}

  void Run() {
    bool goes_on = !ctx_.HasInput(1) || ReadBool(ctx_, 1);
    for (int c = 0; c < form_.carried; ++c) inputs_[static_cast<size_t>(2 + c)] = ctx_.TakeInput(2 + c);
    Tensor condition(TensorType::kBool, OneElementShape(form_.condition_is_vector));
    condition.MutableView<bool>()[0] = true;
    CarriedTypes types{std::span(inputs_).subspan(2)};
    std::unique_ptr<BodySteps> steps;
    int64_t trip = 0;
    for (; goes_on && trip < limit_; ++trip) {
      ctx_.CheckCancelled();
      if (steps == nullptr) steps = body_.Start("iteration");
      inputs_[0] = Number(trip);
      inputs_[1] = condition;
      steps->Run(inputs_, outputs_, trip);
      goes_on = Condition(trip);
      types.Check(ctx_, *form_.body, 1, std::span(outputs_).subspan(1), trip);
      Collect(trip);
    }
    for (int c = 0; c < form_.carried; ++c) ctx_.SetOutput(c, std::move(inputs_[static_cast<size_t>(2 + c)]));
    for (int s = 0; s < form_.scans; ++s) {
      if (!ctx_.HasOutput(form_.carried + s)) continue;
      ScanOutput& scan = scans_[static_cast<size_t>(s)];
      ctx_.SetOutput(form_.carried + s,
                     trip > 0 ? scan.Take(trip) : EmptyStack(ctx_, body_, *form_.body, 1 + form_.carried + s));
    }
  }

 private:
  static Shape OneElementShape(bool vector) { return vector ? Shape{1} : Shape{}; }

  const Tensor& Number(int64_t trip) {
    if (!number_.IsUnique()) number_ = Tensor(TensorType::kInt64, OneElementShape(form_.number_is_vector));
    number_.MutableView<int64_t>()[0] = trip;
    return number_;
  }

  bool Condition(int64_t trip) const {
    const Value& condition = outputs_[0];
    if (!condition.IsTensor() || condition.tensor().dtype() != TensorType::kBool ||
        condition.tensor().NumElements() != 1)
      ctx_.Fail(
          BodyOutputSubject(*form_.body, 0),
          fmt::format("must be a bool tensor of one element, got {} in iteration {}", condition.TypeString(), trip));
    return condition.tensor().View<bool>()[0];
  }

  void Collect(int64_t trip) {
    for (size_t c = 0; c < static_cast<size_t>(form_.carried); ++c) inputs_[2 + c] = std::move(outputs_[1 + c]);
    for (int s = 0; s < form_.scans; ++s) {
      if (!ctx_.HasOutput(form_.carried + s)) continue;
      const int output = 1 + form_.carried + s;
      scans_[static_cast<size_t>(s)].Put(ctx_, *form_.body, output, outputs_[static_cast<size_t>(output)], trip, trip);
    }
  }

  RunContext& ctx_;
  const LoopForm& form_;
  const BodyRunner& body_;
  int64_t limit_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  std::vector<ScanOutput> scans_;
  Tensor number_;
};

void RunLoop(RunContext& ctx) { LoopRun(ctx).Run(); }

OpDef VersionOf(int since, FormalKind kind) {
  return {
      .domain = "",
      .type = "Loop",
      .since_version = since,
      .inputs =
          {{.name = "M", .types = TypeSet{TensorType::kInt64}, .count = FormalCount::kOptional},
           {.name = "cond", .types = kBoolType, .count = FormalCount::kOptional},
           {.name = "v_initial", .types = kAllTypes, .kind = kind, .count = FormalCount::kVariadic, .min_count = 0}},
      .outputs = {{.name = "v_final_and_scan_outputs",
                   .types = kAllTypes,
                   .kind = kind,
                   .count = FormalCount::kVariadic,
                   .min_count = 0}},
      .attributes = {{"body", AttrKind::kGraph, true}},
      .shape = InferLoop,
      .prepare = Prepare,
      .run = RunLoop,
      .repeats_bodies = true};
}

}  // namespace

std::span<const OpDef> loop_ops() {
  static const OpDef ops[] = {VersionOf(1, FormalKind::kTensor), VersionOf(13, FormalKind::kTensorOrSequence),
                              VersionOf(16, FormalKind::kAny)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
