// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: a float tensor as uint8, with the scale and zero point that its range, widened to hold 0, asks
// for; the scale is 1 where all is 0. Written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html
#include <string>

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((x) => (y, y_scale, y_zero_point) {
  zero = Constant <value: tensor = float {0}> ()
  one = Constant <value: tensor = float {1}> ()
  greatest = Constant <value: tensor = float {255}> ()
  least_x = ReduceMin <keepdims: int = 0> (x)
  low = Min (least_x, zero)
  greatest_x = ReduceMax <keepdims: int = 0> (x)
  high = Max (greatest_x, zero)
  range = Sub (high, low)
  step = Div (range, greatest)
  flat = Equal (step, zero)
  y_scale = Where (flat, one, step)
  steps = Div (low, y_scale)
  shift = Sub (zero, steps)
  held = Clip (shift, zero, greatest)
  rounded = Round (held)
  y_zero_point = Cast <to: int = 2> (rounded)
  y = QuantizeLinear (x, y_scale, y_zero_point)
})";
}

}  // namespace

std::span<const OpDef> dynamic_quantize_linear_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "DynamicQuantizeLinear",
       .since_version = 11,
       .inputs = {{"x", {TensorType::kFloat}}},
       .outputs = {{"y", {TensorType::kUint8}},
                   {"y_scale", {TensorType::kFloat}},
                   {"y_zero_point", {TensorType::kUint8}}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
