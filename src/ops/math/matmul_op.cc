// SPDX-License-Identifier: Apache-2.0
#include "ops/math/matmul_op.h"

#include <fmt/format.h>

#include <utility>

#include "base/checked.h"
#include "kernels/cast/cast.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
void MultiplyTyped(RunContext& ctx, const MatrixProduct& product, const Tensor& a, const Tensor& b, Tensor& c) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) return;
  kernels::MatMulArgs<T> args;
  args.m = product.m;
  args.n = product.n;
  args.k = product.k;
  args.a = {a.View<T>().data(), product.transpose_a ? 1 : product.k, product.transpose_a ? product.m : 1};
  args.b = {b.View<T>().data(), product.transpose_b ? 1 : product.n, product.transpose_b ? product.k : 1};
  args.c = c.MutableView<T>().data();
  args.c_row = product.n;
  args.batch = product.batch;
  args.a_offsets = product.a_offsets;
  args.b_offsets = product.b_offsets;
  args.c_offsets = product.c_offsets;
  kernels::MatMul(args, &ctx.team(), ctx.threads());
}

// Both as matrices: [..., M, K] and [..., K, N].
struct Operands {
  Shape a, b;
  int64_t m() const { return a[a.rank() - 2]; }
  int64_t k() const { return a[a.rank() - 1]; }
  int64_t n() const { return b[b.rank() - 1]; }
};

Shape BatchOf(const RunContext& ctx, int a, int b, const Operands& operands) {
  Shape batch(operands.a.dims().first(static_cast<size_t>(operands.a.rank() - 2)));
  const std::span<const int64_t> other = operands.b.dims().first(static_cast<size_t>(operands.b.rank() - 2));
  while (batch.rank() < static_cast<int>(other.size())) batch.insert(0, 1);
  const int lead = batch.rank() - static_cast<int>(other.size());
  for (size_t d = 0; d < other.size(); ++d) {
    int64_t& dim = batch[lead + static_cast<int>(d)];
    if (dim == 1) dim = other[d];
    if (other[d] != dim && other[d] != 1) {
      ctx.FailInput(b, fmt::format("shape {} does not broadcast with {} before the last two axes",
                                   ctx.tensor(b).shape().ToString(), ctx.tensor(a).shape().ToString()));
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

}  // namespace

PlannedProduct PlanProduct(const RunContext& ctx, int a, int b) {
  return PlanProduct(ctx, {a, ctx.tensor(a).shape()}, {b, ctx.tensor(b).shape()});
}

PlannedProduct PlanProduct(const RunContext& ctx, const ProductOperand& a, const ProductOperand& b) {
  if (a.shape.rank() == 0) ctx.FailInput(a.input, "must not be a scalar");
  if (b.shape.rank() == 0) ctx.FailInput(b.input, "must not be a scalar");
  Operands operands{a.shape, b.shape};
  const bool a_vector = a.shape.rank() == 1, b_vector = b.shape.rank() == 1;
  if (a_vector) operands.a.insert(0, 1);
  if (b_vector) operands.b.push_back(1);
  if (a.transpose) std::swap(operands.a[operands.a.rank() - 2], operands.a[operands.a.rank() - 1]);
  if (b.transpose) std::swap(operands.b[operands.b.rank() - 2], operands.b[operands.b.rank() - 1]);
  if (operands.b[operands.b.rank() - 2] != operands.k()) {
    ctx.FailInput(b.input, fmt::format("shape {} does not multiply with {}: {} rows for {} columns",
                                       ctx.tensor(b.input).shape().ToString(), ctx.tensor(a.input).shape().ToString(),
                                       operands.b[operands.b.rank() - 2], operands.k()));
  }
  const Shape batch = BatchOf(ctx, a.input, b.input, operands);
  MatrixProduct product{
      .m = operands.m(), .n = operands.n(), .k = operands.k(), .transpose_a = a.transpose, .transpose_b = b.transpose};
  Shape shape = batch;
  if (!a_vector) shape.push_back(product.m);
  if (!b_vector) shape.push_back(product.n);
  PlannedProduct plan{product, shape};
  // The list of matrices may be long although they are empty.
  if (CheckedProduct(shape.dims()) == 0) return plan;
  if (batch.rank() == operands.a.rank() - 2 && operands.b.rank() == 2 && (!a.transpose || batch.NumElements() == 1)) {
    // One B for all: the batch of A is more rows.
    plan.product.m *= batch.NumElements();
  } else {
    plan.product.batch = batch.NumElements();
    plan.product.a_offsets = Offsets(batch, operands.a);
    plan.product.b_offsets = Offsets(batch, operands.b);
    for (int64_t i = 0; i < plan.product.batch; ++i) plan.product.c_offsets.push_back(i * product.m * product.n);
  }
  return plan;
}

void ProductShape(InferScope& scope, int a, int b, TensorType dtype) {
  ProductShape(scope, a, scope.InputShape(a), b, scope.InputShape(b), dtype);
}

void ProductShape(InferScope& scope, int a_input, const OptimShape& a, int b_input, const OptimShape& b,
                  TensorType dtype) {
  const bool a_known = !a.IsUnknown(), b_known = !b.IsUnknown();
  if (a_known && a.Rank() == 0) scope.Fail(scope.InputSubject(a_input), "must not be a scalar");
  if (b_known && b.Rank() == 0) scope.Fail(scope.InputSubject(b_input), "must not be a scalar");
  if (!a_known || !b_known) return scope.SetTensor(0, dtype, OptimShape::Unknown());
  const bool a_vector = a.Rank() == 1, b_vector = b.Rank() == 1;
  const OptimDim& inner_a = a[a.Rank() - 1];
  const OptimDim& inner_b = b[b_vector ? 0 : b.Rank() - 2];
  scope.Unify(inner_a, inner_b, fmt::format("the columns of {}", scope.InputSubject(a_input)),
              fmt::format("the rows of {}", scope.InputSubject(b_input)));
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

void CheckAddend(const RunContext& ctx, int input, int64_t m, int64_t n) {
  const Shape& c = ctx.tensor(input).shape();
  const bool rows_fit = c.rank() < 2 || c[0] == m || c[0] == 1;
  const bool columns_fit = c.rank() < 1 || c[c.rank() - 1] == n || c[c.rank() - 1] == 1;
  if (c.rank() > 2 || !rows_fit || !columns_fit)
    ctx.FailInput(input, fmt::format("shape {} does not broadcast to [{},{}]", c.ToString(), m, n));
}

OptimShape GemmShape(InferScope& scope, int a_input, int b_input) {
  const OptimShape& a = scope.InputShape(a_input);
  const OptimShape& b = scope.InputShape(b_input);
  for (const int i : {a_input, b_input}) {
    const OptimShape& shape = scope.InputShape(i);
    if (!shape.IsUnknown() && shape.Rank() != 2)
      scope.Fail(scope.InputSubject(i), fmt::format("must be a matrix, got {}", scope.Input(i).ToString()));
  }
  const size_t trans_a = scope.attrs().Int("transA", 0) != 0 ? 1 : 0,
               trans_b = scope.attrs().Int("transB", 0) != 0 ? 1 : 0;
  if (!a.IsUnknown() && !b.IsUnknown()) {
    scope.Unify(a[1 - trans_a], b[trans_b], fmt::format("the columns of {}", scope.InputSubject(a_input)),
                fmt::format("the rows of {}", scope.InputSubject(b_input)));
  }
  const OptimDim m = a.IsUnknown() ? scope.Fresh() : a[trans_a];
  const OptimDim n = b.IsUnknown() ? scope.Fresh() : b[1 - trans_b];
  return OptimShape{m, n};
}

std::unique_ptr<ConstantFactor> PackConstantFactor(const PrepareContext& ctx, bool transposed) {
  auto state = std::make_unique<ConstantFactor>();
  const Tensor* const b = ctx.ConstantInput(1);
  if (b == nullptr || b->rank() != 2 || b->ByteSize() > kMostPackedBytes ||
      (b->dtype() != TensorType::kFloat && b->dtype() != TensorType::kDouble))
    return state;
  state->b = *b;
  state->transposed = transposed;
  state->flush_denormals = ctx.flush_denormals();
  return state;
}

void MultiplyPacked(RunContext& ctx, const ConstantFactor& b, int64_t m, const Tensor& a, const Tensor& bias, Tensor& c,
                    const Tensor& added, bool relu) {
  const auto multiply = [&]<class T>(std::type_identity<T>) {
    std::call_once(b.once, [&] {
      const int64_t k = b.b.dim(b.transposed ? 1 : 0), n = b.b.dim(b.transposed ? 0 : 1);
      const kernels::MatrixView<T> view{b.b.View<T>().data(), b.transposed ? 1 : n, b.transposed ? k : 1};
      b.packed.emplace<kernels::PackedMatrix<T>>(k, n, view, b.flush_denormals);
    });
    const auto& packed = std::get<kernels::PackedMatrix<T>>(b.packed);
    const auto row = [](const Tensor& t) { return t.defined() ? t.View<T>().data() : nullptr; };
    packed.Multiply(m, a.View<T>().data(), packed.k(), row(bias), false, c.MutableView<T>().data(), packed.n(),
                    &ctx.team(), ctx.threads(), {.added = row(added), .relu = relu});
  };
  if (c.dtype() == TensorType::kDouble)
    multiply(std::type_identity<double>());
  else
    multiply(std::type_identity<float>());
}

void Multiply(RunContext& ctx, const MatrixProduct& product, const Tensor& a, const Tensor& b, Tensor& c) {
  if (c.dtype() == TensorType::kFloat16 || c.dtype() == TensorType::kBfloat16) {
    Tensor wide(TensorType::kFloat, c.shape());
    MultiplyTyped<float>(ctx, product, Widened(a), Widened(b), wide);
    kernels::Cast(wide.data(), TensorType::kFloat, c.mutable_data(), c.dtype(), c.NumElements());
    return;
  }
  Dispatch(TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>(), c.dtype(),
           [&]<class T>(std::type_identity<T>) { MultiplyTyped<T>(ctx, product, a, b, c); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
