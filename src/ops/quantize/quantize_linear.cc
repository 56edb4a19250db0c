// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: x / scale, rounded for whole numbers to nearest, ties to even, plus the zero point, as its type:
// whole numbers of 2 to 16 bits, which hold what is too large at their bounds, or floats of 4 to 8 bits, as Cast gives
// them; uint8 without a zero point, or output_dtype. A float8e8m0 scale divides as a float.
// https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/quantize/quantize_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kInputTypes = kRealTypes | TypeSet{TensorType::kInt32};

TensorType Target(const NodeAttributes& attrs, TensorType zero) {
  const int64_t asked = attrs.Int("output_dtype", 0);
  const TensorType type = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(asked));
  if (zero == TensorType::kUndefined) return asked == 0 ? TensorType::kUint8 : type;
  if (asked != 0 && type != zero)
    FailAttribute("output_dtype", fmt::format("is {}, the zero point is {}", asked, onnx_optim::ToTypeString(zero)));
  return zero;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const TensorType type = Target(ctx.attrs(), TensorType::kUndefined);
  if (!ctx.HasInput(2) && !kQuantizedTypes.Has(type))
    throw Unsupported(fmt::format("is {}, which is no type to quantize to", ctx.attrs().Int("output_dtype")),
                      ErrorWhere{.op_type = {}, .node_name = {}, .subject = "attribute 'output_dtype'", .path = {}});
  return nullptr;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Scales by = ReadScales(ctx);
  const TensorType type = Target(ctx.attrs(), ctx.HasInput(2) ? ctx.tensor(2).dtype() : TensorType::kUndefined);
  const int64_t asked = ctx.attrs().Int("precision", 0);
  const TensorType precision =
      asked != 0 ? onnx_optim::DataTypeToTensorType(static_cast<int32_t>(asked)) : ctx.tensor(1).dtype();
  if (asked != 0 && !kRealTypes.Has(precision))
    ctx.Fail("attribute 'precision'", fmt::format("is {}, must be float, float16 or bfloat16", asked));
  const Tensor wide = AsType(x, TensorType::kFloat);
  Tensor& y = ctx.AllocateOutput(0, type, x.shape());
  const bool saturate = ctx.attrs().Int("saturate", 1) != 0;
  const auto quantize = [&](int64_t first, const kernels::ScaleGrid& part) {
    kernels::Quantize(wide.View<float>().data() + first, by.scales.data(), by.zeros.data(), precision, type, saturate,
                      static_cast<std::byte*>(y.mutable_data()) + first, part);
  };
  if (kByteTypes.Has(type))
    ForParts(ctx, by.grid, quantize);
  else
    quantize(0, by.grid);
}

void ShapeRule(InferScope& scope) {
  const TensorType zero = scope.InputType(2);
  const bool unknown = scope.HasInput(2) && zero == TensorType::kUndefined;
  scope.SetTensor(0, unknown ? TensorType::kUndefined : Target(scope.attrs(), zero), scope.InputShape(0));
}

OpDef VersionOf(int since, TypeSet x, TypeSet scale, std::string_view scale_type, TypeSet y,
                std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "QuantizeLinear",
          .since_version = since,
          .inputs = {{"x", x, "T1"},
                     {"y_scale", scale, scale_type},
                     {.name = "y_zero_point", .types = y, .type_var = "T3", .count = FormalCount::kOptional}},
          .outputs = {{"y", y, "T3"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}
constexpr TypeSet kBytes{TensorType::kInt8, TensorType::kUint8}, kFloat{TensorType::kFloat};
constexpr TypeSet kFloatOrInt{TensorType::kFloat, TensorType::kInt32};

}  // namespace

std::span<const OpDef> quantize_linear_ops() {
  static const OpDef ops[] = {
      VersionOf(10, kFloatOrInt, kFloat, {}, kBytes, {}),
      VersionOf(13, kFloatOrInt, kFloat, {}, kBytes, {{"axis", AttrKind::kInt}}),
      VersionOf(19, kInputTypes, kInputTypes, "T1", kBytes | kFloat8Types,
                {{"axis", AttrKind::kInt}, {"saturate", AttrKind::kInt}}),
      VersionOf(21, kInputTypes, kInputTypes, "T1", kQuantizedTypes,
                {{"axis", AttrKind::kInt},
                 {"block_size", AttrKind::kInt},
                 {"output_dtype", AttrKind::kInt},
                 {"saturate", AttrKind::kInt}}),
      VersionOf(23, kInputTypes, kInputTypes | kPowerType, "T2", kQuantizedTypes,
                {{"axis", AttrKind::kInt},
                 {"block_size", AttrKind::kInt},
                 {"output_dtype", AttrKind::kInt},
                 {"precision", AttrKind::kInt},
                 {"saturate", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
