// SPDX-License-Identifier: Apache-2.0
// Normalizer: each row of a vector or matrix over its greatest element (MAX), the sum of absolute values (L1) or the
// root of the sum of squares (L2), signs kept; a row for which that is 0 stays.
// https://onnx.ai/onnx/operators/onnx_aionnxml_Normalizer.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum class Norm { kMax, kL1, kL2 };

Norm ReadNorm(const NodeAttributes& attrs) {
  const std::string norm = attrs.String("norm", "MAX");
  if (norm == "MAX") return Norm::kMax;
  if (norm == "L1") return Norm::kL1;
  if (norm != "L2") FailAttribute("norm", fmt::format("is \"{}\", must be MAX, L1 or L2", norm));
  return Norm::kL2;
}

void Run(RunContext& ctx) {
  const Norm norm = ReadNorm(ctx.attrs());
  const Tensor x = AsType(ctx.tensor(0), TensorType::kFloat);
  if (x.rank() != 1 && x.rank() != 2)
    ctx.FailInput(0, fmt::format("must have rank 1 or 2, got {}", ctx.tensor(0).TypeString()));
  Tensor y(TensorType::kFloat, x.shape());
  const int64_t n = x.dim(x.rank() - 1), rows = x.rank() == 1 ? 1 : x.dim(0);
  const float* from = x.View<float>().data();
  float* to = y.MutableView<float>().data();
  for (int64_t r = 0; r < rows; ++r, from += n, to += n) {
    double divisor = n > 0 && norm == Norm::kMax ? static_cast<double>(*std::max_element(from, from + n)) : 0;
    for (int64_t i = 0; i < n && norm != Norm::kMax; ++i) {
      const auto value = static_cast<double>(from[i]);
      divisor += norm == Norm::kL1 ? std::abs(value) : value * value;
    }
    if (norm == Norm::kL2) divisor = std::sqrt(divisor);
    for (int64_t i = 0; i < n; ++i)
      to[i] = divisor == 0 ? from[i] : static_cast<float>(static_cast<double>(from[i]) / divisor);
  }
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  ReadNorm(scope.attrs());
  scope.SetTensor(0, TensorType::kFloat, scope.InputShape(0));
}

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kInt64, TensorType::kInt32};

}  // namespace

std::span<const OpDef> normalizer_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "Normalizer",
       .since_version = 1,
       .inputs = {{"X", kTypes, "T"}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"norm", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
