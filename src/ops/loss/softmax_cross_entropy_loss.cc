// SPDX-License-Identifier: Apache-2.0
// SoftmaxCrossEntropyLoss: NegativeLogLikelihoodLoss of the logarithm of the softmax of the scores along axis 1; that
// logarithm is an output, too. Written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html
#include <fmt/format.h>

#include "ops/loss/loss_body.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const bool has_weight = node.input_size() > 2 && !node.input(2).empty();
  // Before version 13 LogSoftmax takes all axes from its own on, so the one in question is moved to the end.
  const std::string_view log_softmax =
      opset >= 13 ? "  log_prob = LogSoftmax <axis: int = 1> (scores)\n" : R"(  shape = Shape (scores)
  flat_shape = Constant <value_ints: ints = [0, 0, -1]> ()
  flat = Reshape (scores, flat_shape)
  last = Transpose <perm: ints = [0, 2, 1]> (flat)
  logs = LogSoftmax <axis: int = 2> (last)
  back = Transpose <perm: ints = [0, 2, 1]> (logs)
  log_prob = Reshape (back, shape)
)";
  return fmt::format(R"((scores, labels, weights) => (output, log_prob) {{
{}  output = NegativeLogLikelihoodLoss <{} reduction: string = "{}"> (log_prob, labels{})
}})",
                     log_softmax, IgnoreIndexText(node), ReadLossReduction(node), has_weight ? ", weights" : "");
}

}  // namespace

std::span<const OpDef> softmax_cross_entropy_loss_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "SoftmaxCrossEntropyLoss",
       .since_version = 12,
       .inputs = {{"scores", kFloatTypes, "T"},
                  {"labels", kIndexTypes, "Tind"},
                  {.name = "weights", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"output", kFloatTypes, "T"},
                   {.name = "log_prob", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .attributes = {{"ignore_index", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
