// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: (x - zero point) * scale, in the type of the scale or output_dtype (version 23 on), which a
// float8e8m0 scale needs. https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
#include <fmt/format.h>

#include "ops/as_type.h"
#include "ops/quantize/quantize_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType Target(const NodeAttributes& attrs, TensorType scale) {
  const int64_t type = attrs.Int("output_dtype", 0);
  if (type == 0 && scale == TensorType::kFloat8e8m0)
    FailAttribute("output_dtype", "is required with a scale of float8e8m0");
  if (type == 0) return scale;
  const TensorType target = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(type));
  if (!kRealTypes.Has(target))
    FailAttribute("output_dtype", fmt::format("is {}, must be float, float16 or bfloat16", type));
  return target;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Scales by = ReadScales(ctx);
  const TensorType type = Target(ctx.attrs(), ctx.tensor(1).dtype());
  Tensor wide(TensorType::kFloat, x.shape());
  float* const to = wide.MutableView<float>().data();
  if (kByteTypes.Has(x.dtype())) {
    const auto* const from = static_cast<const uint8_t*>(x.data());
    ForParts(ctx, by.grid, [&](int64_t first, const kernels::ScaleGrid& part) {
      kernels::DequantizeBytes(from + first, x.dtype() == TensorType::kInt8, by.scales.data(), by.zeros.data(),
                               to + first, part);
    });
  } else {
    const Tensor wider = AsType(x, TensorType::kDouble);
    kernels::Dequantize(wider.View<double>().data(), by.scales.data(), by.zeros.data(), to, by.grid);
  }
  ctx.SetOutput(0, AsType(wide, type));
}

void ShapeRule(InferScope& scope) {
  scope.SetTensor(0, Target(scope.attrs(), scope.InputType(1)), scope.InputShape(0));
}

OpDef VersionOf(int since, TypeSet x, TypeSet scale, std::vector<AttrDef> attributes, TypeSet y = kRealTypes) {
  return {.domain = "",
          .type = "DequantizeLinear",
          .since_version = since,
          .inputs = {{"x", x, "T1"},
                     {"x_scale", scale, "T2"},
                     {.name = "x_zero_point", .types = x, .type_var = "T1", .count = FormalCount::kOptional}},
          .outputs = {{"y", y, "T3"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}
constexpr TypeSet kBytesOrInt{TensorType::kInt8, TensorType::kUint8, TensorType::kInt32};
constexpr TypeSet kFloat{TensorType::kFloat};
constexpr TypeSet kAll = kQuantizedTypes | TypeSet{TensorType::kInt32};

}  // namespace

std::span<const OpDef> dequantize_linear_ops() {
  static const OpDef ops[] = {
      VersionOf(10, kBytesOrInt, kFloat, {}, kFloat),
      VersionOf(13, kBytesOrInt, kFloat, {{"axis", AttrKind::kInt}}, kFloat),
      VersionOf(19, kBytesOrInt | kFloat8Types, kRealTypes, {{"axis", AttrKind::kInt}}),
      VersionOf(21, kAll, kRealTypes, {{"axis", AttrKind::kInt}, {"block_size", AttrKind::kInt}}),
      VersionOf(23, kAll, kScaleTypes,
                {{"axis", AttrKind::kInt}, {"block_size", AttrKind::kInt}, {"output_dtype", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
