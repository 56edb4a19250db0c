// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quantize_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {

Scales ReadScales(const RunContext& ctx) {
  const Shape& x = ctx.tensor(0).shape();
  const Tensor& scale = ctx.tensor(1);
  Scales result;
  if (scale.NumElements() == 1 && scale.rank() <= 1) {
    result.grid = {.n = x.NumElements()};
  } else {
    const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 1), x.rank());
    result.grid = {.outer = DimsProduct(x.dims(), 0, axis),
                   .n = x[axis],
                   .inner = DimsProduct(x.dims(), axis + 1, x.rank()),
                   .step = 1};
    const int64_t block = ctx.attrs().Int("block_size", 0);
    if (block < 0) ctx.Fail("attribute 'block_size'", fmt::format("is {}, must not be negative", block));
    Shape expected{x[axis]};
    if (block > 0) {
      expected = x;
      expected[axis] = x[axis] / block + static_cast<int64_t>(x[axis] % block != 0);
      result.grid.outer_step = expected[axis] * result.grid.inner;
      result.grid.step = result.grid.inner;
      result.grid.inner_step = 1;
      result.grid.block = block;
    }
    if (scale.shape() != expected)
      ctx.FailInput(
          1, fmt::format("shape {} is neither of one element nor {}", scale.shape().ToString(), expected.ToString()));
  }
  const Tensor scales = AsType(scale, TensorType::kFloat);
  std::ranges::copy(scales.View<float>(), std::back_inserter(result.scales));
  result.zeros.resize(result.scales.size());
  if (!ctx.HasInput(2)) return result;
  const Tensor& zero = ctx.tensor(2);
  if (zero.shape() != scale.shape() && !(zero.NumElements() == 1 && scale.NumElements() == 1))
    ctx.FailInput(
        2, fmt::format("shape {} is not {}, that of the scale", zero.shape().ToString(), scale.shape().ToString()));
  const Tensor zeros = AsType(zero, TensorType::kDouble);
  std::ranges::copy(zeros.View<double>(), result.zeros.begin());
  return result;
}

void ForParts(RunContext& ctx, const kernels::ScaleGrid& grid,
              FunctionRef<void(int64_t first, const kernels::ScaleGrid& part)> fn) {
  if (grid.outer_step != 0 || grid.step != 0 || grid.inner_step != 0) return fn(0, grid);
  ctx.ParallelFor(grid.outer * grid.n * grid.inner, kElementGrain,
                  [&](int64_t begin, int64_t end) { fn(begin, {.n = end - begin}); });
}

void CheckOneElement(const RunContext& ctx, int i) {
  if (ctx.HasInput(i) && ctx.tensor(i).NumElements() != 1)
    ctx.FailInput(i, fmt::format("must have one element, got {}", ctx.tensor(i).TypeString()));
}

kernels::ByteScale ReadByteScale(const RunContext& ctx, int scale, int zero, TensorType type) {
  CheckOneElement(ctx, scale);
  CheckOneElement(ctx, zero);
  kernels::ByteScale result{.scale = AsType(ctx.tensor(scale), TensorType::kFloat).View<float>()[0],
                            .is_signed = type == TensorType::kInt8};
  if (ctx.HasInput(zero)) result.zero = AsType(ctx.tensor(zero), TensorType::kInt32).View<int32_t>()[0];
  return result;
}

}  // namespace ONNX_LIGHT_NAMESPACE
