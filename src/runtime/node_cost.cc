// SPDX-License-Identifier: Apache-2.0
#include "runtime/node_cost.h"

#include <algorithm>
#include <string_view>

#include "runtime/plan.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr double kPerNode = 200;          // entering an operator, allocating its output
constexpr double kPerElement = 0.5;       // read, compute, write
constexpr double kPerMultiplyAdd = 0.05;  // in a product of matrices that are small
constexpr double kUsualRows = 8;          // of a factor nothing is known of

// Each of them multiplies every element of its weights with rows of its first input; what else it takes is small.
bool IsProduct(std::string_view type) {
  static constexpr std::string_view kProducts[] = {"MatMul",   "Gemm",    "Conv",         "Einsum",      "LSTM",
                                                   "GRU",      "RNN",     "LSTMSequence", "GRUSequence", "RNNSequence",
                                                   "LSTMCell", "GRUCell", "RNNCell",      "FusedProduct"};
  return std::ranges::find(kProducts, type) != std::end(kProducts);
}

}  // namespace

double NodeNanoseconds(const NodeProto& node, const GraphProto& graph, const TypeKnowledge& types) {
  double elements = 0;
  for (const auto& output : node.output())
    if (!output.empty()) elements += types.ElementsOf(graph, output);
  double cost = kPerNode + kPerElement * elements;
  if (!IsProduct(node.op_type())) return cost;
  for (size_t i = 1; i < node.input().size(); ++i)
    if (!node.input(i).empty()) cost += kPerMultiplyAdd * kUsualRows * types.ElementsOf(graph, node.input(i));
  return cost;
}

}  // namespace ONNX_LIGHT_NAMESPACE
