// SPDX-License-Identifier: Apache-2.0
#include "runtime/missing_module.h"

#include <algorithm>
#include <string_view>

#include "kernels/dnn/dnn.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool HasWork(const GraphProto& graph) {
  static constexpr std::string_view kOperators[] = {"Conv", "ConvTranspose", "MatMulInteger", "QLinearMatMul"};
  return std::ranges::any_of(graph.node(), [](const NodeProto& node) {
    if (std::ranges::find(kOperators, std::string_view(node.op_type())) != std::end(kOperators)) return true;
    return std::ranges::any_of(node.attribute(), [](const AttributeProto& attribute) {
      return (attribute.has_g() && HasWork(attribute.g())) || std::ranges::any_of(attribute.graphs(), HasWork);
    });
  });
}

}  // namespace

std::string MissingModule(const ModelProto& model) {
  std::string missing = kernels::DnnMissing();
  return missing.empty() || !HasWork(model.graph()) ? "" : missing;
}

}  // namespace ONNX_LIGHT_NAMESPACE
