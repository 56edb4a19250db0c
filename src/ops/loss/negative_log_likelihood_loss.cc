// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss: for each target the negative of the input at it along axis 1, times the weight of the
// target; 0 for targets that are ignore_index; then their sum, or their mean by weight. Written as nodes of other
// operators. https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html
#include <fmt/format.h>

#include "ops/loss/loss_body.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  const std::string reduction = ReadLossReduction(node);
  const bool has_weight = node.input_size() > 2 && !node.input(2).empty();
  const bool ignores = attrs.Has("ignore_index");
  const bool weighted = has_weight || ignores;
  std::string text = R"((input, target, weight) => (loss) {
  classes = Cast <to: int = 7> (target)
)";
  // 0 and 1 in the type of the input: what nothing adds and multiplies to.
  if (ignores) {
    text += fmt::format(R"(  ignored_class = Constant <value_int: int = {}> ()
  ignored = Equal (classes, ignored_class)
  no_class = Constant <value_int: int = 0> ()
  safe = Where (ignored, no_class, classes)
  from = Constant <value_ints: ints = [0]> ()
  nothing = Slice (input, from, from)
  zero = ReduceSum <keepdims: int = 0> (nothing)
  one = ReduceProd <keepdims: int = 0> (nothing)
)",
                        attrs.Int("ignore_index"));
  } else {
    text += "  safe = Identity (classes)\n";
  }
  text += opset >= 13 ? R"(  axis = Constant <value_ints: ints = [1]> ()
  index = Unsqueeze (safe, axis)
  picked = GatherElements <axis: int = 1> (input, index)
  squeezed = Squeeze (picked, axis)
)"
                      : R"(  index = Unsqueeze <axes: ints = [1]> (safe)
  picked = GatherElements <axis: int = 1> (input, index)
  squeezed = Squeeze <axes: ints = [1]> (picked)
)";
  text += "  each = Neg (squeezed)\n";
  if (has_weight) text += "  weights = Gather (weight, safe)\n";
  if (ignores) {
    text += fmt::format("  used = Where (ignored, zero, {})\n  weighed = Mul (each, {})\n",
                        has_weight ? "weights" : "one", has_weight ? "weights" : "one");
    text += "  lost = Where (ignored, zero, weighed)\n";
  } else {
    text += has_weight ? "  used = Identity (weights)\n  lost = Mul (each, weights)\n" : "  lost = Identity (each)\n";
  }
  if (reduction == "none") return text + "  loss = Identity (lost)\n}";
  if (reduction == "sum") return text + "  loss = ReduceSum <keepdims: int = 0> (lost)\n}";
  if (!weighted) return text + "  loss = ReduceMean <keepdims: int = 0> (lost)\n}";
  // Weights may have fewer elements than the losses they broadcast to.
  return text + R"(  lost_shape = Shape (lost)
  all_used = Expand (used, lost_shape)
  total = ReduceSum <keepdims: int = 0> (lost)
  weight_total = ReduceSum <keepdims: int = 0> (all_used)
  loss = Div (total, weight_total)
})";
}

}  // namespace

std::span<const OpDef> negative_log_likelihood_loss_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "NegativeLogLikelihoodLoss",
       .since_version = 12,
       .inputs = {{"input", kFloatTypes, "T"},
                  {"target", kIndexTypes, "Tind"},
                  {.name = "weight", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"loss", kFloatTypes, "T"}},
       .attributes = {{"ignore_index", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
