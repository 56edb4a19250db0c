// SPDX-License-Identifier: Apache-2.0
// Cast: the same elements as another type. Numbers to integers truncate, saturate from floating types and wrap from
// integers, and to those of 4 and 2 bits from anything; to bool: not zero; text to numbers and back as kernels/cast
// says. Attributes saturate and round_mode speak of 8-bit floats only. NaN, which float4 and float6 have not, becomes
// their negative zero, as in the tests of the standard. https://onnx.ai/onnx/operators/onnx__Cast.html
#include <fmt/format.h>

#include "ops/tensor/cast_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType Target(const NodeAttributes& attrs) {
  return onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("to")));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const TensorType to = Target(ctx.attrs());
  if (!kCastTypes.Has(to)) {
    throw Unsupported(
        fmt::format("is {}: {}", ctx.attrs().Int("to"),
                    to == TensorType::kUndefined ? "no element type has that number"
                                                 : "casts to " + onnx_optim::ToTypeString(to) + " are not supported"),
        ErrorWhere{.op_type = {}, .node_name = {}, .subject = "attribute 'to'", .path = {}});
  }
  return PrepareCast(ctx);
}

void Run(RunContext& ctx) { RunCast(ctx, Target(ctx.attrs())); }

void ShapeRule(InferScope& scope) {
  const TensorType to = Target(scope.attrs());
  if (to == TensorType::kUndefined)
    scope.Fail("attribute 'to'", fmt::format("is {}: no element type has that number", scope.attrs().Int("to")));
  CastShape(scope, to);
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "Cast",
          .since_version = since,
          .inputs = {{"input", kCastTypes, "T1"}},
          .outputs = {{"output", kCastTypes, "T2"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> cast_ops() {
  static const OpDef ops[] = {
      VersionOf(6, {{"to", AttrKind::kInt, true}}),
      VersionOf(19, {{"to", AttrKind::kInt, true}, {"saturate", AttrKind::kInt}, {"round_mode", AttrKind::kString}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
