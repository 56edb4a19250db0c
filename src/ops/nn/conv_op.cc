// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/conv_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {

void CheckConvRanks(const RunContext& ctx, const Tensor& x, const Tensor& w) {
  if (x.rank() < 3) ctx.FailInput(0, fmt::format("must have rank 3 or more, got {}", x.TypeString()));
  if (w.rank() != x.rank())
    ctx.FailInput(1, fmt::format("must have rank {} as the input, got {}", x.rank(), w.TypeString()));
}

Tensor ReadConvBias(const RunContext& ctx, int64_t channels) {
  if (!ctx.HasInput(2)) return {};
  Tensor bias = Widened(ctx.tensor(2));
  if (bias.rank() != 1 || bias.dim(0) != channels)
    ctx.FailInput(2, fmt::format("must be a vector of {}, one for each channel, got {}", channels, bias.TypeString()));
  return bias;
}

std::optional<std::vector<int64_t>> KnownKernel(const InferScope& scope, const OptimShape& w, int axes) {
  std::vector<int64_t> kernel;
  for (size_t d = 2; !w.IsUnknown() && d < w.Rank() && w[d].IsInt(); ++d) kernel.push_back(w[d].AsInt());
  if (static_cast<int>(kernel.size()) == axes) return kernel;
  if (scope.attrs().Has("kernel_shape")) return std::vector<int64_t>();
  return std::nullopt;
}

int64_t ColumnBlock(int64_t depth) { return std::max<int64_t>(64, (int64_t{1} << 18) / std::max<int64_t>(1, depth)); }

}  // namespace ONNX_LIGHT_NAMESPACE
