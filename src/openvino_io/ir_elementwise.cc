// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparison, logic and conversion, element by element.
#include <fmt/format.h>

#include <algorithm>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string_view OnnxTypeOf(const IrLowering& l) { return FindIrLayer(l.layer().type)->onnx; }

TensorType CommonType(IrLowering& l) {
  return l.input(0).type != TensorType::kUndefined ? l.input(0).type : l.input(1).type;
}

void BroadcastRank(IrLowering& l) {
  if (l.input(0).rank >= 0 && l.input(1).rank >= 0) l.output(0).rank = std::max(l.input(0).rank, l.input(1).rank);
}

// What remains of integer division, as C has it.
std::string Remainder(IrLowering& l, const std::string& a, const std::string& b) {
  std::string remainder = l.Temporary("remainder");
  SetInt(l.Node("Mod", {a, b}, {remainder}), "fmod", 1);
  return remainder;
}

bool IsUnsigned(TensorType type) {
  return type == TensorType::kUint8 || type == TensorType::kUint16 || type == TensorType::kUint32 ||
         type == TensorType::kUint64;
}

}  // namespace

void LowerUnary(IrLowering& l) {
  l.DirectNode(OnnxTypeOf(l));
  l.SameAs(0);
}

// Whole numbers stay as they are.
void LowerRounding(IrLowering& l) {
  const TensorType type = l.input(0).type;
  l.DirectNode(onnx_optim::IsIntegerTensorType(type) ? "Identity" : OnnxTypeOf(l));
  l.SameAs(0);
}

void LowerPredicate(IrLowering& l) {
  l.DirectNode(OnnxTypeOf(l));
  l.SameAs(0);
  l.output(0).type = TensorType::kBool;
}

// Both broadcast as numpy does; "none" only forbids what numpy would allow.
void CheckBroadcast(const IrLowering& l) {
  const std::string broadcast = l.attrs().String("auto_broadcast", "numpy");
  if (broadcast != "numpy" && broadcast != "none")
    l.Refuse(fmt::format("attribute 'auto_broadcast' {} has no ONNX operator", QuoteForMessage(broadcast)));
}

void LowerBinary(IrLowering& l) {
  CheckBroadcast(l);
  l.DirectNode(OnnxTypeOf(l));
  l.output(0).type = CommonType(l);
  BroadcastRank(l);
}

// Of types that ONNX has no powers of, those of doubles, held within the type.
void LowerPower(IrLowering& l) {
  const TensorType type = CommonType(l);
  constexpr TensorType kNarrow[] = {TensorType::kInt8, TensorType::kInt16, TensorType::kUint8, TensorType::kUint16,
                                    TensorType::kUint32};
  if (std::ranges::find(kNarrow, type) == std::end(kNarrow)) return LowerBinary(l);
  CheckBroadcast(l);
  const auto wide = [&](int i) { return l.CastTo(l.Use(i), TensorType::kDouble); };
  SetInt(l.Finish("Cast", {l.Apply("Pow", {wide(0), wide(1)})}), "to", onnx_optim::TensorTypeToDataType(type));
  l.output(0).type = type;
  BroadcastRank(l);
}

void LowerComparison(IrLowering& l) {
  LowerBinary(l);
  l.output(0).type = TensorType::kBool;
}

void LowerNotEqual(IrLowering& l) {
  CheckBroadcast(l);
  l.Finish("Not", {l.Apply("Equal", {l.Use(0), l.Use(1)})});
  l.output(0).type = TensorType::kBool;
  BroadcastRank(l);
}

// Integers divide towards minus infinity unless m_pythondiv is off, in ONNX towards zero: one less where the remainder
// that goes with the one is not that of the other.
void LowerDivide(IrLowering& l) {
  const TensorType type = CommonType(l);
  if (!l.attrs().Bool("m_pythondiv", true) || onnx_optim::IsFloatTensorType(type) || IsUnsigned(type))
    return LowerBinary(l);
  if (type == TensorType::kUndefined) l.Refuse("its element type must be known: integer division rounds down");
  CheckBroadcast(l);
  const std::string a = l.Use(0), b = l.Use(1);
  const std::string same = l.Apply("Equal", {l.Apply("Mod", {a, b}), Remainder(l, a, b)});
  l.Finish("Sub", {l.Apply("Div", {a, b}), l.CastTo(l.Apply("Not", {same}), type)});
  l.output(0).type = type;
  BroadcastRank(l);
}

void LowerMod(IrLowering& l) {
  CheckBroadcast(l);
  SetInt(l.DirectNode("Mod"), "fmod", 1);
  l.output(0).type = CommonType(l);
  BroadcastRank(l);
}

// The remainder with the sign of the divisor. ONNX has it for integers only.
void LowerFloorMod(IrLowering& l) {
  const TensorType type = CommonType(l);
  if (type == TensorType::kUndefined) l.Refuse("its element type must be known");
  CheckBroadcast(l);
  const std::string a = l.Use(0), b = l.Use(1);
  if (!onnx_optim::IsFloatTensorType(type)) {
    l.Finish("Mod", {a, b});
  } else {
    const std::string remainder = Remainder(l, a, b), zero = l.ScalarConstant("zero", type, 0);
    const std::string signs_differ = l.Apply("Xor", {l.Apply("Less", {remainder, zero}), l.Apply("Less", {b, zero})});
    const std::string add = l.Apply("And", {signs_differ, l.Apply("Not", {l.Apply("Equal", {remainder, zero})})});
    l.Finish("Where", {add, l.Apply("Add", {remainder, b}), remainder});
  }
  l.output(0).type = type;
  BroadcastRank(l);
}

void LowerSquaredDifference(IrLowering& l) {
  CheckBroadcast(l);
  const std::string difference = l.Apply("Sub", {l.Use(0), l.Use(1)});
  l.Finish("Mul", {difference, difference});
  l.output(0).type = CommonType(l);
  BroadcastRank(l);
}

void LowerSelect(IrLowering& l) {
  CheckBroadcast(l);
  l.DirectNode("Where");
  l.output(0).type = l.input(1).type != TensorType::kUndefined ? l.input(1).type : l.input(2).type;
  const int ranks[] = {l.input(0).rank, l.input(1).rank, l.input(2).rank};
  if (*std::min_element(ranks, ranks + 3) >= 0) l.output(0).rank = *std::max_element(ranks, ranks + 3);
}

namespace {

// What is too large for them becomes an infinity or NaN in IR.
bool IsEightBitFloat(TensorType type) { return type == TensorType::kFloat8e4m3fn || type == TensorType::kFloat8e5m2; }

}  // namespace

void LowerConvert(IrLowering& l) {
  const TensorType type = l.attrs().ElementType("destination_type");
  if (type == TensorType::kUndefined)
    l.Refuse(fmt::format("element type {} has no ONNX type", QuoteForMessage(l.attrs().String("destination_type"))));
  NodeProto& cast = l.Finish("Cast", {l.Use(0)});
  SetInt(cast, "to", onnx_optim::TensorTypeToDataType(type));
  if (IsEightBitFloat(type)) SetInt(cast, "saturate", 0);
  l.output(0).type = type;
  l.output(0).rank = l.input(0).rank;
}

void LowerConvertLike(IrLowering& l) {
  NodeProto& cast = l.DirectNode("CastLike");
  if (IsEightBitFloat(l.input(1).type)) SetInt(cast, "saturate", 0);
  l.output(0).type = l.input(1).type;
  l.output(0).rank = l.input(0).rank;
}

namespace {

TensorType UnsignedOf(const IrLowering& l, TensorType type) {
  switch (type) {
    case TensorType::kInt8:
      return TensorType::kUint8;
    case TensorType::kInt16:
      return TensorType::kUint16;
    case TensorType::kInt32:
      return TensorType::kUint32;
    case TensorType::kInt64:
      return TensorType::kUint64;
    default:
      if (!IsUnsigned(type)) l.Refuse(fmt::format("its input is {}, no integer", onnx_optim::TensorTypeName(type)));
      return type;
  }
}

// ONNX shifts unsigned integers. Of those below 0 all bits are turned before and after they go to the right.
void LowerShift(IrLowering& l, const char* direction) {
  CheckBroadcast(l);
  const TensorType type = l.KnownType(0), plain = UnsignedOf(l, type);
  const std::string x = l.Use(0), by = l.Use(1);
  const auto shifted = [&](const std::string& value) {
    std::string output = l.Temporary("shifted");
    SetString(l.Node("BitShift", {l.CastTo(value, plain), l.CastTo(by, plain)}, {output}), "direction", direction);
    return l.CastTo(output, type);
  };
  if (type == plain) {
    SetString(l.DirectNode("BitShift"), "direction", direction);
  } else if (std::string_view(direction) == "LEFT") {
    l.Finish("Identity", {shifted(x)});
  } else {
    const std::string negative = l.Apply("Less", {x, l.ScalarConstant("zero", type, 0)});
    const std::string turned = l.Apply("BitwiseNot", {x});
    const std::string right = shifted(l.Apply("Where", {negative, turned, x}));
    l.Finish("Where", {negative, l.Apply("BitwiseNot", {right}), right});
  }
  l.output(0).type = type;
  BroadcastRank(l);
}

}  // namespace

void LowerBitwiseLeftShift(IrLowering& l) { LowerShift(l, "LEFT"); }
void LowerBitwiseRightShift(IrLowering& l) { LowerShift(l, "RIGHT"); }

// Halves go to even, or away from zero: there the fraction, which floor leaves exact, decides.
void LowerRound(IrLowering& l) {
  const std::string mode = l.attrs().String("mode", "half_to_even");
  if (mode == "half_to_even") {
    l.DirectNode("Round");
  } else if (mode == "half_away_from_zero") {
    const TensorType type = l.KnownType(0);
    const std::string x = l.Use(0), size = l.Apply("Abs", {x}), floor = l.Apply("Floor", {size});
    const std::string up =
        l.Apply("GreaterOrEqual", {l.Apply("Sub", {size, floor}), l.ScalarConstant("half", type, 0.5)});
    const std::string rounded = l.Apply("Add", {floor, l.CastTo(up, type)});
    l.Finish("Mul", {l.Apply("Sign", {x}), rounded});
  } else {
    l.layer().Fail("attribute 'mode'",
                   fmt::format("must be half_to_even or half_away_from_zero, got {}", QuoteForMessage(mode)));
  }
  l.SameAs(0);
}

void LowerIsInf(IrLowering& l) {
  NodeProto& node = l.DirectNode("IsInf");
  SetInt(node, "detect_negative", l.attrs().Bool("detect_negative", true) ? 1 : 0);
  SetInt(node, "detect_positive", l.attrs().Bool("detect_positive", true) ? 1 : 0);
  l.SameAs(0);
  l.output(0).type = TensorType::kBool;
}

void LowerIsFinite(IrLowering& l) {
  const std::string x = l.Use(0);
  l.Finish("Not", {l.Apply("Or", {l.Apply("IsNaN", {x}), l.Apply("IsInf", {x})})});
  l.SameAs(0);
  l.output(0).type = TensorType::kBool;
}

}  // namespace ONNX_LIGHT_NAMESPACE
