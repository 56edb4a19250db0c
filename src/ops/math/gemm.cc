// SPDX-License-Identifier: Apache-2.0
// Gemm: alpha A' B' + beta C of matrices, where A' and B' are transposed on demand and C broadcasts to [M, N] (it may
// be absent from version 11 on; before version 7 it does with attribute broadcast alone). For whole numbers alpha and
// beta are applied in double and truncated. https://onnx.ai/onnx/operators/onnx__Gemm.html
#include <fmt/format.h>

#include "ops/math/elementwise_op.h"
#include "ops/math/matmul_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using GemmList = TypeList<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>;

template <class T>
T Scaled(double factor, T x) {
  if (factor == 1.0) return x;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(factor) * x;
  } else {
    return static_cast<T>(static_cast<int64_t>(factor * static_cast<double>(x)));
  }
}
struct ScaleFn {
  double alpha;
  template <class T>
  T operator()(T x) const {
    return Scaled(alpha, x);
  }
};
struct ScaleAddFn {
  double alpha, beta;
  template <class T>
  T operator()(T product, T c) const {
    return WrapAdd(Scaled(alpha, product), Scaled(beta, c));
  }
};

void Run(RunContext& ctx) {
  const Tensor a = ctx.tensor(0), b = ctx.tensor(1);
  const MatrixProduct product = PlanGemm(ctx);
  const bool has_c = ctx.HasInput(2);
  if (ctx.op().since_version < 7 && ctx.attrs().Int("broadcast", 0) == 0 &&
      ctx.tensor(2).shape() != Shape{product.m, product.n})
    ctx.FailInput(2, fmt::format("shape {} is not [{},{}], and attribute 'broadcast' is 0",
                                 ctx.tensor(2).shape().ToString(), product.m, product.n));
  Tensor y(a.dtype(), Shape{product.m, product.n});
  const double alpha = ctx.attrs().Float("alpha", 1.0f), beta = ctx.attrs().Float("beta", 1.0f);
  const auto& factor = ctx.state<ConstantFactor>();
  const bool packed = factor.is_packed() && !product.transpose_a;
  // A row added to each row of the product is where its sums begin.
  const bool begins = packed && has_c && alpha == 1.0 && beta == 1.0 && ctx.tensor(2).NumElements() == product.n &&
                      (ctx.tensor(2).rank() == 1 || (ctx.tensor(2).rank() == 2 && ctx.tensor(2).dim(0) == 1));
  if (packed)
    MultiplyPacked(ctx, factor, product.m, a, begins ? ctx.tensor(2) : Tensor(), y);
  else
    Multiply(ctx, product, a, b, y);
  // Times 0 nothing of C is left, not even what is no number.
  const bool adds = has_c && !begins && beta != 0.0;
  if (adds || alpha != 1.0) {
    Dispatch(GemmList(), y.dtype(), [&]<class T>(std::type_identity<T>) {
      const size_t size = sizeof(T), sizes[] = {size, size};
      const Tensor c = adds ? ctx.tensor(2) : Tensor();
      const std::span<const int64_t> shapes[] = {y.shape().dims(), c.shape().dims()};
      const kernels::BroadcastLoops loops(y.shape().dims(), std::span(shapes).first(adds ? 2 : 1));
      const ScaleAddFn add{alpha, beta};
      const ScaleFn scale{alpha};
      void* const to = y.mutable_data();
      const void* const in[] = {to, c.data()};
      const kernels::RowFn row = adds ? kernels::BinaryRow<ScaleAddFn, T, T, T> : kernels::UnaryRow<ScaleFn, T, T>;
      const void* const fn = adds ? static_cast<const void*>(&add) : &scale;
      ctx.ParallelFor(loops.size(), kElementGrain,
                      [&](int64_t begin, int64_t end) { loops.Run(begin, end, in, sizes, to, size, row, fn); });
    });
  }
  ctx.SetOutput(0, std::move(y));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  return PackConstantFactor(ctx, ctx.attrs().Int("transB", 0) != 0);
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, GemmShape(scope, 0, 1)); }

OpDef VersionOf(int since, FormalCount c) {
  return {.domain = "",
          .type = "Gemm",
          .since_version = since,
          .inputs = {{"A", kMatrixTypes, "T"},
                     {"B", kMatrixTypes, "T"},
                     {.name = "C", .types = kMatrixTypes, .type_var = "T", .count = c}},
          .outputs = {{"Y", kMatrixTypes, "T"}},
          .attributes = {{"alpha", AttrKind::kFloat},
                         {"beta", AttrKind::kFloat},
                         {"transA", AttrKind::kInt},
                         {"transB", AttrKind::kInt}},
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

OpDef BroadcastVersion(int since) {
  OpDef op = VersionOf(since, FormalCount::kOne);
  op.attributes.push_back({"broadcast", AttrKind::kInt});
  return op;
}

}  // namespace

MatrixProduct PlanGemm(const RunContext& ctx) {
  const Tensor &a = ctx.tensor(0), &b = ctx.tensor(1);
  for (int i = 0; i < 2; ++i)
    if (ctx.tensor(i).rank() != 2)
      ctx.FailInput(i, fmt::format("must be a matrix, got {}", ctx.tensor(i).TypeString()));
  MatrixProduct product;
  product.transpose_a = ctx.attrs().Int("transA", 0) != 0;
  product.transpose_b = ctx.attrs().Int("transB", 0) != 0;
  product.m = a.dim(product.transpose_a ? 1 : 0);
  product.k = a.dim(product.transpose_a ? 0 : 1);
  product.n = b.dim(product.transpose_b ? 0 : 1);
  const int64_t rows = b.dim(product.transpose_b ? 1 : 0);
  if (rows != product.k) {
    ctx.FailInput(
        1, fmt::format("{} has {} rows for the {} columns of {}", product.transpose_b ? "transposed, it" : "it", rows,
                       product.k, product.transpose_a ? "the transposed A" : "A"));
  }
  if (ctx.HasInput(2)) CheckAddend(ctx, 2, product.m, product.n);
  return product;
}

std::span<const OpDef> gemm_ops() {
  static const OpDef ops[] = {
      BroadcastVersion(1),
      VersionOf(7, FormalCount::kOne),
      VersionOf(11, FormalCount::kOptional),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
