// SPDX-License-Identifier: Apache-2.0
// Random numbers: of the same distribution, not the numbers that OpenVINO draws.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

// Evenly between inputs 1 and 2, integers below the latter. Seeds that are both 0 are none; others give the same
// numbers in each run.
void LowerRandomUniform(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  const TensorType type = attrs.ElementType("output_type");
  const bool floats = onnx_optim::IsFloatTensorType(type);
  if (!floats && type != TensorType::kInt32 && type != TensorType::kInt64)
    l.Refuse(fmt::format("element type {} is none of the random numbers that are read: floats, i32, i64",
                         QuoteForMessage(attrs.String("output_type"))));
  const int64_t global = attrs.Int("global_seed", 0), own = attrs.Int("op_seed", 0);
  const TensorType drawn = floats ? type : TensorType::kDouble;
  const auto bound = [&](int i) {
    std::string value = l.Use(i);
    if (l.KnownType(i) != drawn) value = l.CastTo(value, drawn);
    return l.RankOf(i) == 0 && l.input(i).rank == 0
               ? value
               : l.Apply("Reshape", {value, l.Int64Constant("scalar", std::vector<int64_t>())});
  };
  const auto shape = l.ConstantInts(0);
  const std::string low = bound(1), high = bound(2), place = l.Apply("ConstantOfShape", {l.Int64(0, true)});
  const std::string unit = l.Temporary("unit");
  NodeProto& node = l.Node("RandomUniformLike", {place}, {unit});
  SetInt(node, "dtype", onnx_optim::TensorTypeToDataType(drawn));
  // 2^24 and more would not differ as floats.
  constexpr int64_t kSeeds = int64_t{1} << 24;
  if (global != 0 || own != 0)
    SetFloat(node, "seed", static_cast<float>(((global % kSeeds) * 31 + own % kSeeds) % kSeeds));
  const std::string spread = l.Apply("Mul", {unit, l.Apply("Sub", {high, low})});
  if (floats) {
    l.Finish("Add", {spread, low});
  } else {
    SetInt(l.Finish("Cast", {l.Apply("Add", {l.Apply("Floor", {spread}), low})}), "to",
           onnx_optim::TensorTypeToDataType(type));
  }
  l.output(0).type = type;
  if (shape) l.output(0).rank = static_cast<int>(shape->size());
}

}  // namespace ONNX_LIGHT_NAMESPACE
