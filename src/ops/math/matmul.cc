// SPDX-License-Identifier: Apache-2.0
// MatMul: matrix products as numpy.matmul: the last two axes are matrices, the ones before them broadcast; a vector
// gets an axis of one in front (A) or behind (B), dropped from the result. float16 and bfloat16 are multiplied as
// float. https://onnx.ai/onnx/operators/onnx__MatMul.html
#include <fmt/format.h>

#include "ops/math/matmul_op.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Both as matrices: [..., M, K] and [..., K, N].
struct Operands {
  Shape a, b;
  int64_t m() const { return a[a.rank() - 2]; }
  int64_t k() const { return a[a.rank() - 1]; }
  int64_t n() const { return b[b.rank() - 1]; }
};

Shape BatchOf(const RunContext& ctx, const Operands& operands) {
  Shape batch(operands.a.dims().first(static_cast<size_t>(operands.a.rank() - 2)));
  const std::span<const int64_t> other = operands.b.dims().first(static_cast<size_t>(operands.b.rank() - 2));
  while (batch.rank() < static_cast<int>(other.size())) batch.insert(0, 1);
  const int lead = batch.rank() - static_cast<int>(other.size());
  for (size_t d = 0; d < other.size(); ++d) {
    int64_t& dim = batch[lead + static_cast<int>(d)];
    if (dim == 1) dim = other[d];
    if (other[d] != dim && other[d] != 1) {
      ctx.FailInput(1, fmt::format("shape {} does not broadcast with {} before the last two axes",
                                   ctx.tensor(1).shape().ToString(), ctx.tensor(0).shape().ToString()));
    }
  }
  return batch;
}

// Where the matrices of an operand with these dims start, for each entry of the batch.
std::vector<int64_t> Offsets(const Shape& batch, const Shape& shape) {
  std::vector<int64_t> offsets(static_cast<size_t>(batch.NumElements()));
  const int lead = batch.rank() - (shape.rank() - 2);
  const std::vector<int64_t> strides = DenseStrides(shape.dims());
  for (size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (int d = batch.rank() - 1; d >= 0; --d) {
      const int64_t index = rest % batch[d];
      rest /= batch[d];
      if (d >= lead && shape[d - lead] != 1) offsets[i] += index * strides[static_cast<size_t>(d - lead)];
    }
  }
  return offsets;
}

void Run(RunContext& ctx) {
  const Tensor a = ctx.tensor(0), b = ctx.tensor(1);
  if (a.rank() == 0) ctx.FailInput(0, "must not be a scalar");
  if (b.rank() == 0) ctx.FailInput(1, "must not be a scalar");
  Operands operands{a.shape(), b.shape()};
  if (a.rank() == 1) operands.a.insert(0, 1);
  if (b.rank() == 1) operands.b.push_back(1);
  if (operands.b[operands.b.rank() - 2] != operands.k()) {
    ctx.FailInput(1, fmt::format("shape {} does not multiply with {}: {} rows for {} columns", b.shape().ToString(),
                                 a.shape().ToString(), operands.b[operands.b.rank() - 2], operands.k()));
  }
  const Shape batch = BatchOf(ctx, operands);
  MatrixProduct product{.m = operands.m(), .n = operands.n(), .k = operands.k()};
  Shape shape = batch;
  if (a.rank() > 1) shape.push_back(product.m);
  if (b.rank() > 1) shape.push_back(product.n);
  Tensor y(a.dtype(), shape);
  // The list of matrices may be long although they are empty.
  if (y.NumElements() == 0) return ctx.SetOutput(0, std::move(y));
  if (batch.rank() == operands.a.rank() - 2 && operands.b.rank() == 2) {
    // One B for all: the batch of A is more rows.
    product.m *= batch.NumElements();
  } else {
    product.batch = batch.NumElements();
    product.a_offsets = Offsets(batch, operands.a);
    product.b_offsets = Offsets(batch, operands.b);
    for (int64_t i = 0; i < product.batch; ++i) product.c_offsets.push_back(i * product.m * product.n);
  }
  Multiply(ctx, product, a, b, y);
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const TensorType dtype = scope.InputType(0) != TensorType::kUndefined ? scope.InputType(0) : scope.InputType(1);
  OptimShape a = scope.InputShape(0), b = scope.InputShape(1);
  const bool a_known = !a.IsUnknown(), b_known = !b.IsUnknown();
  if (a_known && a.Rank() == 0) scope.Fail(scope.InputSubject(0), "must not be a scalar");
  if (b_known && b.Rank() == 0) scope.Fail(scope.InputSubject(1), "must not be a scalar");
  if (!a_known || !b_known) return scope.SetTensor(0, dtype, OptimShape::Unknown());
  const bool a_vector = a.Rank() == 1, b_vector = b.Rank() == 1;
  const OptimDim& inner_a = a[a.Rank() - 1];
  const OptimDim& inner_b = b[b_vector ? 0 : b.Rank() - 2];
  scope.Unify(inner_a, inner_b, fmt::format("the columns of {}", scope.InputSubject(0)),
              fmt::format("the rows of {}", scope.InputSubject(1)));
  const auto leading = [](const OptimShape& shape) {
    std::vector<OptimDim> dims = shape.Dims();
    dims.resize(dims.size() < 2 ? 0 : dims.size() - 2);
    return OptimShape(std::move(dims));
  };
  OptimShape shape = scope.Broadcast(leading(a), leading(b));
  if (!a_vector) shape.PushBack(a[a.Rank() - 2]);
  if (!b_vector) shape.PushBack(b[b.Rank() - 1]);
  scope.SetTensor(0, dtype, std::move(shape));
}

}  // namespace

std::span<const OpDef> matmul_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MatMul",
       .since_version = 1,
       .inputs = {{"A", kMatrixTypes, "T"}, {"B", kMatrixTypes, "T"}},
       .outputs = {{"Y", kMatrixTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
