// SPDX-License-Identifier: Apache-2.0
// Conv: each output channel the sum, over the input channels of its group and the places of the window, of input times
// weight, plus a bias. Constant weights are packed once (kernels/conv/); halves are computed as floats.
// https://onnx.ai/onnx/operators/onnx__Conv.html
// onnxseq.internal 1, made by passes/fuse_conv.cc and never written to files, does more to each part of the output
// before it leaves the cache: `activation` names a function that kernels/activation/ knows, a MaxPool of windows
// `pool_kernel`, `pool_strides` apart, follows. pool_kernel[0] <= pool_strides[0].
#include "kernels/conv/conv.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <variant>

#include "ops/as_type.h"
#include "ops/internal/internal_domain.h"
#include "ops/nn/conv_op.h"
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct PackedWeights {
  Tensor w, bias;  // halves as floats; bias may be undefined
  std::variant<std::monostate, kernels::PackedConv<float>, kernels::PackedConv<double>> conv;

  PackedWeights(const Tensor& w_in, const Tensor& bias_in, const ConvGroups& groups, std::span<const int64_t> dilation,
                bool flush_denormals)
      : w(Widened(w_in)), bias(bias_in.defined() ? Widened(bias_in) : Tensor()) {
    w.dtype() == TensorType::kDouble ? Pack<double>(groups, dilation, flush_denormals)
                                     : Pack<float>(groups, dilation, flush_denormals);
  }

 private:
  template <class T>
  void Pack(const ConvGroups& groups, std::span<const int64_t> dilation, bool flush_denormals) {
    conv.template emplace<kernels::PackedConv<T>>(kernels::ConvSizes{groups.groups, groups.in, groups.out},
                                                  w.shape().dims().subspan(2), dilation, w.View<T>().data(),
                                                  bias.defined() ? bias.View<T>().data() : nullptr, flush_denormals);
  }
};

struct ConvState : OpState {
  kernels::ConvEpilogue epilogue;
  // Of constant weights that fit. They are packed by the first run: loading reads no weights.
  Tensor w, bias;
  bool flush_denormals = true;
  mutable std::once_flag once;
  mutable std::optional<PackedWeights> packed;
};

kernels::ConvEpilogue ReadEpilogue(const NodeAttributes& attrs) {
  kernels::ConvEpilogue epilogue;
  if (attrs.Has(kConvActivation)) {
    const std::string name = attrs.String(kConvActivation, "");
    const std::optional<kernels::ActivationKind> kind = kernels::ActivationFromName(name);
    if (!kind) FailAttribute(kConvActivation, fmt::format("is \"{}\", which is not known", name));
    kernels::Activation& activation = epilogue.activation.emplace(kernels::Activation::Default(*kind));
    activation.alpha = attrs.Float("alpha", static_cast<float>(activation.alpha));
    activation.beta = attrs.Float("beta", static_cast<float>(activation.beta));
  }
  epilogue.pool = {attrs.Ints(kConvPoolKernel), attrs.Ints(kConvPoolStrides)};
  return epilogue;
}

// What MaxPool would have.
WindowAttributes PoolAttributes(const kernels::ConvPool& pool) {
  const std::vector<int64_t> none(pool.kernel.size(), 0);
  return {.kernel = pool.kernel,
          .strides = pool.stride,
          .dilations = std::vector<int64_t>(pool.kernel.size(), 1),
          .begin = none,
          .end = none};
}

// Weights that do not fit are left to the run to complain about.
std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<ConvState>();
  state->epilogue = ReadEpilogue(ctx.attrs());
  const Tensor* const w = ctx.ConstantInput(1);
  const Tensor* const bias = ctx.HasInput(2) ? ctx.ConstantInput(2) : nullptr;
  const int64_t groups = ctx.attrs().Int("group", 1);
  if (w == nullptr || w->rank() < 3 || w->NumElements() == 0 || groups < 1 || w->dim(0) % groups != 0) return state;
  if (ctx.HasInput(2) && (bias == nullptr || bias->dtype() != w->dtype() || bias->shape() != Shape{w->dim(0)}))
    return state;
  const std::span<const int64_t> kernel = w->shape().dims().subspan(2);
  static_cast<void>(ReadWindow(ctx.attrs(), w->rank() - 2, {kernel.begin(), kernel.end()}));
  state->w = *w;
  if (bias != nullptr) state->bias = *bias;
  state->flush_denormals = ctx.flush_denormals();
  return state;
}

template <class T>
void RunPacked(RunContext& ctx, const PackedWeights& weights, const kernels::ConvEpilogue& epilogue,
               const kernels::Window& window, const Tensor& x, Tensor& y) {
  std::get<kernels::PackedConv<T>>(weights.conv)
      .Run(x.dim(0), window, epilogue, x.View<T>().data(), y.MutableView<T>().data(), &ctx.team(), ctx.threads());
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0)), &w = ctx.tensor(1);
  const ConvState& state = ctx.state<ConvState>();
  const kernels::ConvEpilogue& epilogue = state.epilogue;
  const ConvGroups groups = ReadConvGroups(ctx, x, w);
  const std::span<const int64_t> kernel = w.shape().dims().subspan(2);
  const kernels::Window window =
      WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2, {kernel.begin(), kernel.end()}), x.shape());
  Shape shape{x.dim(0), w.dim(0)};
  for (const int64_t d : window.out) shape.push_back(d);
  if (!epilogue.pool.kernel.empty()) {
    const std::vector<int64_t> pooled = WindowOver(ctx, PoolAttributes(epilogue.pool), shape).out;
    for (size_t d = 0; d < pooled.size(); ++d) shape[static_cast<int>(d) + 2] = pooled[d];
  }
  const bool constant = state.w.defined();
  const Tensor bias = constant ? state.bias : ReadConvBias(ctx, 2, w.dim(0));
  Tensor y(x.dtype(), std::move(shape));
  if (y.NumElements() > 0) {
    std::optional<PackedWeights> once;
    if (constant)
      std::call_once(state.once,
                     [&] { state.packed.emplace(w, bias, groups, window.dilation, state.flush_denormals); });
    else
      once.emplace(w, bias, groups, window.dilation, /*flush_denormals=*/false);
    const PackedWeights& weights = constant ? *state.packed : *once;
    x.dtype() == TensorType::kDouble ? RunPacked<double>(ctx, weights, epilogue, window, x, y)
                                     : RunPacked<float>(ctx, weights, epilogue, window, x, y);
  }
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  OptimShape y = ConvShape(scope);
  const kernels::ConvPool pool = ReadEpilogue(scope.attrs()).pool;
  if (!pool.kernel.empty() && !y.IsUnknown()) y = WindowedShape(scope, PoolAttributes(pool), y);
  SetLikeInput(scope, 0, std::move(y));
}

OpDef ConvOp(std::string_view domain, std::vector<AttrDef> attributes) {
  return {.domain = domain,
          .type = "Conv",
          .since_version = 1,
          .inputs = {{"X", kFloatTypes, "T"},
                     {"W", kFloatTypes, "T"},
                     {.name = "B", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
          .outputs = {{"Y", kFloatTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> conv_ops() {
  static const OpDef ops[] = {
      ConvOp("", ConvAttributes()),
      ConvOp(kInternalDomain, ConvAttributes({{kConvActivation, AttrKind::kString},
                                              {"alpha", AttrKind::kFloat},
                                              {"beta", AttrKind::kFloat},
                                              {kConvPoolKernel, AttrKind::kInts},
                                              {kConvPoolStrides, AttrKind::kInts}})),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
