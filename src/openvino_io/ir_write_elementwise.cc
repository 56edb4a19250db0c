// SPDX-License-Identifier: Apache-2.0
// Elementwise operators whose layer differs in form, activations with parameters, conversion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

const IrData kNumpy{{"auto_broadcast", "numpy"}};

// The type of two values broadcast, as far as ports show it: the one of the larger rank, its sizes open.
IrType Broadcast(const IrType& a, const IrType& b) {
  if (!a.ranked || !b.ranked) return {.element = a.element, .ranked = false, .dims = {}};
  std::vector<int64_t> dims = a.rank() >= b.rank() ? a.dims : b.dims;
  const std::vector<int64_t>& other = a.rank() >= b.rank() ? b.dims : a.dims;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& dim = dims[dims.size() - other.size() + i];
    if (dim == 1) dim = other[i];
    if (dim < 0 && other[i] > 1) dim = other[i];
  }
  return IrType::Tensor(a.element, dims);
}

// All inputs, two by two; `last` gives the node's output.
void WriteChain(IrNodeWriter& w, std::string_view type) {
  IrRef value = w.In(0);
  if (w.input_size() == 1) return w.Alias(0, value);
  for (int i = 1; i + 1 < w.input_size(); ++i) {
    const IrRef next = w.In(i);
    value = w.Binary(type, value, next, Broadcast(*value.type, *next.type));
  }
  w.Finish(type, "opset1", {value, w.In(w.input_size() - 1)}, kNumpy);
}

}  // namespace

void WriteMax(IrNodeWriter& w) { WriteChain(w, "Maximum"); }
void WriteMin(IrNodeWriter& w) { WriteChain(w, "Minimum"); }
void WriteSum(IrNodeWriter& w) { WriteChain(w, "Add"); }

void WriteMean(IrNodeWriter& w) {
  IrRef value = w.In(0);
  for (int i = 1; i < w.input_size(); ++i) {
    const IrRef next = w.In(i);
    value = w.Binary("Add", value, next, Broadcast(*value.type, *next.type));
  }
  w.Finish("Divide", "opset1", {value, w.Scalar("count", w.Element(0), w.input_size())},
           {{"auto_broadcast", "numpy"}, {"m_pythondiv", "false"}});
}

// Integers divide towards zero.
void WriteDiv(IrNodeWriter& w) {
  w.Finish("Divide", "opset1", {w.In(0), w.In(1)}, {{"auto_broadcast", "numpy"}, {"m_pythondiv", "false"}});
}

// Integers have the sign of the divisor unless fmod is set.
void WriteMod(IrNodeWriter& w) {
  w.Finish(w.Int("fmod", 0) != 0 ? "Mod" : "FloorMod", "opset1", {w.In(0), w.In(1)}, kNumpy);
}

// The exponent has the type of the base in IR.
void WritePow(IrNodeWriter& w) {
  const TensorType base = w.Element(0), exponent = w.Element(1);
  if (base != exponent && !onnx_optim::IsFloatTensorType(base))
    w.Refuse("", fmt::format("Power has one type, the base is {} and the exponent {}", onnx_optim::TensorTypeName(base),
                             onnx_optim::TensorTypeName(exponent)));
  w.Finish("Power", "opset1", {w.In(0), w.Converted(w.In(1), base)}, kNumpy);
}

void WriteWhere(IrNodeWriter& w) { w.Finish("Select", "opset1", {w.In(0), w.In(1), w.In(2)}, kNumpy); }

void WriteReciprocal(IrNodeWriter& w) {
  w.Finish("Divide", "opset1", {w.Scalar("one", w.Element(0), 1), w.In(0)},
           {{"auto_broadcast", "numpy"}, {"m_pythondiv", "false"}});
}

// Inference drops nothing.
void WriteDropout(IrNodeWriter& w) {
  w.Ignore("ratio");
  w.Ignore("seed");
  w.MarkUsed(1);
  if (w.Has(2)) {
    const auto training = w.ConstantInts(2);
    if (!training || training->size() != 1 || training->front() != 0)
      w.Refuse("input 2 'training_mode'", "must be constant and false");
  }
  w.Alias(0, w.In(0));
}

namespace {

// Convert leaves what is too large for 8 bits an infinity or NaN, which is what saturate=0 asks for.
IrRef Saturated(IrNodeWriter& w, TensorType to) {
  const IrRef x = w.In(0);
  const double most = to == TensorType::kFloat8e4m3fn ? 448 : to == TensorType::kFloat8e5m2 ? 57344 : 0;
  if (w.Int("saturate", 1) == 0 || most == 0) return x;
  const IrRef number = onnx_optim::IsFloatTensorType(x.type->element) ? x : w.Converted(x, TensorType::kFloat);
  return w.Step("saturated", "Clamp", "opset1", {number}, {{"min", IrText(-most)}, {"max", IrText(most)}},
                *number.type);
}

void CheckRoundMode(IrNodeWriter& w) {
  if (w.String("round_mode", "up") != "up") w.RefuseAttribute("round_mode", "must be \"up\"");
}

}  // namespace

// x where it is positive; below, Elu of x / alpha is e^(x / alpha) - 1.
void WriteCelu(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  const float factor = w.Float("alpha", 1);
  // Elu of what a negative alpha makes positive is that number.
  if (!(factor > 0)) w.RefuseAttribute("alpha", fmt::format("must be more than 0, is {}", factor));
  const IrRef alpha = w.Scalar("alpha", w.Element(0), static_cast<double>(factor));
  const IrRef positive = w.Step("positive", "ReLU", "opset1", {x}, {}, *x.type);
  const IrRef negative = w.Binary("Minimum", x, w.Scalar("zero", w.Element(0), 0), *x.type);
  const IrRef scaled = w.Binary("Divide", negative, alpha, *x.type);
  const IrRef elu = w.Step("elu", "Elu", "opset1", {scaled}, {{"alpha", "1"}}, *x.type);
  w.Finish("Add", "opset1", {positive, w.Binary("Multiply", elu, alpha, *x.type)}, kNumpy);
}

void WriteSwish(IrNodeWriter& w) {
  w.Finish("Swish", "opset4", {w.In(0), w.Scalar("alpha", w.Element(0), static_cast<double>(w.Float("alpha", 1)))});
}

// By as many bits as there are, or more, nothing is left; what a layer makes of that is not said.
void WriteBitShift(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  if (type != TensorType::kUint8 && type != TensorType::kUint16 && type != TensorType::kUint32 &&
      type != TensorType::kUint64)
    w.Refuse("input 0 'X'", fmt::format("{} is not written, its shifts are others", onnx_optim::TensorTypeName(type)));
  const int64_t bits = onnx_optim::BitsOf(type);
  const std::string direction = w.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") w.RefuseAttribute("direction", "must be LEFT or RIGHT");
  const std::string layer = direction == "LEFT" ? "BitwiseLeftShift" : "BitwiseRightShift";
  const auto by = w.ConstantInts(1);
  if (by && std::ranges::all_of(*by, [&](int64_t n) { return n >= 0 && n < bits; }))
    return w.Finish(layer, "opset15", {w.In(0), w.In(1)}, kNumpy);
  const IrRef x = w.In(0), shift = w.In(1);
  IrType flags = *shift.type;
  flags.element = TensorType::kBool;
  const IrRef small = w.Binary("Less", shift, w.Scalar("bits", type, static_cast<double>(bits)), flags);
  const IrRef held = w.Binary("Minimum", shift, w.Scalar("most", type, static_cast<double>(bits - 1)), *shift.type);
  const IrRef shifted = w.Step("shifted", layer, "opset15", {x, held}, kNumpy, w.OutputType(0));
  w.Finish("Select", "opset1", {small, shifted, w.Scalar("zero", type, 0)}, kNumpy);
}

void WriteCast(IrNodeWriter& w) {
  w.Ignore("to");
  CheckRoundMode(w);
  if (w.Type(0).element == TensorType::kString) w.Refuse("input 0", "Convert reads no strings");
  const TensorType to = w.OutputType(0).element;
  if (to == TensorType::kString) w.RefuseAttribute("to", "Convert gives no strings");
  w.Finish("Convert", "opset1", {Saturated(w, to)}, {{"destination_type", std::string(IrElementName(to))}});
}

void WriteCastLike(IrNodeWriter& w) {
  CheckRoundMode(w);
  w.Finish("ConvertLike", "opset1", {Saturated(w, w.OutputType(0).element), w.In(1)});
}

void WriteIsInf(IrNodeWriter& w) {
  w.Finish("IsInf", "opset10", {w.In(0)},
           {{"detect_negative", IrText(w.Int("detect_negative", 1) != 0)},
            {"detect_positive", IrText(w.Int("detect_positive", 1) != 0)}});
}

void WriteRound(IrNodeWriter& w) { w.Finish("Round", "opset5", {w.In(0)}, {{"mode", "half_to_even"}}); }

// Bounds that are not constant, or on one side only, are Maximum and Minimum.
void WriteClip(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  const IrRef x = w.In(0);
  const auto bound = [&](int i, const char* attribute) -> std::optional<double> {
    if (const AttributeProto* given = w.Attribute(attribute)) return static_cast<double>(given->f());
    return w.ConstantFloat(i);
  };
  const std::optional<double> low = bound(1, "min"), high = bound(2, "max");
  // Whole numbers beyond these are no doubles.
  constexpr double kExact = 9007199254740992.0;
  const bool exact = onnx_optim::IsFloatTensorType(type) ||
                     (std::abs(low.value_or(0)) < kExact && std::abs(high.value_or(0)) < kExact);
  if (low && high && *low <= *high && std::isfinite(*low) && std::isfinite(*high) && exact)
    return w.Finish("Clamp", "opset1", {x}, {{"min", IrText(*low)}, {"max", IrText(*high)}});
  const auto port = [&](int i, const char* hint, const std::optional<double>& value) {
    return value && !w.Has(i) ? w.Scalar(hint, type, *value) : w.In(i);
  };
  const bool has_low = low || w.Has(1), has_high = high || w.Has(2);
  if (!has_low && !has_high) return w.Alias(0, x);
  if (!has_high) return w.Finish("Maximum", "opset1", {x, port(1, "min", low)}, kNumpy);
  const IrRef bounded = has_low ? w.Binary("Maximum", x, port(1, "min", low), *x.type) : x;
  w.Finish("Minimum", "opset1", {bounded, port(2, "max", high)}, kNumpy);
}

void WriteElu(IrNodeWriter& w) { w.Finish("Elu", "opset1", {w.In(0)}, {{"alpha", IrText(w.Float("alpha", 1))}}); }

void WriteSelu(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  const auto value = [&](const char* name, float absent) {
    return w.Scalar(name, type, static_cast<double>(w.Float(name, absent)));
  };
  w.Finish("Selu", "opset1",
           {w.In(0), value("alpha", 1.67326319217681884765625F), value("gamma", 1.05070102214813232421875F)});
}

// OpenVINO takes alpha 0 for the default.
void WriteHardSigmoid(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  if (w.Float("alpha", 0.2F) == 0) {
    const IrRef x = w.In(0);
    const IrRef flat = w.Binary("Multiply", x, w.Scalar("alpha", type, 0), *x.type);
    const IrRef line =
        w.Binary("Add", flat, w.Scalar("beta", type, static_cast<double>(w.Float("beta", 0.5F))), *x.type);
    return w.Finish("Clamp", "opset1", {line}, {{"min", "0"}, {"max", "1"}});
  }
  const auto value = [&](const char* name, float absent) {
    return w.Scalar(name, type, static_cast<double>(w.Float(name, absent)));
  };
  w.Finish("HardSigmoid", "opset1", {w.In(0), value("alpha", 0.2F), value("beta", 0.5F)});
}

void WriteLeakyRelu(IrNodeWriter& w) {
  const auto slope = ScalarBytes(w.Element(0), static_cast<double>(w.Float("alpha", 0.01F)));
  w.Finish("PReLU", "opset1", {w.In(0), w.Const("alpha", w.Element(0), {1}, *slope)});
}

// The slope of PReLU lies along axis 1, that of PRelu is broadcast since operator set 7.
void WritePRelu(IrNodeWriter& w) {
  const IrType x = w.Type(0), slope = w.Type(1);
  const bool one = slope.ranked && std::ranges::all_of(slope.dims, [](int64_t dim) { return dim == 1; });
  const bool channels = slope.ranked && x.ranked && slope.rank() == x.rank() - 1 && slope.rank() > 0 &&
                        std::all_of(slope.dims.begin() + 1, slope.dims.end(), [](int64_t dim) { return dim == 1; });
  if (one || channels || w.opset() < 7) return w.Finish("PReLU", "opset1", {w.In(0), w.Reshaped(w.In(1), {-1})});
  const IrRef value = w.In(0), zero = w.Scalar("zero", w.Element(0), 0);
  IrType condition = x;
  condition.element = TensorType::kBool;
  const IrRef negative = w.Binary("Less", value, zero, condition);
  w.Finish("Select", "opset1", {negative, w.Binary("Multiply", value, w.In(1), x), value}, kNumpy);
}

void WriteThresholdedRelu(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  IrType condition = *x.type;
  condition.element = TensorType::kBool;
  const IrRef above =
      w.Binary("Greater", x, w.Scalar("alpha", w.Element(0), static_cast<double>(w.Float("alpha", 1))), condition);
  w.Finish("Select", "opset1", {above, x, w.Scalar("zero", w.Element(0), 0)}, kNumpy);
}

void WriteGelu(IrNodeWriter& w) {
  const std::string mode = w.String("approximate", "none");
  w.Finish("Gelu", "opset7", {w.In(0)}, {{"approximation_mode", mode == "tanh" ? "TANH" : "ERF"}});
}

// Before operator set 13 all axes from `axis` on are one.
void WriteSoftmax(IrNodeWriter& w) {
  const bool flat = w.opset() < 13, log = w.node().op_type() == "LogSoftmax";
  const int64_t axis = w.Int("axis", flat ? 1 : -1);
  const IrType x = w.Type(0);
  const IrData data{{"axis", std::to_string(x.ranked ? w.Axis(axis, x) : axis)}};
  const std::string_view type = log ? "LogSoftmax" : "SoftMax", version = log ? "opset5" : "opset8";
  if (!flat || axis == -1 || (x.ranked && w.Axis(axis, x) == x.rank() - 1))
    return w.Finish(type, version, {w.In(0)}, data);
  if (!x.ranked || std::ranges::any_of(x.dims, [](int64_t dim) { return dim < 0; }))
    w.RefuseAttribute("axis", fmt::format("all axes from {} on are one in operator set {}: their sizes must be known",
                                          axis, w.opset()));
  std::vector<int64_t> shape{1, 1};
  for (int i = 0; i < x.rank(); ++i) shape[i < w.Axis(axis, x) ? 0 : 1] *= x.dims[static_cast<size_t>(i)];
  const IrRef joined = w.Reshaped(w.In(0), shape);
  const IrRef result = w.Step("softmax", type, version, {joined}, {{"axis", "1"}}, *joined.type);
  w.Finish("Reshape", "opset1", {result, w.Int64s("shape", x.dims)}, {{"special_zero", "false"}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
