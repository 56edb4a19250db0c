// SPDX-License-Identifier: Apache-2.0
#include "ops/control/unrolled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/captures.h"
#include "onnxseq/errors.h"
#include "ops/control/carried_values.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// Runs, and nodes inferred in all of them: what a loop is worth beyond its formulas.
constexpr int64_t kMaxRuns = 32;
constexpr int64_t kMaxNodes = 500;

// Nodes a walk infers, about: bodies inside are walked several times, functions may call others.
int64_t Weight(const ShapesContext& ctx, const GraphProto& graph) {
  constexpr int64_t kWalks = 8;
  int64_t weight = static_cast<int64_t>(graph.node().size());
  for (const NodeProto& node : graph.node()) {
    if (const FunctionProto* function = ctx.GetLocalFunction(node.domain(), node.op_type(), node.overload()))
      weight += kWalks * static_cast<int64_t>(function->node_size());
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) { weight += kWalks * Weight(ctx, body); });
    weight = std::min(weight, kMaxNodes + 1);
  }
  return weight;
}

}  // namespace

std::optional<Unrolled> Unroll(InferScope& scope, const GraphProto& body, std::vector<ShapeValue> initial,
                               const UnrollOptions& options) {
  Unrolled unrolled;
  unrolled.last = std::move(initial);
  const int64_t most = std::min(kMaxRuns, kMaxNodes / std::max<int64_t>(Weight(scope.context(), body), 1));
  for (int64_t run = 0; run < options.limit; ++run) {
    if (run == most) return std::nullopt;
    try {
      unrolled.runs.push_back(
          scope.InferBody(body, options.bind(run, unrolled.last), {.record = false, .report = false}));
    } catch (const Error&) {
      return std::nullopt;  // the walk that speaks for all runs says what is wrong
    }
    const std::vector<ShapeValue>& outputs = unrolled.runs.back();
    for (size_t i = 0; i < unrolled.last.size(); ++i) unrolled.last[i] = outputs[options.first_output + i];
    const std::optional<bool> goes_on = options.goes_on(outputs);
    if (!goes_on && run + 1 < options.limit) return std::nullopt;
    if (goes_on == false) break;
  }
  return unrolled;
}

ShapeValue StackedRuns(InferScope& scope, const GraphProto& body, const Unrolled& unrolled, size_t i, int64_t axis) {
  ShapesContext& ctx = scope.context();
  const ShapeValue& first = unrolled.runs.front()[i];
  TensorType dtype = first.Dtype();
  OptimShape each = first.Shape();
  KnownElements elements;
  for (size_t run = 0; run < unrolled.runs.size(); ++run) {
    const ShapeValue& value = unrolled.runs[run][i];
    if (!value.IsTensor() && !value.IsUnknown())
      scope.Fail(BodyOutputSubject(body, i), fmt::format("must be a tensor, got {}", value.ToString()));
    if (value.Dtype() != dtype) dtype = TensorType::kUndefined;
    const bool ranked = value.HasRank() && first.HasRank();
    const bool same_rank = ranked && value.Shape().Rank() == first.Shape().Rank();
    for (size_t d = 0; ranked && d < (same_rank ? first.Shape().Rank() : 1); ++d) {
      if (same_rank && !ctx.ProvablyDifferent(first.Shape()[d], value.Shape()[d])) continue;
      scope.Fail(BodyOutputSubject(body, i), fmt::format("has shape {} in iteration 0, {} in iteration {}",
                                                         first.Shape().ToString(), value.Shape().ToString(), run));
    }
    // All must be the same: of a dim that is known in one run and not in another, what is known holds.
    for (size_t d = 0; same_rank && d < each.Rank(); ++d)
      if (onnx_optim::MentionsFresh(each[d]) && !onnx_optim::MentionsFresh(value.Shape()[d]))
        each[d] = value.Shape()[d];
    if (!value.HasRank()) each = OptimShape::Unknown();
    if (value.Elements() != nullptr)
      elements.insert(elements.end(), value.Elements()->begin(), value.Elements()->end());
  }
  if (each.IsUnknown()) return ShapeValue::Tensor(dtype, OptimShape::Unknown());
  std::vector<OptimDim> dims(each.begin(), each.end());
  const int at = scope.NormalizeAxis(axis, static_cast<int>(dims.size()) + 1, "attribute 'scan_output_axes'");
  dims.insert(dims.begin() + at, OptimDim(unrolled.runs.size()));
  OptimShape shape(std::move(dims));
  const bool whole = at == 0 && shape.IsFullyKnown() && static_cast<size_t>(shape.NumElements()) == elements.size();
  return whole ? ShapeValue::TensorWithValue(dtype, std::move(shape), std::move(elements))
               : ShapeValue::Tensor(dtype, std::move(shape));
}

}  // namespace ONNX_LIGHT_NAMESPACE
