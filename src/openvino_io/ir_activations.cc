// SPDX-License-Identifier: Apache-2.0
// Activations with parameters, softmax, and quantization of a float value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The bounds of an integer clamp are those integers that the floats allow, and those the type has.
double IntegerBound(TensorType type, double value, bool lower) {
  const int bits = onnx_optim::BitsOf(type);
  const bool is_signed = type == TensorType::kInt8 || type == TensorType::kInt16 || type == TensorType::kInt32 ||
                         type == TensorType::kInt64;
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  // Of 64 bits, the largest number that is a double too.
  const int magnitude = is_signed ? bits - 1 : bits;
  const double most = std::ldexp(1.0, magnitude) - (magnitude > 53 ? std::ldexp(1.0, magnitude - 53) : 1.0);
  return std::min(std::max(lower ? std::ceil(value) : std::floor(value), least), most);
}

}  // namespace

void LowerElu(IrLowering& l) {
  SetFloat(l.DirectNode("Elu"), "alpha", l.attrs().Float("alpha", 1));
  l.SameAs(0);
}

void LowerClamp(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  for (const char* name : {"min", "max"}) {
    if (!l.attrs().Has(name)) l.layer().Fail(fmt::format("attribute '{}'", name), "is missing");
  }
  double low = l.attrs().Double("min"), high = l.attrs().Double("max");
  if (!(low <= high)) l.layer().Fail("attribute 'min'", fmt::format("must be at most 'max', got {} and {}", low, high));
  if (!onnx_optim::IsFloatTensorType(type)) {
    low = IntegerBound(type, low, true);
    high = IntegerBound(type, high, false);
  }
  l.Finish("Clip", {l.Use(0), l.ScalarConstant("min", type, low), l.ScalarConstant("max", type, high)});
  l.SameAs(0);
}

void LowerGelu(IrLowering& l) {
  const std::string mode = l.attrs().String("approximation_mode", "ERF");
  if (mode != "ERF" && mode != "TANH" && mode != "erf" && mode != "tanh")
    l.layer().Fail("attribute 'approximation_mode'", fmt::format("must be ERF or TANH, got {}", QuoteForMessage(mode)));
  const bool tanh = mode == "TANH" || mode == "tanh";
  SetString(l.DirectNode("Gelu"), "approximate", tanh ? "tanh" : "none");
  l.SameAs(0);
}

void LowerHardSigmoid(IrLowering& l) {
  const float alpha = l.ConstantFloat(1, "input 1 'alpha'"), beta = l.ConstantFloat(2, "input 2 'beta'");
  NodeProto& node = l.Finish("HardSigmoid", {l.Use(0)});
  SetFloat(node, "alpha", alpha);
  SetFloat(node, "beta", beta);
  l.SameAs(0);
}

void LowerHSigmoid(IrLowering& l) {
  NodeProto& node = l.DirectNode("HardSigmoid");
  SetFloat(node, "alpha", 1.0F / 6.0F);
  SetFloat(node, "beta", 0.5F);
  l.SameAs(0);
}

void LowerSelu(IrLowering& l) {
  const float alpha = l.ConstantFloat(1, "input 1 'alpha'"), gamma = l.ConstantFloat(2, "input 2 'lambda'");
  NodeProto& node = l.Finish("Selu", {l.Use(0)});
  SetFloat(node, "alpha", alpha);
  SetFloat(node, "gamma", gamma);
  l.SameAs(0);
}

void LowerSwish(IrLowering& l) {
  std::string scaled = l.Use(0);
  if (l.input_size() > 1) scaled = l.Apply("Mul", {l.Use(0), l.Use(1)});
  l.Finish("Mul", {l.Use(0), l.Apply("Sigmoid", {scaled})});
  l.SameAs(0);
}

// A vector of slopes lies along axis 1, the channels, unless there are not as many; others broadcast as they are.
void LowerPRelu(IrLowering& l) {
  const int rank = l.RankOf(1) == 1 ? l.KnownRank(0, "to know the axis of the slope") : 0;
  std::string slope = l.Use(1);
  const std::vector<int64_t> dims = l.DimsOf(0), slopes = l.DimsOf(1);
  const bool others = dims.size() > 1 && slopes.size() == 1 && dims[1] >= 0 && slopes[0] >= 0 && dims[1] != slopes[0];
  if (rank > 2 && !others) {
    std::vector<int64_t> shape(static_cast<size_t>(rank) - 1, 1);
    shape.front() = -1;
    slope = l.Apply("Reshape", {slope, l.Int64Constant("shape", shape)});
  }
  l.Finish("PRelu", {l.Use(0), slope});
  l.SameAs(0);
}

void LowerSoftmax(IrLowering& l) {
  SetInt(l.DirectNode(FindIrLayer(l.layer().type)->onnx), "axis", l.attrs().Int("axis", 1));
  l.SameAs(0);
}

// output = round((clamp(x) - low) / (high - low) * (levels - 1)) / (levels - 1) * (out_high - out_low) + out_low
void LowerFakeQuantize(IrLowering& l) {
  CheckBroadcast(l);
  const int64_t levels = l.attrs().Int("levels");
  if (levels < 2) l.layer().Fail("attribute 'levels'", fmt::format("must be at least 2, got {}", levels));
  const TensorType type = l.KnownType(0);
  if (!onnx_optim::IsFloatTensorType(type))
    l.Refuse(fmt::format("its input is {}, no float type", onnx_optim::TensorTypeName(type)));
  const std::string steps = l.ScalarConstant("steps", type, static_cast<double>(levels - 1));
  const std::string low = l.Use(1), high = l.Use(2), out_low = l.Use(3), out_high = l.Use(4);
  const std::string clamped =
      l.Apply("Min", {l.Apply("Max", {l.Use(0), l.Apply("Min", {low, high})}), l.Apply("Max", {low, high})});
  const std::string part = l.Apply("Div", {l.Apply("Sub", {clamped, low}), l.Apply("Sub", {high, low})});
  const std::string level = l.Apply("Round", {l.Apply("Mul", {part, steps})});
  l.Finish("Add", {l.Apply("Mul", {l.Apply("Div", {level, steps}), l.Apply("Sub", {out_high, out_low})}), out_low});
  l.SameAs(0);
}

// Through a float of 8 bits and back: (f8(x * scale - shift) + shift) / scale
void LowerFakeConvert(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const std::string named = l.attrs().String("destination_type", "f8e4m3");
  if (named != "f8e4m3" && named != "f8e5m2")
    l.layer().Fail("attribute 'destination_type'",
                   fmt::format("must be f8e4m3 or f8e5m2, got {}", QuoteForMessage(named)));
  std::string value = l.Apply("Mul", {l.Use(0), l.Use(1)});
  if (l.input_size() > 2) value = l.Apply("Sub", {value, l.Use(2)});
  value = l.CastTo(l.CastTo(value, IrElementType(named)), type);
  if (l.input_size() > 2) value = l.Apply("Add", {value, l.Use(2)});
  l.Finish("Div", {value, l.Use(1)});
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
