// SPDX-License-Identifier: Apache-2.0
// Places in sorted values, different elements, boxes that do not overlap.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// How many of `sorted` [.., n] lie before each of `values` [.., m]: all that are less, and those that are equal when
// `equal` says so. Both are of a type that compares.
std::string CountBelow(IrLowering& l, const std::string& sorted, const std::string& values, bool equal,
                       const std::string& output) {
  const std::string row = l.Apply("Unsqueeze", {sorted, l.Int64Constant("axes", {-2})});
  const std::string column = l.Apply("Unsqueeze", {values, l.Int64Constant("axes", {-1})});
  const std::string before = l.Apply(equal ? "LessOrEqual" : "Less", {row, column});
  const std::string counted = l.CastTo(before, TensorType::kInt64);
  SetInt(l.Node("ReduceSum", {counted, l.Int64Constant("axes", {-1})}, {output}), "keepdims", 0);
  return output;
}

// Inputs 0 and 1 in one type.
std::pair<std::string, std::string> Comparable(IrLowering& l) {
  const TensorType a = l.KnownType(0), b = l.KnownType(1);
  if (a == b) return {l.Use(0), l.Use(1)};
  const bool floats = onnx_optim::IsFloatTensorType(a) || onnx_optim::IsFloatTensorType(b);
  const TensorType common = floats ? TensorType::kDouble : TensorType::kInt64;
  return {l.CastTo(l.Use(0), common), l.CastTo(l.Use(1), common)};
}

}  // namespace

// The bounds are a vector, the data of any rank: as a vector they are all compared with it.
void LowerBucketize(IrLowering& l) {
  const auto [data, bounds] = Comparable(l);
  const std::string places = l.IndicesName(0, "output_type", TensorType::kInt64);
  const std::string column = l.Apply("Unsqueeze", {data, l.Int64Constant("axes", {-1})});
  const bool right = l.attrs().Bool("with_right_bound", true);
  const std::string below = l.Apply(right ? "Less" : "LessOrEqual", {bounds, column});
  const std::string counted = l.CastTo(below, TensorType::kInt64);
  SetInt(l.Node("ReduceSum", {counted, l.Int64Constant("axes", {-1})}, {places}), "keepdims", 0);
  l.FinishIndices(places, 0);
  l.output(0).rank = l.input(0).rank;
}

// Sorted along the last axis; a vector serves values of any rank.
void LowerSearchSorted(IrLowering& l) {
  const auto [sorted, values] = Comparable(l);
  const std::string places = l.IndicesName(0, "output_type", TensorType::kInt64);
  const bool vector = l.KnownRank(0, "to compare it with the values") == 1;
  CountBelow(l, vector ? l.Apply("Reshape", {sorted, l.Int64Constant("all", {1, -1})}) : sorted, values,
             l.attrs().Bool("right_mode", false), places);
  l.FinishIndices(places, 0);
  l.output(0).rank = l.input(1).rank;
}

void LowerUnique(IrLowering& l) {
  std::optional<int64_t> axis;
  if (l.input_size() > 1) axis = l.ConstantInt(1, "input 1 'axis'");
  const bool sorted = l.attrs().Bool("sorted", true);
  std::vector<std::string> outputs{l.output(0).name};
  for (int i = 1; i < 4; ++i)
    outputs.push_back(l.IndicesName(i, i == 3 ? "count_element_type" : "index_element_type", TensorType::kInt64));
  NodeProto& node = l.Node("Unique", {l.Use(0)}, outputs);
  if (axis) SetInt(node, "axis", *axis);
  SetInt(node, "sorted", sorted ? 1 : 0);
  for (int i = 1; i < 4; ++i) {
    l.FinishIndices(outputs[static_cast<size_t>(i)], i);
    l.output(i).rank = 1;
  }
  l.output(0).type = l.input(0).type;
  l.output(0).rank = axis ? l.input(0).rank : 1;
}

// Boxes of each batch and class by score, unless all of them are to be sorted together. Scores and count are read back
// from what was chosen.
void LowerNonMaxSuppression(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  if (l.layer().opset < 5) l.Refuse("it is read from opset5 on: before, the output is filled up to a fixed size");
  if (l.layer().outputs.size() != 3)
    l.layer().Fail("", fmt::format("must have 3 outputs, got {}", l.layer().outputs.size()));
  const std::string encoding = attrs.String("box_encoding", "corner");
  if (encoding != "corner" && encoding != "center")
    l.layer().Fail("attribute 'box_encoding'",
                   fmt::format("must be corner or center, got {}", QuoteForMessage(encoding)));
  if (l.input_size() > 5 && l.ConstantFloat(5, "input 5 'soft_nms_sigma'") != 0.0F)
    l.Refuse("input 5 'soft_nms_sigma' other than 0 has no ONNX operator");
  const TensorType type = l.KnownType(1);
  const auto number = [&](int i) {
    if (l.input_size() <= i) return l.ScalarConstant("zero", TensorType::kFloat, 0);
    return l.KnownType(i) == TensorType::kFloat ? l.Use(i) : l.CastTo(l.Use(i), TensorType::kFloat);
  };
  const auto float32 = [&](int i) {
    return l.KnownType(i) == TensorType::kFloat ? l.Use(i) : l.CastTo(l.Use(i), TensorType::kFloat);
  };
  const std::string most = l.input_size() > 2 ? l.Int64(2, true) : l.ScalarConstant("zero", TensorType::kInt64, 0);
  const std::string boxes = float32(0), scores = float32(1), overlap = number(3), threshold = number(4);
  std::string chosen = l.Temporary("chosen");
  SetInt(l.Node("NonMaxSuppression", {boxes, scores, most, overlap, threshold}, {chosen}), "center_point_box",
         encoding == "center" ? 1 : 0);
  std::string picked = l.Apply("GatherND", {l.Use(1), chosen});
  const std::string count = l.AxisSize(chosen, 0);
  if (attrs.Bool("sort_result_descending", true)) {
    const std::string sorted = l.Temporary("sorted"), order = l.Temporary("order");
    SetInt(l.Node("TopK", {picked, count}, {sorted, order}), "axis", 0);
    picked = sorted;
    chosen = l.Along("Gather", {chosen, order}, 0);
  }
  const std::string indices = l.IndicesName(0, "output_type", TensorType::kInt64);
  l.Node("Identity", {chosen}, {indices});
  l.FinishIndices(indices, 0);
  const std::string places = l.Apply(
      "Slice", {chosen, l.Int64Constant("from", {0}), l.Int64Constant("to", {2}), l.Int64Constant("axes", {1})});
  const std::string column = l.Apply("Unsqueeze", {picked, l.Int64Constant("axes", {1})});
  SetInt(l.Node("Concat", {l.CastTo(places, type), column}, {l.output(1).name}), "axis", 1);
  l.output(1).type = type;
  const std::string valid = l.IndicesName(2, "output_type", TensorType::kInt64);
  l.Node("Identity", {count}, {valid});
  l.FinishIndices(valid, 2);
  l.output(0).rank = l.output(1).rank = 2;
  l.output(2).rank = 1;
}

}  // namespace ONNX_LIGHT_NAMESPACE
