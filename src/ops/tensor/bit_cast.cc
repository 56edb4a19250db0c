// SPDX-License-Identifier: Apache-2.0
// BitCast: the bits of each element as another type of the same width. Text is not taken.
// https://onnx.ai/onnx/operators/onnx__BitCast.html
#include <fmt/format.h>

#include <cstring>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kBitTypes =
    kNumericTypes | kNarrowTypes | TypeSet{TensorType::kBool, TensorType::kComplex64, TensorType::kComplex128};

TensorType Target(const NodeAttributes& attrs) {
  const TensorType to = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("to")));
  if (!kBitTypes.Has(to)) FailAttribute("to", fmt::format("is {}, which is not supported", attrs.Int("to")));
  return to;
}
std::string WidthsDiffer(TensorType from, TensorType to) {
  return fmt::format("{} has not the width of {}", onnx_optim::ToTypeString(to), onnx_optim::ToTypeString(from));
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const TensorType to = Target(ctx.attrs());
  if (onnx_optim::BitsOf(to) != onnx_optim::BitsOf(x.dtype())) ctx.Fail("attribute 'to'", WidthsDiffer(x.dtype(), to));
  Tensor& y = ctx.AllocateOutput(0, to, x.shape());
  if (y.NumElements() > 0) std::memcpy(y.mutable_data(), x.data(), y.ByteSize());
}

void ShapeRule(InferScope& scope) {
  const TensorType from = scope.InputType(0), to = Target(scope.attrs());
  if (from != TensorType::kUndefined && onnx_optim::BitsOf(from) != onnx_optim::BitsOf(to))
    scope.Fail("attribute 'to'", WidthsDiffer(from, to));
  scope.SetTensor(0, to, scope.InputShape(0));
}

}  // namespace

std::span<const OpDef> bit_cast_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "BitCast",
       .since_version = 26,
       .inputs = {{"input", kBitTypes, "T1"}},
       .outputs = {{"output", kBitTypes, "T2"}},
       .attributes = {{"to", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
