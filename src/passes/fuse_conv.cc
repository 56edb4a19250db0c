// SPDX-License-Identifier: Apache-2.0
// What follows a Conv and can be done by its weights and bias, or to its output before that leaves the cache.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/node_attributes.h"
#include "kernels/activation/activation.h"
#include "model/set_attribute.h"
#include "ops/infer_node.h"
#include "ops/internal/internal_domain.h"
#include "ops/nn/window_op.h"
#include "passes/constants.h"
#include "passes/passes.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

// The Conv that makes v, for node n alone.
int ConvBefore(const GraphEdit& edit, int v, int n) {
  const int conv = v == kAbsent ? kAbsent : edit.producer(v);
  return conv != kAbsent && edit.Is(conv, "Conv") && edit.IsOnlyUsedBy(v, n) ? conv : kAbsent;
}

Tensor Floats(const GraphEdit& edit, int v) { return ReadConstant(edit, v, TensorType::kFloat); }

bool Fold(GraphEdit& edit, int n) {
  const int conv = ConvBefore(edit, edit.input(n, 0), n);
  if (conv == kAbsent || edit.inputs(n).size() != 5) return false;
  const NodeAttributes attributes(edit.node(n));
  for (size_t i = 1; i < edit.outputs(n).size(); ++i)
    if (edit.outputs(n)[i] != kAbsent) return false;
  if (attributes.Int("training_mode", 0) != 0 || attributes.Int("spatial", 1) != 1) return false;
  const Tensor weights = Floats(edit, edit.input(conv, 1));
  if (!weights.defined() || weights.rank() < 3) return false;
  const int64_t channels = weights.dim(0);
  std::vector<Tensor> terms;  // scale, B, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    terms.push_back(Floats(edit, edit.input(n, i)));
    if (!terms.back().defined() || terms.back().shape() != Shape{channels}) return false;
  }
  Tensor bias;
  if (edit.input(conv, 2) != kAbsent) {
    bias = Floats(edit, edit.input(conv, 2));
    if (!bias.defined() || bias.shape() != Shape{channels}) return false;
  }
  const auto epsilon = static_cast<double>(attributes.Float("epsilon", 1e-5f));
  Tensor new_weights(TensorType::kFloat, weights.shape()), new_bias(TensorType::kFloat, Shape{channels});
  const std::span<const float> from = weights.View<float>();
  const std::span<float> to = new_weights.MutableView<float>(), to_bias = new_bias.MutableView<float>();
  const size_t per_channel = channels == 0 ? 0 : from.size() / static_cast<size_t>(channels);
  for (size_t c = 0; c < to_bias.size(); ++c) {
    const auto term = [&](size_t i) { return static_cast<double>(terms[i].View<float>()[c]); };
    const double factor = term(0) / std::sqrt(term(3) + epsilon);
    const double before = bias.defined() ? static_cast<double>(bias.View<float>()[c]) : 0;
    to_bias[c] = static_cast<float>((before - term(2)) * factor + term(1));
    if (!std::isfinite(factor) || !std::isfinite(to_bias[c])) return false;
    for (size_t i = c * per_channel; i < (c + 1) * per_channel; ++i)
      to[i] = static_cast<float>(static_cast<double>(from[i]) * factor);
  }
  if (!edit.Replace(edit.outputs(n)[0], edit.input(n, 0))) return false;
  edit.Remove(n);
  edit.SetInput(conv, 1, edit.AddConstant(TensorToProto(new_weights), edit.name(edit.input(conv, 1))));
  edit.SetInput(conv, 2, edit.AddConstant(TensorToProto(new_bias), edit.name(edit.outputs(conv)[0])));
  return true;
}

// Whether dims of the weights say that a tensor of this shape has one element per channel of the Conv's output, of
// that many axes.
bool IsPerChannel(const Shape& shape, int64_t channels, int axes) {
  const int lead = axes - shape.rank();
  if (lead < 0 || lead > 1) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != (i + lead == 1 ? channels : 1)) return false;
  return true;
}

bool FuseBias(GraphEdit& edit, int n) {
  for (const size_t side : {0, 1}) {
    const int conv = ConvBefore(edit, edit.input(n, side), n);
    if (conv == kAbsent || edit.input(conv, 2) != kAbsent) continue;
    // Halves are rounded between the two.
    const TensorProto* weights = edit.Constant(edit.input(conv, 1));
    const Tensor added = Floats(edit, edit.input(n, 1 - side));
    if (weights == nullptr || weights->data_type() != TensorProto::FLOAT || weights->dims_size() < 3 ||
        !added.defined() || !IsPerChannel(added.shape(), weights->dims(0), weights->dims_size()))
      continue;
    if (!edit.Replace(edit.outputs(n)[0], edit.input(n, side))) return false;
    const std::string name = edit.name(edit.input(n, 1 - side));
    edit.Remove(n);
    edit.SetInput(conv, 2, edit.AddConstant(TensorToProto(added.WithShape(Shape{weights->dims(0)})), name));
    return true;
  }
  return false;
}

int64_t ForEach(GraphEdit& edit, std::string_view type, bool (*fuse)(GraphEdit&, int)) {
  int64_t fused = 0;
  for (int n = 0; n < edit.node_size(); ++n) {
    if (!edit.Is(n, type) || edit.outputs(n).empty() || edit.outputs(n)[0] == kAbsent) continue;
    try {
      fused += fuse(edit, n) ? 1 : 0;
    } catch (const std::exception&) {
      // An attribute of the wrong type: planning says so.
    }
  }
  return fused;
}

// The node after `v`, which nobody else reads, if the operator it is of would run it.
int NextAfter(const GraphEdit& edit, int v) {
  if (edit.users(v).size() != 1 || edit.IsPinned(v)) return kAbsent;
  const int n = edit.users(v).front();
  if (!edit.alive(n) || edit.op(n) == nullptr || edit.input(n, 0) != v || edit.outputs(n).empty() ||
      edit.outputs(n)[0] == kAbsent)
    return kAbsent;
  for (size_t i = 1; i < edit.outputs(n).size(); ++i)
    if (edit.outputs(n)[i] != kAbsent) return kAbsent;
  CheckNode(*edit.op(n), edit.node(n));
  return UnknownAttributes(*edit.op(n), edit.node(n)).empty() ? n : kAbsent;
}

// Those whose operators run the very function (ops/math/activation_op.h), and Relu.
bool IsActivation(const GraphEdit& edit, int n) {
  static constexpr std::string_view kTypes[] = {"Relu", "LeakyRelu",   "Sigmoid",  "Tanh",
                                                "Elu",  "HardSigmoid", "Softplus", "Softsign"};
  return n != kAbsent && std::ranges::any_of(kTypes, [&](std::string_view type) { return edit.Is(n, type); });
}

// A MaxPool as the kernel has it (ConvPool), known to fit.
std::optional<WindowAttributes> TilePool(const GraphEdit& edit, int n, int axes) {
  if (n == kAbsent || !edit.Is(n, "MaxPool")) return std::nullopt;
  WindowAttributes pool = ReadWindow(NodeAttributes(edit.node(n)), axes);
  const onnx_optim::OptimShape in = edit.ShapeOf(edit.input(n, 0));
  if (pool.ceil || pool.kernel[0] > pool.strides[0] || static_cast<int>(in.Rank()) != axes + 2) return std::nullopt;
  if (pool.auto_pad == AutoPad::kSameUpper || pool.auto_pad == AutoPad::kSameLower) return std::nullopt;
  for (size_t d = 0; d < pool.kernel.size(); ++d) {
    const bool fits = pool.kernel[d] == 1 || (in[d + 2].IsInt() && in[d + 2].AsInt() >= pool.kernel[d]);
    if (!fits || pool.dilations[d] != 1 || pool.begin[d] != 0 || pool.end[d] != 0) return std::nullopt;
  }
  return pool;
}

bool FuseFollowing(GraphEdit& edit, int conv) {
  const TensorProto* weights = edit.Constant(edit.input(conv, 1));
  if (weights == nullptr || weights->data_type() != TensorProto::FLOAT || weights->dims_size() < 3) return false;
  CheckNode(*edit.op(conv), edit.node(conv));
  if (!UnknownAttributes(*edit.op(conv), edit.node(conv)).empty()) return false;
  const int activation =
      IsActivation(edit, NextAfter(edit, edit.outputs(conv)[0])) ? NextAfter(edit, edit.outputs(conv)[0]) : kAbsent;
  const int before_pool = edit.outputs(activation == kAbsent ? conv : activation)[0];
  int pool = NextAfter(edit, before_pool);
  const std::optional<WindowAttributes> window = TilePool(edit, pool, weights->dims_size() - 2);
  if (!window) pool = kAbsent;
  if (activation == kAbsent && pool == kAbsent) return false;
  const int output = edit.outputs(pool != kAbsent ? pool : activation)[0];
  const NodeProto conv_node = edit.node(conv),
                  activation_node = activation == kAbsent ? NodeProto() : edit.node(activation);
  const std::vector<int> inputs = edit.inputs(conv);
  edit.Remove(conv);
  if (activation != kAbsent && pool != kAbsent) edit.Remove(activation);
  NodeProto& fused = edit.Rewrite(output, kInternalDomain, "Conv", inputs);
  // What is wrong with the input is the Conv's to say.
  fused.clear_name();
  if (!conv_node.name().empty()) fused.set_name(conv_node.name());
  fused.ref_attribute() = conv_node.attribute();
  if (activation != kAbsent) {
    SetString(fused, kConvActivation, std::string(activation_node.op_type()));
    for (const AttributeProto& value : activation_node.attribute())
      if (value.name() == "alpha" || value.name() == "beta") *fused.add_attribute() = value;
  }
  if (pool != kAbsent) {
    SetInts(fused, kConvPoolKernel, window->kernel);
    SetInts(fused, kConvPoolStrides, window->strides);
  }
  return true;
}

}  // namespace

int64_t FoldBatchNormalization(GraphEdit& edit) { return ForEach(edit, "BatchNormalization", Fold); }
int64_t FuseConvBias(GraphEdit& edit) { return ForEach(edit, "Add", FuseBias); }
int64_t FuseAfterConv(GraphEdit& edit) { return ForEach(edit, "Conv", FuseFollowing); }

}  // namespace ONNX_LIGHT_NAMESPACE
