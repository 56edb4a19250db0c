// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: each channel (axis 1) less its mean, over its deviation, times scale, plus bias. Mean and
// variance are inputs, or with training_mode (version 14 on) those of the batch; then the running ones move towards
// these by 1 - momentum. Before version 14 training is not supported, nor is spatial 0.
// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
#include <fmt/format.h>

#include "kernels/cast/cast.h"
#include "onnxseq/errors.h"
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Layout {
  int64_t outer, channels, inner;
};
Layout LayoutOf(const Shape& x) {
  if (x.rank() < 2) return {x.NumElements(), 1, 1};
  return {x[0], x[1], DimsProduct(x.dims(), 2, x.rank())};
}

void GiveRunning(RunContext& ctx, int i, std::vector<double> running, const std::vector<double>& batch) {
  if (!ctx.HasOutput(i)) return;
  const auto momentum = static_cast<double>(ctx.attrs().Float("momentum", 0.9f));
  for (size_t c = 0; c < running.size(); ++c) running[c] = running[c] * momentum + batch[c] * (1 - momentum);
  const TensorType type = ctx.tensor(3).dtype();
  Tensor& t = ctx.AllocateOutput(i, type, ctx.tensor(3).shape());
  kernels::Cast(running.data(), TensorType::kDouble, t.mutable_data(), type, t.NumElements());
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Layout layout = LayoutOf(x.shape());
  std::vector<double> scale = ReadChannels(ctx, 1, layout.channels);
  const std::vector<double> shift = ReadChannels(ctx, 2, layout.channels);
  ChannelMoments moments{ReadChannels(ctx, 3, layout.channels), ReadChannels(ctx, 4, layout.channels)};
  if (ctx.op().since_version >= 14) {
    const bool training = ctx.attrs().Int("training_mode", 0) != 0;
    if (!training && (ctx.HasOutput(1) || ctx.HasOutput(2)))
      ctx.Fail("attribute 'training_mode'", "is 0: running mean and variance are outputs of training alone");
    if (training) {
      ChannelMoments batch = MomentsOf(ctx, x, layout.outer, layout.channels, layout.inner);
      GiveRunning(ctx, 1, moments.mean, batch.mean);
      GiveRunning(ctx, 2, moments.variance, batch.variance);
      moments = std::move(batch);
    }
  }
  const std::vector<double> inverse = InverseDeviation(moments.variance, ctx.attrs().Float("epsilon", 1e-5f));
  for (size_t c = 0; c < scale.size(); ++c) scale[c] *= inverse[c];
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  NormalizeInto(ctx, x, y, layout.outer, layout.channels, layout.inner, moments.mean, scale, shift);
}

std::unique_ptr<OpState> PrepareInference(const PrepareContext& ctx) {
  const auto refuse = [](std::string subject, std::string fact) {
    throw Unsupported(std::move(fact),
                      ErrorWhere{.op_type = {}, .node_name = {}, .subject = std::move(subject), .path = {}});
  };
  if (ctx.attrs().Int("spatial", 1) != 1) refuse("attribute 'spatial'", "only 1 is supported");
  // Versions 1 and 6 train where this is not set, whatever outputs there are.
  if (ctx.opset() < 7 && ctx.attrs().Int("is_test", 0) == 0)
    refuse("attribute 'is_test'", "is 0: training is supported from version 14 on");
  for (int i = 1; i < ctx.node().output_size(); ++i)
    if (!ctx.node().output(i).empty()) refuse(fmt::format("output {}", i), "training is supported from version 14 on");
  return nullptr;
}

void ShapeRule(InferScope& scope) {
  const OptimShape x = scope.InputShape(0);
  OptimDim channels = x.IsUnknown() ? scope.Fresh() : x.Rank() < 2 ? OptimDim(1) : x[1];
  for (int i = 1; i < 5; ++i) {
    const OptimShape& own = scope.InputShape(i);
    if (own.IsUnknown() || own.Rank() != 1) continue;
    channels = scope.Unify(channels, own[0], "the channels of " + scope.InputSubject(0), scope.InputSubject(i));
  }
  OptimShape y = x;
  if (!y.IsUnknown() && y.Rank() >= 2) y[1] = channels;
  SetLikeInput(scope, 0, std::move(y));
  for (int i = 1; i < scope.output_size(); ++i) scope.SetTensor(i, scope.InputType(3), OptimShape{channels});
}

Formal Statistic(std::string_view name, std::string_view type_var) {
  return {.name = name, .types = kFloatTypes, .type_var = type_var, .count = FormalCount::kOptional};
}
OpDef InferenceVersion(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "BatchNormalization",
          .since_version = since,
          .inputs = {{"X", kFloatTypes, "T"},
                     {"scale", kFloatTypes, "T"},
                     {"B", kFloatTypes, "T"},
                     {"mean", kFloatTypes, "T"},
                     {"var", kFloatTypes, "T"}},
          .outputs = {{"Y", kFloatTypes, "T"},
                      Statistic("mean", "T"),
                      Statistic("var", "T"),
                      Statistic("saved_mean", "T"),
                      Statistic("saved_var", "T")},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = PrepareInference,
          .run = Run};
}
OpDef TrainingVersion(int since, std::string_view scale_type, std::string_view mean_type) {
  return {
      .domain = "",
      .type = "BatchNormalization",
      .since_version = since,
      .inputs = {{"X", kFloatTypes, "T"},
                 {"scale", kFloatTypes, scale_type},
                 {"B", kFloatTypes, scale_type},
                 {"input_mean", kFloatTypes, mean_type},
                 {"input_var", kFloatTypes, mean_type}},
      .outputs = {{"Y", kFloatTypes, "T"}, Statistic("running_mean", mean_type), Statistic("running_var", mean_type)},
      .attributes = {{"epsilon", AttrKind::kFloat}, {"momentum", AttrKind::kFloat}, {"training_mode", AttrKind::kInt}},
      .shape = ShapeRule,
      .run = Run};
}

}  // namespace

std::span<const OpDef> batch_normalization_ops() {
  static const OpDef ops[] = {
      InferenceVersion(1, {{"consumed_inputs", AttrKind::kInts},
                           {"epsilon", AttrKind::kFloat},
                           {"is_test", AttrKind::kInt},
                           {"momentum", AttrKind::kFloat},
                           {"spatial", AttrKind::kInt}}),
      InferenceVersion(7, {{"epsilon", AttrKind::kFloat}, {"momentum", AttrKind::kFloat}, {"spatial", AttrKind::kInt}}),
      InferenceVersion(9, {{"epsilon", AttrKind::kFloat}, {"momentum", AttrKind::kFloat}}),
      TrainingVersion(14, "T", "U"),
      TrainingVersion(15, "T1", "T2"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
