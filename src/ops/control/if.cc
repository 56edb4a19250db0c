// SPDX-License-Identifier: Apache-2.0
// If (ai.onnx 1, 11, 13, 16): the outputs of then_branch or else_branch, as `cond`, a bool tensor of one element, says.
// Branches have no inputs and see the names around them; they give the same kinds and element types, of whatever shape.
// Sequences from version 13 on, optionals from 16 on. https://onnx.ai/onnx/operators/onnx__If.html
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "ops/control/body_values.h"
#include "ops/control/carried_values.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kBranches[] = {"else_branch", "then_branch"};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  for (const std::string_view branch : kBranches)
    CheckBody(ctx.node(), branch, 0, static_cast<int>(ctx.node().output_size()));
  return nullptr;
}

// Shapes ------------------------------------------------------------------------------------------

ShapeValue JoinBranches(InferScope& scope, int i, const ShapeValue& yes, const ShapeValue& no) {
  ShapesContext& ctx = scope.context();
  if (yes.IsOptional() != no.IsOptional() && !yes.IsUnknown() && !no.IsUnknown()) {
    return yes.IsOptional() ? Join(yes, ShapeValue::Optional(no, true), ctx)
                            : Join(ShapeValue::Optional(yes, true), no, ctx);
  }
  const auto type = [](const ShapeValue& v) { return v.IsSequence() ? v.SequenceOf().ElemDtype() : v.Dtype(); };
  const bool differ = !yes.IsUnknown() && !no.IsUnknown() &&
                      (yes.kind() != no.kind() || (type(yes) != type(no) && type(yes) != TensorType::kUndefined &&
                                                   type(no) != TensorType::kUndefined));
  if (differ) {
    scope.Fail(scope.OutputSubject(i),
               fmt::format("is {} from then_branch, {} from else_branch", yes.ToString(), no.ToString()));
  }
  return Join(yes, no, ctx);
}

void InferIf(InferScope& scope) {
  std::vector<ShapeValue> outputs[2];
  const std::optional<std::vector<int64_t>> cond = scope.InputInts(0);
  for (const bool branch : {true, false}) {
    CheckBody(scope.node(), kBranches[branch], 0, scope.output_size());
    if (cond && cond->size() == 1 && branch != (cond->front() != 0)) continue;  // never taken
    outputs[branch] = scope.InferBody(scope.attrs().Graph(kBranches[branch]), {});
  }
  for (int i = 0; i < scope.output_size(); ++i) {
    const size_t at = static_cast<size_t>(i);
    if (!outputs[0].empty() && !outputs[1].empty()) {
      scope.SetOutput(i, JoinBranches(scope, i, outputs[1][at], outputs[0][at]));
    } else {
      scope.SetOutput(i, outputs[outputs[0].empty() ? 1 : 0][at]);
    }
  }
}

// Running -----------------------------------------------------------------------------------------

void RunIf(RunContext& ctx) {
  const bool branch = ReadBool(ctx, 0);
  const BodyRunner& body = ctx.Body(kBranches[branch]);
  const BodyRunner& other = ctx.Body(kBranches[!branch]);
  std::vector<Value> outputs(static_cast<size_t>(ctx.output_size()));
  for (int i = 0; i < ctx.output_size(); ++i) {
    const TensorType mine = body.OutputType(i), theirs = other.OutputType(i);
    if (mine == theirs || mine == TensorType::kUndefined || theirs == TensorType::kUndefined) continue;
    ctx.Fail(fmt::format("output {} (\"{}\")", i, std::string_view(ctx.node().output(static_cast<size_t>(i)))),
             fmt::format("has elements of type {} from {}, {} from {}", onnx_optim::TensorTypeName(mine),
                         kBranches[branch], onnx_optim::TensorTypeName(theirs), kBranches[!branch]));
  }
  body.Run({}, outputs);
  for (int i = 0; i < ctx.output_size(); ++i) ctx.SetOutput(i, std::move(outputs[static_cast<size_t>(i)]));
}

OpDef VersionOf(int since, FormalKind kind) {
  return {.domain = "",
          .type = "If",
          .since_version = since,
          .inputs = {{.name = "cond", .types = kBoolType}},
          .outputs = {{.name = "outputs", .types = kAllTypes, .kind = kind, .count = FormalCount::kVariadic}},
          .attributes = {{"then_branch", AttrKind::kGraph, true}, {"else_branch", AttrKind::kGraph, true}},
          .shape = InferIf,
          .prepare = Prepare,
          .run = RunIf};
}

}  // namespace

std::span<const OpDef> if_ops() {
  static const OpDef ops[] = {VersionOf(1, FormalKind::kTensor), VersionOf(13, FormalKind::kTensorOrSequence),
                              VersionOf(16, FormalKind::kAny)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
