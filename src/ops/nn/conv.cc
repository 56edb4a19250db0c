// SPDX-License-Identifier: Apache-2.0
// Conv: each output channel the sum, over the input channels of its group and the places of the window, of input times
// weight, plus a bias. Computed as products of the weights with the columns the window sees; halves as floats.
// https://onnx.ai/onnx/operators/onnx__Conv.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/gemm/gemm.h"
#include "ops/as_type.h"
#include "ops/nn/conv_op.h"
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Layout {
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
};
Layout LayoutOf(const RunContext& ctx, const Tensor& x, const Tensor& w) {
  CheckConvRanks(ctx, x, w);
  const int64_t groups = ctx.attrs().Int("group", 1);
  if (groups < 1) ctx.Fail("attribute 'group'", fmt::format("is {}, must be 1 or more", groups));
  if (x.dim(1) % groups != 0 || x.dim(1) / groups != w.dim(1))
    ctx.FailInput(1,
                  fmt::format("takes {} channels in each of {} groups, the input has {}", w.dim(1), groups, x.dim(1)));
  if (w.dim(0) % groups != 0)
    ctx.FailInput(1, fmt::format("gives {} channels, no multiple of {} groups", w.dim(0), groups));
  return {x.dim(0), groups, w.dim(1), w.dim(0) / groups};
}

template <class T>
void Convolve(RunContext& ctx, const Layout& layout, const kernels::Window& window, const Tensor& x, const Tensor& w,
              Tensor& y) {
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  const int64_t depth = layout.in_channels * places;
  const int64_t block = ColumnBlock(depth);
  std::vector<T> columns(static_cast<size_t>(depth * std::min(block, out)));
  T* const to = y.MutableView<T>().data();
  for (int64_t first = 0; first < out; first += block) {
    ctx.CheckCancelled();
    const int64_t count = std::min(block, out - first);
    const std::vector<int64_t> table = kernels::WindowTable(window, first, first + count);
    for (int64_t n = 0; n < layout.batch; ++n) {
      for (int64_t g = 0; g < layout.groups; ++g) {
        const int64_t channel = n * layout.groups + g;
        kernels::GatherColumns(x.View<T>().data() + channel * layout.in_channels * in, columns.data(),
                               layout.in_channels, in, places, table);
        kernels::MatMulArgs<T> args;
        args.m = layout.out_channels;
        args.n = count;
        args.k = depth;
        args.a = {w.View<T>().data() + g * layout.out_channels * depth, depth, 1};
        args.b = {columns.data(), count, 1};
        args.c = to + channel * layout.out_channels * out + first;
        args.c_row = out;
        kernels::MatMul(args, &ctx.team(), ctx.threads());
      }
    }
  }
}

template <class T>
void AddBias(const Tensor& bias, Tensor& y, int64_t channels, int64_t out) {
  const std::span<T> to = y.MutableView<T>();
  const std::span<const T> b = bias.View<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] += b[i / static_cast<size_t>(out) % static_cast<size_t>(channels)];
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0)), w = Widened(ctx.tensor(1));
  const Layout layout = LayoutOf(ctx, x, w);
  const std::span<const int64_t> kernel = w.shape().dims().subspan(2);
  const kernels::Window window =
      WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2, {kernel.begin(), kernel.end()}), x.shape());
  Shape shape{x.dim(0), w.dim(0)};
  for (const int64_t d : window.out) shape.push_back(d);
  const Tensor bias = ReadConvBias(ctx, w.dim(0));
  Tensor y(x.dtype(), std::move(shape));
  if (y.NumElements() > 0) {
    const bool wide = x.dtype() == TensorType::kDouble;
    wide ? Convolve<double>(ctx, layout, window, x, w, y) : Convolve<float>(ctx, layout, window, x, w, y);
    if (bias.defined())
      wide ? AddBias<double>(bias, y, w.dim(0), window.OutSize()) : AddBias<float>(bias, y, w.dim(0), window.OutSize());
  }
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& w = scope.InputShape(1);
  if (x.IsUnknown()) {
    return SetLikeInput(scope, 0, w.IsUnknown() ? w : scope.FreshShape(static_cast<int>(w.Rank())));
  }
  if (x.Rank() < 3)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 3 or more, got {}", InferScope::Describe(scope.Input(0))));
  const auto axes = static_cast<int>(x.Rank()) - 2;
  OptimDim channels = scope.Fresh();
  if (!w.IsUnknown()) {
    if (w.Rank() != x.Rank())
      scope.Fail(scope.InputSubject(1),
                 fmt::format("must have rank {} as the input, got {}", x.Rank(), InferScope::Describe(scope.Input(1))));
    channels = w[0];
    scope.Unify(x[1], w[1] * scope.attrs().Int("group", 1), "the channels of " + scope.InputSubject(0),
                "the channels of all groups of " + scope.InputSubject(1));
  }
  const std::optional<std::vector<int64_t>> kernel = KnownKernel(scope, w, axes);
  OptimShape y = kernel ? WindowedShape(scope, ReadWindow(scope.attrs(), axes, *kernel), x)
                        : scope.FreshShape(static_cast<int>(x.Rank()));
  y[0] = x[0];
  y[1] = channels;
  SetLikeInput(scope, 0, std::move(y));
}

}  // namespace

std::span<const OpDef> conv_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Conv",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"W", kFloatTypes, "T"},
                  {.name = "B", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"auto_pad", AttrKind::kString},
                      {"dilations", AttrKind::kInts},
                      {"group", AttrKind::kInt},
                      {"kernel_shape", AttrKind::kInts},
                      {"pads", AttrKind::kInts},
                      {"strides", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
