// SPDX-License-Identifier: Apache-2.0
// The shape rule of LSTM and LSTMSequence.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "ops/rnn/lstm_op.h"

namespace ONNX_LIGHT_NAMESPACE {

void InferLstm(InferScope& scope, const LstmSpec& spec) {
  const LstmOperands& at = *spec.operands;
  const auto dim_subject = [&](int i, int axis) { return fmt::format("dim {} of {}", axis, scope.InputSubject(i)); };
  // The dims of input i when its rank is known, which must then be `rank`.
  const auto dims_of = [&](int i, size_t rank) -> const OptimShape* {
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

  const bool time_major = spec.layout == LstmLayout::kTimeMajor;
  if (const OptimShape* x = dims_of(at.x, 3)) {
    const int t = time_major ? 0 : 1, n = 1 - t;
    add(steps, (*x)[static_cast<size_t>(t)], dim_subject(at.x, t));
    add(rows, (*x)[static_cast<size_t>(n)], dim_subject(at.x, n));
    add(inputs, (*x)[2], dim_subject(at.x, 2));
  }
  const OptimShape* const w = dims_of(at.w, 3);
  const OptimShape* const r = dims_of(at.r, 3);
  const OptimShape* const b = dims_of(at.b, 2);
  const OptimShape* const p = dims_of(at.p, 2);
  if (w != nullptr) add(inputs, (*w)[2], dim_subject(at.w, 2));
  if (r != nullptr) add(hidden, (*r)[2], dim_subject(at.r, 2));
  for (const int i : {at.h0, at.c0}) {
    const OptimShape* const state = dims_of(i, 3);
    if (state == nullptr) continue;
    const int d = time_major ? 0 : 1, n = 1 - d;
    add(directions, (*state)[static_cast<size_t>(d)], dim_subject(i, d));
    add(rows, (*state)[static_cast<size_t>(n)], dim_subject(i, n));
    add(hidden, (*state)[2], dim_subject(i, 2));
  }
  if (const OptimShape* lengths = dims_of(at.lengths, 1)) add(rows, (*lengths)[0], dim_subject(at.lengths, 0));

  struct Multiple {
    const OptimShape* shape;
    int input;
    int64_t factor;
  };
  const Multiple multiples[] = {{w, at.w, 4}, {r, at.r, 4}, {b, at.b, at.bias_blocks}, {p, at.p, 3}};
  for (const auto& [shape, i, factor] : multiples) {
    if (shape == nullptr) continue;
    add(directions, (*shape)[0], dim_subject(i, 0));
    const OptimDim& dim = (*shape)[1];
    if (!hidden.dim || !hidden.dim->IsInt()) {
      const auto quotient = onnx_optim::ExactDiv(dim, OptimDim(factor));
      if (quotient) {
        add(hidden, *quotient, fmt::format("{} / {}", dim_subject(i, 1), factor));
        continue;
      }
      if (dim.IsInt())
        scope.Fail(scope.InputSubject(i), fmt::format("dim 1 must be a multiple of {}, got {}", factor, dim.AsInt()));
    }
    if (hidden.dim) {
      (void)scope.Unify(dim, *hidden.dim * OptimDim(factor), dim_subject(i, 1),
                        fmt::format("{} times {}", factor, hidden.subject));
    }
  }

  const OptimDim t = steps.dim ? *steps.dim : scope.Fresh("T"), n = rows.dim ? *rows.dim : scope.Fresh("N");
  const OptimDim h = hidden.dim ? *hidden.dim : scope.Fresh("H"), d(spec.directions);
  TensorType type = TensorType::kUndefined;
  for (const int i : {at.x, at.w, at.r, at.h0, at.c0}) {
    if (type == TensorType::kUndefined) type = scope.InputType(i);
  }
  switch (spec.layout) {
    case LstmLayout::kTimeMajor:
      scope.SetTensor(0, type, {t, d, n, h});
      break;
    case LstmLayout::kBatchMajor:
      scope.SetTensor(0, type, {n, t, d, h});
      break;
    case LstmLayout::kOpenVino:
      scope.SetTensor(0, type, {n, d, t, h});
      break;
  }
  const OptimShape states = time_major ? OptimShape{d, n, h} : OptimShape{n, d, h};
  scope.SetTensor(1, type, states);
  scope.SetTensor(2, type, states);
}

}  // namespace ONNX_LIGHT_NAMESPACE
