// SPDX-License-Identifier: Apache-2.0
// Det: the determinant of each matrix of the last two axes, 1 for one without elements. By elimination with the
// greatest pivot of each column, in double. https://onnx.ai/onnx/operators/onnx__Det.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stop_token.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// a[n,n] is consumed.
double Determinant(double* a, int64_t n) {
  double determinant = 1;
  for (int64_t k = 0; k < n && !StopRequested(); ++k) {
    int64_t pivot = k;
    // NaN is the greatest, so that it is not passed over for a zero.
    for (int64_t i = k + 1; i < n; ++i) {
      const double size = std::abs(a[i * n + k]);
      if (size > std::abs(a[pivot * n + k]) || std::isnan(size)) pivot = i;
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      determinant = -determinant;
    }
    determinant *= a[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return determinant;
}

void Run(RunContext& ctx) {
  Tensor x = AsType(ctx.tensor(0), TensorType::kDouble);
  const int rank = x.rank();
  if (rank < 2 || x.dim(rank - 1) != x.dim(rank - 2))
    ctx.FailInput(0, fmt::format("must be square matrices, got {}", ctx.tensor(0).TypeString()));
  x.Unshare();
  const int64_t n = x.dim(rank - 1);
  Tensor y(TensorType::kDouble, Shape(x.shape().dims().first(static_cast<size_t>(rank - 2))));
  double* const matrices = x.MutableView<double>().data();
  double* const to = y.MutableView<double>().data();
  const int64_t work = std::max<int64_t>(1, n * n * n / 2);
  ctx.ParallelFor(y.NumElements(), std::max<int64_t>(1, kElementGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = Determinant(matrices + i * n * n, n);
  });
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown()) return SetLikeInput(scope, 0, x);
  if (x.Rank() < 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must be square matrices, got {}", InferScope::Describe(scope.Input(0))));
  OptimShape y;
  for (size_t d = 0; d + 2 < x.Rank(); ++d) y.PushBack(x[d]);
  scope.Unify(x[x.Rank() - 2], x[x.Rank() - 1], "the rows of " + scope.InputSubject(0), "their length");
  SetLikeInput(scope, 0, std::move(y));
}

}  // namespace

std::span<const OpDef> det_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Det",
       .since_version = 11,
       .inputs = {{"X", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
