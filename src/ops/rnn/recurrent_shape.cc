// SPDX-License-Identifier: Apache-2.0
// The shape rule of the recurrent operators.
#include <fmt/format.h>

#include "ops/rnn/recurrent_op.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {

void InferRecurrent(InferScope& scope, const RecurrentSpec& spec) {
  const RecurrentOperands& at = *spec.operands;
  // A cell's operands have neither directions nor steps.
  const bool cell = spec.is_cell();
  const int less = cell ? 1 : 0;
  const auto dims_of = [&](int i, int rank) { return i < 0 ? nullptr : RankedInput(scope, i, rank); };
  UnifiedSize steps, rows, inputs, hidden, directions, elements;
  directions.Add(scope, OptimDim(spec.directions), "the number of directions");
  if (spec.hidden_size) hidden.Add(scope, OptimDim(*spec.hidden_size), "attribute 'hidden_size'");

  const bool packed = spec.layout == RecurrentLayout::kPacked;
  const bool time_major = spec.layout == RecurrentLayout::kTimeMajor || packed;
  const auto last = [](const OptimShape& shape) { return static_cast<int>(shape.Rank()) - 1; };
  if (const OptimShape* x = dims_of(at.x, 3 - less)) {
    const int t = time_major ? 0 : 1, n = cell ? 0 : 1 - t;
    if (!cell) steps.Add(scope, *x, at.x, t);
    rows.Add(scope, *x, at.x, n);
    inputs.Add(scope, *x, at.x, last(*x));
  }
  const OptimShape* const w = dims_of(at.w, 3 - less);
  const OptimShape* const r = dims_of(at.r, 3 - less);
  const OptimShape* const b = dims_of(at.b, 2 - less);
  const OptimShape* const p = dims_of(at.p, 2 - less);
  const auto column = [&](const OptimShape& weights) { return spec.read_bytes != nullptr ? 1 : last(weights); };
  if (w != nullptr) inputs.Add(scope, *w, at.w, column(*w));
  if (r != nullptr) hidden.Add(scope, *r, at.r, column(*r));
  for (const int i : {at.h0, at.c0}) {
    // That of packed values may be one for each element.
    const bool each = packed && i >= 0 && !scope.InputShape(i).IsUnknown() && scope.InputShape(i).Rank() == 4;
    const OptimShape* const state = dims_of(i, each ? 4 : 3 - less);
    if (state == nullptr) continue;
    const int first = each ? 1 : 0, d = time_major ? 0 : 1, n = cell ? 0 : 1 - d;
    if (each) elements.Add(scope, *state, i, 0);
    if (!cell) directions.Add(scope, *state, i, first + d);
    rows.Add(scope, *state, i, first + n);
    hidden.Add(scope, *state, i, last(*state));
  }
  if (const OptimShape* lengths = dims_of(at.lengths, 1))
    (packed ? elements : rows).Add(scope, *lengths, at.lengths, 0);

  struct Multiple {
    const OptimShape* shape;
    int input;
    int64_t factor;
  };
  const Multiple multiples[] = {
      {w, at.w, spec.gates}, {r, at.r, spec.gates}, {b, at.b, spec.bias_blocks}, {p, at.p, 3}};
  for (const auto& [shape, i, factor] : multiples) {
    if (shape == nullptr) continue;
    if (!cell) directions.Add(scope, *shape, i, 0);
    const int axis = cell ? 0 : spec.read_bytes != nullptr && shape->Rank() == 3 ? 2 : 1;
    if (factor == 1) {
      hidden.Add(scope, *shape, i, axis);
      continue;
    }
    const OptimDim dim = (*shape)[static_cast<size_t>(axis)];
    if (hidden.Find() == nullptr || !hidden.Find()->IsInt()) {
      const auto quotient = onnx_optim::ExactDiv(dim, OptimDim(factor));
      if (quotient) {
        hidden.Add(scope, *quotient, fmt::format("{} / {}", DimSubject(scope, i, axis), factor));
        continue;
      }
      if (dim.IsInt()) {
        scope.Fail(scope.InputSubject(i),
                   fmt::format("dim {} must be a multiple of {}, got {}", axis, factor, dim.AsInt()));
      }
    }
    if (const OptimDim* const known = hidden.Find()) {
      (void)scope.Unify(dim, *known * OptimDim(factor), DimSubject(scope, i, axis),
                        fmt::format("{} times {}", factor, hidden.subject()));
    }
  }

  const OptimDim t = steps.Get(scope, "T"), n = rows.Get(scope, "N"), h = hidden.Get(scope, "H"), d(spec.directions);
  TensorType type = TensorType::kUndefined;
  for (const int i : {at.x, at.w, at.r, at.h0, at.c0}) {
    const bool floats = spec.read_bytes == nullptr || (i != at.w && i != at.r);
    if (type == TensorType::kUndefined && i >= 0 && floats) type = scope.InputType(i);
  }
  switch (spec.layout) {
    case RecurrentLayout::kTimeMajor:
    case RecurrentLayout::kPacked:
      scope.SetTensor(0, type, {t, d, n, h});
      break;
    case RecurrentLayout::kBatchMajor:
      scope.SetTensor(0, type, {n, t, d, h});
      break;
    case RecurrentLayout::kOpenVino:
      scope.SetTensor(0, type, {n, d, t, h});
      break;
    case RecurrentLayout::kCell:
      break;
  }
  OptimShape states = cell ? OptimShape{n, h} : time_major ? OptimShape{d, n, h} : OptimShape{n, d, h};
  if (packed) states = {elements.Get(scope, "E"), d, n, h};
  scope.SetTensor(spec.state_output(), type, states);
  if (at.c0 >= 0) scope.SetTensor(spec.state_output() + 1, type, states);
}

}  // namespace ONNX_LIGHT_NAMESPACE
