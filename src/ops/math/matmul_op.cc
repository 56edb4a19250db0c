// SPDX-License-Identifier: Apache-2.0
#include "ops/math/matmul_op.h"

#include "kernels/cast/cast.h"
#include "kernels/gemm/gemm.h"
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

Tensor ToFloat(const Tensor& t) {
  Tensor wide(TensorType::kFloat, t.shape());
  kernels::Cast(t.data(), t.dtype(), wide.mutable_data(), TensorType::kFloat, t.NumElements());
  return wide;
}

}  // namespace

void Multiply(RunContext& ctx, const MatrixProduct& product, const Tensor& a, const Tensor& b, Tensor& c) {
  if (c.dtype() == TensorType::kFloat16 || c.dtype() == TensorType::kBfloat16) {
    Tensor wide(TensorType::kFloat, c.shape());
    MultiplyTyped<float>(ctx, product, ToFloat(a), ToFloat(b), wide);
    kernels::Cast(wide.data(), TensorType::kFloat, c.mutable_data(), c.dtype(), c.NumElements());
    return;
  }
  Dispatch(TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>(), c.dtype(),
           [&]<class T>(std::type_identity<T>) { MultiplyTyped<T>(ctx, product, a, b, c); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
