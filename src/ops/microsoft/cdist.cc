// SPDX-License-Identifier: Apache-2.0
// CDist: the distance of each row of A [M,K] from each row of B [N,K], as [M,N]; metric "euclidean" or "sqeuclidean",
// the square of that. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.CDist
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const std::string metric = NodeAttributes(node).String("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    FailAttribute("metric", fmt::format("is \"{}\", must be \"euclidean\" or \"sqeuclidean\"", metric));
  const bool root = metric == "euclidean";
  std::string text = "(A, B) => (C) {\n";
  if (opset < 13) {
    text += "  a = Unsqueeze <axes: ints = [1]> (A)\n  b = Unsqueeze <axes: ints = [0]> (B)\n";
  } else {
    text +=
        "  second = Constant <value_ints: ints = [1]> ()\n  first = Constant <value_ints: ints = [0]> ()\n"
        "  a = Unsqueeze (A, second)\n  b = Unsqueeze (B, first)\n";
  }
  text += "  apart = Sub (a, b)\n";
  text += opset < 18 ? "  squares = ReduceSumSquare <axes: ints = [2], keepdims: int = 0> (apart)\n"
                     : "  third = Constant <value_ints: ints = [2]> ()\n"
                       "  squares = ReduceSumSquare <keepdims: int = 0> (apart, third)\n";
  return text + fmt::format("  C = {} (squares)\n}}", root ? "Sqrt" : "Identity");
}

constexpr TypeSet kDistanceTypes{TensorType::kFloat, TensorType::kDouble};

}  // namespace

std::span<const OpDef> cdist_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "CDist",
       .since_version = 1,
       .inputs = {{"A", kDistanceTypes, "T"}, {"B", kDistanceTypes, "T"}},
       .outputs = {{"C", kDistanceTypes, "T"}},
       .attributes = {{"metric", AttrKind::kString}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
