// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/conv_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
void CheckConvRanks(const RunContext& ctx, const Tensor& x, const Tensor& w, int w_input) {
  if (x.rank() < 3) ctx.FailInput(0, fmt::format("must have rank 3 or more, got {}", x.TypeString()));
  if (w.rank() != x.rank())
    ctx.FailInput(w_input, fmt::format("must have rank {} as the input, got {}", x.rank(), w.TypeString()));
}

Tensor ReadConvBias(const RunContext& ctx, int i, int64_t channels) {
  if (!ctx.HasInput(i)) return {};
  Tensor bias = Widened(ctx.tensor(i));
  if (bias.rank() != 1 || bias.dim(0) != channels)
    ctx.FailInput(i, fmt::format("must be a vector of {}, one for each channel, got {}", channels, bias.TypeString()));
  return bias;
}

template <class T>
void AddConvBias(const Tensor& bias, Tensor& y) {
  const int64_t channels = y.dim(1), out = DimsProduct(y.shape().dims(), 2, y.rank());
  const T* const b = bias.View<T>().data();
  T* to = y.MutableView<T>().data();
  for (int64_t plane = 0; plane < y.dim(0) * channels; ++plane)
    for (int64_t i = 0; i < out; ++i, ++to) *to += b[plane % channels];
}
template void AddConvBias<float>(const Tensor&, Tensor&);
template void AddConvBias<double>(const Tensor&, Tensor&);

std::optional<std::vector<int64_t>> KnownKernel(const InferScope& scope, const OptimShape& w, int axes) {
  std::vector<int64_t> kernel;
  for (size_t d = 2; !w.IsUnknown() && d < w.Rank() && w[d].IsInt(); ++d) kernel.push_back(w[d].AsInt());
  if (static_cast<int>(kernel.size()) == axes) return kernel;
  if (scope.attrs().Has("kernel_shape")) return std::vector<int64_t>();
  return std::nullopt;
}

int64_t ColumnBlock(int64_t depth) { return std::max<int64_t>(64, (int64_t{1} << 18) / std::max<int64_t>(1, depth)); }

ConvGroups ReadConvGroups(const RunContext& ctx, const Tensor& x, const Tensor& w, int w_input) {
  CheckConvRanks(ctx, x, w, w_input);
  const int64_t groups = ctx.attrs().Int("group", 1);
  if (groups < 1) ctx.Fail("attribute 'group'", fmt::format("is {}, must be 1 or more", groups));
  if (x.dim(1) % groups != 0 || x.dim(1) / groups != w.dim(1))
    ctx.FailInput(w_input,
                  fmt::format("takes {} channels in each of {} groups, the input has {}", w.dim(1), groups, x.dim(1)));
  if (w.dim(0) % groups != 0)
    ctx.FailInput(w_input, fmt::format("gives {} channels, no multiple of {} groups", w.dim(0), groups));
  return {groups, w.dim(1), w.dim(0) / groups};
}

OptimShape ConvShape(InferScope& scope, int w_input) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& w = scope.InputShape(w_input);
  if (x.IsUnknown()) return w.IsUnknown() ? w : scope.FreshShape(static_cast<int>(w.Rank()));
  if (x.Rank() < 3)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 3 or more, got {}", InferScope::Describe(scope.Input(0))));
  const auto axes = static_cast<int>(x.Rank()) - 2;
  OptimDim channels = scope.Fresh();
  if (!w.IsUnknown()) {
    if (w.Rank() != x.Rank())
      scope.Fail(scope.InputSubject(w_input), fmt::format("must have rank {} as the input, got {}", x.Rank(),
                                                          InferScope::Describe(scope.Input(w_input))));
    channels = w[0];
    scope.Unify(x[1], w[1] * scope.attrs().Int("group", 1), "the channels of " + scope.InputSubject(0),
                "the channels of all groups of " + scope.InputSubject(w_input));
  }
  const std::optional<std::vector<int64_t>> kernel = KnownKernel(scope, w, axes);
  OptimShape y = kernel ? WindowedShape(scope, ReadWindow(scope.attrs(), axes, *kernel), x)
                        : scope.FreshShape(static_cast<int>(x.Rank()));
  y[0] = x[0];
  y[1] = channels;
  return y;
}

std::vector<AttrDef> ConvAttributes(std::initializer_list<AttrDef> more) {
  std::vector<AttrDef> all = more;
  all.insert(all.end(), {{"auto_pad", AttrKind::kString},
                         {"dilations", AttrKind::kInts},
                         {"group", AttrKind::kInt},
                         {"kernel_shape", AttrKind::kInts},
                         {"pads", AttrKind::kInts},
                         {"strides", AttrKind::kInts}});
  return all;
}

}  // namespace ONNX_LIGHT_NAMESPACE
