// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization: less the mean over `axes`, over the deviation over them plus 1e-9. Written as nodes of
// other operators. https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html
#include <fmt/format.h>

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// HardSigmoid is a way to have 1e-9 in the type of X, which no operator set before 15 has an operator for.
std::string Body(const NodeProto& /*node*/, int64_t opset) {
  const std::string mean = opset >= 18 ? "ReduceMean ({}, axes)" : "ReduceMean <axes: ints = @axes> ({})";
  const auto of = [&](std::string_view x) { return fmt::format(fmt::runtime(mean), x); };
  return fmt::format(R"(<axes: ints = [0, 2, 3]> (X) => (Y) {{
  {}
  mean = {}
  distance = Sub (X, mean)
  square = Mul (distance, distance)
  variance = {}
  deviation = Sqrt (variance)
  epsilon = HardSigmoid <alpha: float = 0.0, beta: float = 1e-9> (deviation)
  divisor = Add (deviation, epsilon)
  Y = Div (distance, divisor)
}})",
                     opset >= 18 ? "axes = Constant <value_ints: ints = @axes> ()" : "", of("X"), of("square"));
}

}  // namespace

std::span<const OpDef> mean_variance_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MeanVarianceNormalization",
       .since_version = 9,
       .inputs = {{"X", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"axes", AttrKind::kInts}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
