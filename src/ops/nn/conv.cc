// SPDX-License-Identifier: Apache-2.0
// Conv: each output channel the sum, over the input channels of its group and the places of the window, of input times
// weight, plus a bias. Constant weights are packed once (kernels/conv/); halves are computed as floats.
// https://onnx.ai/onnx/operators/onnx__Conv.html
#include "kernels/conv/conv.h"

#include <fmt/format.h>

#include <variant>

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

struct ConvState : OpState {
  Tensor w, bias;
  std::variant<std::monostate, kernels::PackedConv<float>, kernels::PackedConv<double>> packed;

  // `bias` may be undefined.
  template <class T>
  void Pack(const Layout& layout, std::span<const int64_t> dilation, bool flush_denormals) {
    packed.template emplace<kernels::PackedConv<T>>(layout.groups, layout.in_channels, layout.out_channels,
                                                    w.shape().dims().subspan(2), dilation, w.View<T>().data(),
                                                    bias.defined() ? bias.View<T>().data() : nullptr, flush_denormals);
  }
  void Pack(const Layout& layout, std::span<const int64_t> dilation, bool flush_denormals) {
    w.dtype() == TensorType::kDouble ? Pack<double>(layout, dilation, flush_denormals)
                                     : Pack<float>(layout, dilation, flush_denormals);
  }
};

// Weights that do not fit are left to the run to complain about.
std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<ConvState>();
  const Tensor* const w = ctx.ConstantInput(1);
  const Tensor* const bias = ctx.HasInput(2) ? ctx.ConstantInput(2) : nullptr;
  const int64_t groups = ctx.attrs().Int("group", 1);
  if (w == nullptr || w->rank() < 3 || w->NumElements() == 0 || groups < 1 || w->dim(0) % groups != 0) return state;
  if (ctx.HasInput(2) && (bias == nullptr || bias->dtype() != w->dtype() || bias->shape() != Shape{w->dim(0)}))
    return state;
  const std::span<const int64_t> kernel = w->shape().dims().subspan(2);
  const WindowAttributes window = ReadWindow(ctx.attrs(), w->rank() - 2, {kernel.begin(), kernel.end()});
  state->w = Widened(*w);
  if (bias != nullptr) state->bias = Widened(*bias);
  state->Pack({0, groups, w->dim(1), w->dim(0) / groups}, window.dilations, ctx.flush_denormals());
  return state;
}

template <class T>
void Convolve(RunContext& ctx, const ConvState& state, const Layout& layout, const kernels::Window& window,
              const Tensor& x, Tensor& y) {
  std::get<kernels::PackedConv<T>>(state.packed)
      .Run(layout.batch, window, x.View<T>().data(), y.MutableView<T>().data(), &ctx.team(), ctx.threads());
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0));
  const ConvState* state = &ctx.state<ConvState>();
  const bool packed = !std::holds_alternative<std::monostate>(state->packed);
  const Tensor w = packed ? state->w : Widened(ctx.tensor(1));
  const Layout layout = LayoutOf(ctx, x, w);
  const std::span<const int64_t> kernel = w.shape().dims().subspan(2);
  const kernels::Window window =
      WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2, {kernel.begin(), kernel.end()}), x.shape());
  Shape shape{x.dim(0), w.dim(0)};
  for (const int64_t d : window.out) shape.push_back(d);
  ConvState once;
  if (!packed) {
    once.w = w;
    once.bias = ReadConvBias(ctx, w.dim(0));
  }
  Tensor y(x.dtype(), std::move(shape));
  if (y.NumElements() > 0) {
    if (!packed) {
      once.Pack(layout, window.dilation, /*flush_denormals=*/false);
      state = &once;
    }
    x.dtype() == TensorType::kDouble ? Convolve<double>(ctx, *state, layout, window, x, y)
                                     : Convolve<float>(ctx, *state, layout, window, x, y);
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
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
