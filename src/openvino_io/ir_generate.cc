// SPDX-License-Identifier: Apache-2.0
// Operators that make elements: repeated, counted, interpolated.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

// Expand broadcasts both ways; where numpy mode accepts a shape the result is the same. "explicit" says which axes of
// the output are those of the input; the others are new.
void LowerBroadcast(IrLowering& l) {
  std::string mode = l.attrs().String("mode", "numpy");
  if (mode == "NUMPY") mode = "numpy";
  const bool is_explicit = mode == "explicit" || mode == "none";
  if (mode != "numpy" && mode != "bidirectional" && !is_explicit)
    l.Refuse(fmt::format("mode {} has no ONNX operator", QuoteForMessage(mode)));
  if (l.input_size() != (is_explicit ? 3 : 2))
    l.layer().Fail("", fmt::format("mode {} takes {} inputs, got {}", mode, is_explicit ? 3 : 2, l.input_size()));
  const auto shape = l.ConstantInts(1);
  std::string value = l.Use(0);
  if (is_explicit) {
    const auto mapping = l.ConstantInts(2);
    const std::vector<int64_t> dims = l.DimsOf(1);
    const int64_t rank = shape ? static_cast<int64_t>(shape->size()) : dims.size() == 1 ? dims[0] : -1;
    constexpr int64_t kMostAxes = 64;
    if (!mapping || rank < 0 || rank > kMostAxes)
      l.Refuse("axes_mapping must be constant, and the rank of the output known, at most 64");
    if (!std::ranges::is_sorted(*mapping)) l.Refuse("axes_mapping that is not ascending is not read");
    std::vector<int64_t> added;
    for (int64_t axis = 0; axis < rank; ++axis)
      if (std::ranges::find(*mapping, axis) == mapping->end()) added.push_back(axis);
    if (!added.empty()) value = l.Apply("Unsqueeze", {value, l.Int64Constant("axes", added)});
    l.output(0).rank = static_cast<int>(rank);
  }
  l.Finish("Expand", {value, l.Int64(1, true)});
  l.output(0).type = l.input(0).type;
  if (!is_explicit && shape && (mode == "numpy" || l.input(0).rank >= 0))
    l.output(0).rank = std::max(static_cast<int>(shape->size()), l.input(0).rank);
}

// Repeats count from the last axis; ONNX wants as many as there are axes.
void LowerTile(IrLowering& l) {
  const auto repeats = l.ConstantInts(1);
  const std::vector<int64_t> dims = l.DimsOf(1);
  const int64_t count = repeats ? static_cast<int64_t>(repeats->size()) : dims.size() == 1 ? dims[0] : -1;
  constexpr int64_t kMostAxes = 64;
  if (count < 0 || count > kMostAxes)
    l.Refuse(fmt::format("the number of repeats must be known, at most {}", kMostAxes));
  const int rank = l.KnownRank(0, "to count its repeats");
  std::string value = l.Use(0), times = l.Int64(1, true);
  if (const auto missing = static_cast<size_t>(std::max<int64_t>(rank - count, 0)); missing > 0) {
    const std::string ones = l.Int64Constant("ones", std::vector<int64_t>(missing, 1)), all = l.Temporary("repeats");
    SetInt(l.Node("Concat", {ones, times}, {all}), "axis", 0);
    times = all;
  }
  if (count > rank) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < count - rank; ++axis) axes.push_back(axis);
    value = l.Apply("Unsqueeze", {value, l.Int64Constant("axes", axes)});
  }
  l.Finish("Tile", {value, times});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = static_cast<int>(std::max<int64_t>(rank, count));
}

void LowerRange(IrLowering& l) {
  const TensorType type = l.attrs().Has("output_type") ? l.attrs().ElementType("output_type") : l.KnownType(0);
  std::vector<std::string> inputs;
  for (int i = 0; i < 3; ++i) {
    const TensorType given = l.KnownType(i);
    if (onnx_optim::IsFloatTensorType(given) && !onnx_optim::IsFloatTensorType(type))
      l.Refuse(fmt::format("input {} is {} and the output {}: it has no ONNX operator", i,
                           onnx_optim::TensorTypeName(given), onnx_optim::TensorTypeName(type)));
    std::string value = l.Use(i);
    if (given != type) value = l.CastTo(value, type);
    if (l.RankOf(i) != 0 && l.input(i).rank != 0)
      value = l.Apply("Reshape", {value, l.Int64Constant("scalar", std::vector<int64_t>())});
    inputs.push_back(value);
  }
  l.Finish("Range", inputs);
  l.output(0).type = type;
  l.output(0).rank = 1;
}

// An index below 0 chooses nothing unless the layer says that it counts from the end, as it does in ONNX.
void LowerOneHot(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  std::string indices = l.Use(0);
  const std::string depth = l.Use(1);
  const std::string mode = l.attrs().String("negative_indices_mode", "ignore_negative");
  if (mode == "ignore_negative") {
    const std::string last = l.KnownType(1) == type ? depth : l.CastTo(depth, type);
    const std::string negative = l.Apply("Less", {indices, l.ScalarConstant("zero", type, 0)});
    indices = l.Apply("Where", {negative, last, indices});
  } else if (mode != "normalize") {
    l.layer().Fail("attribute 'negative_indices_mode'",
                   fmt::format("must be ignore_negative or normalize, got {}", QuoteForMessage(mode)));
  }
  const std::string axes = l.Int64Constant("all", std::array<int64_t, 1>{-1}), values = l.Temporary("values");
  const auto vector = [&](int i) { return l.Apply("Reshape", {l.Use(i), axes}); };
  SetInt(l.Node("Concat", {vector(3), vector(2)}, {values}), "axis", 0);
  SetInt(l.Finish("OneHot", {indices, depth, values}), "axis", l.attrs().Int("axis", -1));
  l.output(0).type = l.input(2).type;
  if (l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank + 1;
}

void LowerCumSum(IrLowering& l) {
  NodeProto& node = l.DirectNode("CumSum");
  SetInt(node, "exclusive", l.attrs().Bool("exclusive", false) ? 1 : 0);
  SetInt(node, "reverse", l.attrs().Bool("reverse", false) ? 1 : 0);
  l.SameAs(0);
}

void LowerEye(IrLowering& l) {
  const TensorType type = l.attrs().ElementType("output_type");
  if (type == TensorType::kUndefined)
    l.Refuse(fmt::format("element type {} has no ONNX type", QuoteForMessage(l.attrs().String("output_type"))));
  const int64_t diagonal = l.ConstantInt(2, "input 2 'diagonal_index'");
  const std::string shape = l.Temporary("shape");
  SetInt(l.Node("Concat", {l.Int64(0, true), l.Int64(1, true)}, {shape}), "axis", 0);
  const std::string zeros = l.Apply("ConstantOfShape", {shape});
  const std::string eye = l.input_size() > 3 ? l.Temporary("eye") : l.output(0).name;
  NodeProto& node = l.Node("EyeLike", {zeros}, {eye});
  SetInt(node, "k", diagonal);
  SetInt(node, "dtype", onnx_optim::TensorTypeToDataType(type));
  l.output(0).type = type;
  l.output(0).rank = 2;
  if (l.input_size() == 3) return;
  const std::string all = l.Temporary("shape");
  SetInt(l.Node("Concat", {l.Int64(3, true), shape}, {all}), "axis", 0);
  l.Finish("Expand", {eye, all});
  l.output(0).rank = -1;
}

}  // namespace ONNX_LIGHT_NAMESPACE
