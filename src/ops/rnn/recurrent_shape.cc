// SPDX-License-Identifier: Apache-2.0
// The shape rule of the recurrent operators.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {

void InferRecurrent(InferScope& scope, const RecurrentSpec& spec) {
  const RecurrentOperands& at = *spec.operands;
  const auto dim_subject = [&](int i, int axis) { return fmt::format("dim {} of {}", axis, scope.InputSubject(i)); };
  // A cell's operands have neither directions nor steps.
  const bool cell = spec.is_cell();
  const size_t less = cell ? 1 : 0;
  // The dims of input i when its rank is known, which must then be `rank`.
  const auto dims_of = [&](int i, size_t rank) -> const OptimShape* {
    if (i < 0) return nullptr;
    const OptimShape& shape = scope.InputShape(i);
    if (shape.IsUnknown()) return nullptr;
    if (shape.Rank() != rank)
      scope.Fail(scope.InputSubject(i), fmt::format("must have rank {}, got {}", rank, shape.ToString()));
    return &shape;
  };
  // One size of the operator: the dims that say it, unified as they come.
  struct Size {
    std::optional<OptimDim> dim;
    std::string subject;
  };
  const auto add = [&](Size& size, const OptimDim& dim, std::string subject) {
    if (size.dim) {
      size.dim = scope.Unify(*size.dim, dim, size.subject, subject);
    } else {
      size = {dim, std::move(subject)};
    }
  };
  Size steps, rows, inputs, hidden;
  Size directions{OptimDim(spec.directions), "the number of directions"};
  if (spec.hidden_size) hidden = {OptimDim(*spec.hidden_size), "attribute 'hidden_size'"};

  const bool time_major = spec.layout == RecurrentLayout::kTimeMajor;
  const auto last = [](const OptimShape& shape) { return static_cast<int>(shape.Rank()) - 1; };
  const auto at_axis = [](const OptimShape& shape, int axis) { return shape[static_cast<size_t>(axis)]; };
  if (const OptimShape* x = dims_of(at.x, 3 - less)) {
    const int t = time_major ? 0 : 1, n = cell ? 0 : 1 - t;
    if (!cell) add(steps, at_axis(*x, t), dim_subject(at.x, t));
    add(rows, at_axis(*x, n), dim_subject(at.x, n));
    add(inputs, at_axis(*x, last(*x)), dim_subject(at.x, last(*x)));
  }
  const OptimShape* const w = dims_of(at.w, 3 - less);
  const OptimShape* const r = dims_of(at.r, 3 - less);
  const OptimShape* const b = dims_of(at.b, 2 - less);
  const OptimShape* const p = dims_of(at.p, 2 - less);
  const auto column = [&](const OptimShape& weights) { return spec.weights_transposed ? 1 : last(weights); };
  if (w != nullptr) add(inputs, at_axis(*w, column(*w)), dim_subject(at.w, column(*w)));
  if (r != nullptr) add(hidden, at_axis(*r, column(*r)), dim_subject(at.r, column(*r)));
  for (const int i : {at.h0, at.c0}) {
    const OptimShape* const state = dims_of(i, 3 - less);
    if (state == nullptr) continue;
    const int d = time_major ? 0 : 1, n = cell ? 0 : 1 - d;
    if (!cell) add(directions, at_axis(*state, d), dim_subject(i, d));
    add(rows, at_axis(*state, n), dim_subject(i, n));
    add(hidden, at_axis(*state, last(*state)), dim_subject(i, last(*state)));
  }
  if (const OptimShape* lengths = dims_of(at.lengths, 1)) add(rows, (*lengths)[0], dim_subject(at.lengths, 0));

  struct Multiple {
    const OptimShape* shape;
    int input;
    int64_t factor;
  };
  const Multiple multiples[] = {
      {w, at.w, spec.gates}, {r, at.r, spec.gates}, {b, at.b, spec.bias_blocks}, {p, at.p, 3}};
  for (const auto& [shape, i, factor] : multiples) {
    if (shape == nullptr) continue;
    if (!cell) add(directions, (*shape)[0], dim_subject(i, 0));
    const int axis = cell ? 0 : spec.weights_transposed && shape->Rank() == 3 ? 2 : 1;
    const OptimDim dim = at_axis(*shape, axis);
    if (factor == 1) {
      add(hidden, dim, dim_subject(i, axis));
      continue;
    }
    if (!hidden.dim || !hidden.dim->IsInt()) {
      const auto quotient = onnx_optim::ExactDiv(dim, OptimDim(factor));
      if (quotient) {
        add(hidden, *quotient, fmt::format("{} / {}", dim_subject(i, axis), factor));
        continue;
      }
      if (dim.IsInt()) {
        scope.Fail(scope.InputSubject(i),
                   fmt::format("dim {} must be a multiple of {}, got {}", axis, factor, dim.AsInt()));
      }
    }
    if (hidden.dim) {
      (void)scope.Unify(dim, *hidden.dim * OptimDim(factor), dim_subject(i, axis),
                        fmt::format("{} times {}", factor, hidden.subject));
    }
  }

  const OptimDim t = steps.dim ? *steps.dim : scope.Fresh("T"), n = rows.dim ? *rows.dim : scope.Fresh("N");
  const OptimDim h = hidden.dim ? *hidden.dim : scope.Fresh("H"), d(spec.directions);
  TensorType type = TensorType::kUndefined;
  for (const int i : {at.x, at.w, at.r, at.h0, at.c0}) {
    const bool floats = spec.read_weight == nullptr || (i != at.w && i != at.r);
    if (type == TensorType::kUndefined && i >= 0 && floats) type = scope.InputType(i);
  }
  switch (spec.layout) {
    case RecurrentLayout::kTimeMajor:
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
  const OptimShape states = cell ? OptimShape{n, h} : time_major ? OptimShape{d, n, h} : OptimShape{n, d, h};
  scope.SetTensor(spec.state_output(), type, states);
  if (at.c0 >= 0) scope.SetTensor(spec.state_output() + 1, type, states);
}

}  // namespace ONNX_LIGHT_NAMESPACE
