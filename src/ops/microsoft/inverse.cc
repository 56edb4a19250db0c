// SPDX-License-Identifier: Apache-2.0
// Inverse: that of each square matrix of the last two axes, by elimination with row exchanges. Halves as floats. A
// singular matrix is an error.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Inverse
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ops/as_type.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// `work` [n,n] becomes the unit matrix and `inverse` [n,n] what takes it there. False when it cannot.
bool Invert(int64_t n, double* work, double* inverse) {
  for (int64_t i = 0; i < n * n; ++i) inverse[i] = i / n == i % n ? 1 : 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row)
      if (std::abs(work[row * n + column]) > std::abs(work[pivot * n + column])) pivot = row;
    const double head = work[pivot * n + column];
    if (head == 0) return false;
    for (int64_t j = 0; j < n; ++j) {
      std::swap(work[pivot * n + j], work[column * n + j]);
      std::swap(inverse[pivot * n + j], inverse[column * n + j]);
      work[column * n + j] /= head;
      inverse[column * n + j] /= head;
    }
    for (int64_t row = 0; row < n; ++row) {
      const double factor = work[row * n + column];
      if (row == column || factor == 0) continue;
      for (int64_t j = 0; j < n; ++j) {
        work[row * n + j] -= factor * work[column * n + j];
        inverse[row * n + j] -= factor * inverse[column * n + j];
      }
    }
  }
  return true;
}

void Run(RunContext& ctx) {
  Tensor x = AsType(ctx.tensor(0), TensorType::kDouble);
  if (x.rank() < 2 || x.dim(x.rank() - 1) != x.dim(x.rank() - 2))
    ctx.FailInput(0, fmt::format("must hold square matrices, got {}", x.shape().ToString()));
  x.Unshare();
  Tensor y(TensorType::kDouble, x.shape());
  const int64_t n = x.dim(x.rank() - 1), count = n == 0 ? 0 : x.NumElements() / (n * n);
  for (int64_t i = 0; i < count; ++i) {
    ctx.CheckCancelled();
    if (!Invert(n, x.MutableView<double>().data() + i * n * n, y.MutableView<double>().data() + i * n * n))
      ctx.FailInput(0, fmt::format("matrix {} is singular", i));
  }
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  if (!shape.IsUnknown()) {
    if (shape.Rank() < 2)
      scope.Fail(scope.InputSubject(0),
                 fmt::format("must have rank 2 or more, got {}", InferScope::Describe(scope.Input(0))));
    const OptimDim side = scope.Unify(shape[shape.Rank() - 2], shape[shape.Rank() - 1],
                                      "the rows of " + scope.InputSubject(0), "its columns");
    shape[shape.Rank() - 2] = shape[shape.Rank() - 1] = side;
  }
  SetLikeInput(scope, 0, std::move(shape));
}

constexpr TypeSet kInverted{TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16};

}  // namespace

std::span<const OpDef> inverse_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "Inverse",
       .since_version = 1,
       .inputs = {{"X", kInverted, "T"}},
       .outputs = {{"Y", kInverted, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
