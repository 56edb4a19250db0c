// SPDX-License-Identifier: Apache-2.0
// IsAllFinite: no element of any input is infinite or NaN; with isinf_only (isnan_only) no one is infinite (NaN).
// Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.IsAllFinite
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const NodeAttributes attrs(node);
  const bool only_inf = attrs.Int("isinf_only", 0) != 0, only_nan = attrs.Int("isnan_only", 0) != 0;
  if (only_inf && only_nan) FailAttribute("isnan_only", "does not go with isinf_only");
  std::string inputs, nodes = "  count = Constant <value: tensor = int32 {0}> ()\n";
  std::string_view counted = "count";
  std::string next;
  for (int i = 0; i < node.input_size(); ++i) {
    inputs += fmt::format("{}x{}", i == 0 ? "" : ", ", i);
    if (!only_inf) nodes += fmt::format("  nan{0} = IsNaN (x{0})\n", i);
    if (!only_nan) nodes += fmt::format("  inf{0} = IsInf (x{0})\n", i);
    if (!only_inf && !only_nan) nodes += fmt::format("  bad{0} = Or (nan{0}, inf{0})\n", i);
    nodes += fmt::format("  one{1} = Cast <to: int = 6> ({0}{1})\n", only_inf ? "inf" : only_nan ? "nan" : "bad", i);
    nodes += fmt::format("  sum{0} = ReduceSum <keepdims: int = 0> (one{0})\n", i);
    nodes += fmt::format("  count{0} = Add ({1}, sum{0})\n", i, counted);
    next = fmt::format("count{}", i);
    counted = next;
  }
  return fmt::format("({}) => (output) {{\n{}  any = Cast <to: int = 9> ({})\n  output = Not (any)\n}}", inputs, nodes,
                     counted);
}

}  // namespace

std::span<const OpDef> is_all_finite_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "IsAllFinite",
       .since_version = 1,
       .inputs = {{.name = "input", .types = kFloatTypes, .count = FormalCount::kVariadic, .min_count = 1}},
       .outputs = {{"output", kBoolType, "T"}},
       .attributes = {{"isinf_only", AttrKind::kInt}, {"isnan_only", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
