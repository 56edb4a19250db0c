// SPDX-License-Identifier: Apache-2.0
// Operators that leave the elements as they are, in another shape or order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

void LowerTranspose(IrLowering& l) {
  const auto order = l.ConstantInts(1);
  if (!order) l.Refuse("input 1 'input_order' must be a constant integer tensor");
  NodeProto& node = l.Node("Transpose", {l.Use(0)}, {l.output(0).name});
  if (!order->empty()) SetInts(node, "perm", *order);  // none reverses, in both
  l.output(0).type = l.input(0).type;
  l.output(0).rank = order->empty() ? l.input(0).rank : static_cast<int>(order->size());
}

void LowerReshape(IrLowering& l) {
  const bool special_zero = l.attrs().Bool("special_zero", false);
  const auto pattern = l.ConstantInts(1);
  if (!special_zero && pattern && std::count(pattern->begin(), pattern->end(), 0) > 0 &&
      std::count(pattern->begin(), pattern->end(), -1) > 0) {
    l.Refuse("a pattern with both 0 and -1 needs special_zero");
  }
  NodeProto& node = l.Node("Reshape", {l.Use(0), l.Int64(1, true)}, {l.output(0).name});
  if (!special_zero) SetInt(node, "allowzero", 1);
  l.output(0).type = l.input(0).type;
  if (pattern) l.output(0).rank = static_cast<int>(pattern->size());
}

void LowerShapeOf(IrLowering& l) {
  const TensorType type = l.attrs().Has("output_type") ? l.attrs().ElementType("output_type") : TensorType::kInt64;
  if (type != TensorType::kInt64 && type != TensorType::kInt32)
    l.layer().Fail("attribute 'output_type'", "must be i64 or i32");
  if (type == TensorType::kInt64) {
    l.Node("Shape", {l.Use(0)}, {l.output(0).name});
  } else {
    const std::string shape = l.Temporary("shape");
    l.Node("Shape", {l.Use(0)}, {shape});
    SetInt(l.Node("Cast", {shape}, {l.output(0).name}), "to", TensorProto::INT32);
  }
  l.output(0).type = type;
  l.output(0).rank = 1;
}

void LowerConcat(IrLowering& l) {
  SetInt(l.DirectNode("Concat"), "axis", l.attrs().Int("axis"));
  for (int i = 0; i < l.input_size(); ++i) {
    if (l.output(0).type == TensorType::kUndefined) l.output(0).type = l.input(i).type;
    if (l.output(0).rank < 0) l.output(0).rank = l.input(i).rank;
  }
}

namespace {

// Of the axes those whose size is 1.
void SqueezeSingles(IrLowering& l) {
  const auto given = l.input_size() > 1 ? l.ConstantInts(1) : std::nullopt;
  const std::vector<int64_t> dims = l.DimsOf(0);
  const auto rank = static_cast<int64_t>(dims.size());
  if (!given || given->empty() || l.KnownRank(0, "to skip axes of other sizes than 1") != rank)
    l.Refuse("allow_axis_skip without constant axes has no ONNX operator");
  std::vector<int64_t> axes;
  for (int64_t axis : *given) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) l.layer().Fail("input 1 'axes'", fmt::format("{} is no axis of rank {}", axis, rank));
    const int64_t dim = dims[static_cast<size_t>(axis)];
    if (dim < 0)
      l.Refuse(fmt::format("allow_axis_skip where the size of axis {} is not known has no ONNX operator", axis));
    if (dim == 1) axes.push_back(axis);
  }
  if (axes.empty())
    l.Finish("Identity", {l.Use(0)});
  else
    l.Finish("Squeeze", {l.Use(0), l.Int64Constant("axes", axes)});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = static_cast<int>(rank) - static_cast<int>(axes.size());
}

}  // namespace

void LowerSqueeze(IrLowering& l) {
  if (l.attrs().Bool("allow_axis_skip", false)) return SqueezeSingles(l);
  const auto axes = l.input_size() > 1 ? l.ConstantInts(1) : std::vector<int64_t>();
  std::vector<std::string> inputs{l.Use(0)};
  if (!axes || !axes->empty()) inputs.push_back(l.Int64(1, true));
  l.Node("Squeeze", inputs, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (axes && !axes->empty() && l.input(0).rank >= 0)
    l.output(0).rank = l.input(0).rank - static_cast<int>(axes->size());
}

void LowerUnsqueeze(IrLowering& l) {
  const auto axes = l.ConstantInts(1);
  l.Node("Unsqueeze", {l.Use(0), l.Int64(1, true)}, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (axes && l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank + static_cast<int>(axes->size());
}

namespace {

void BlockNode(IrLowering& l, std::string_view op_type, const char* dcr, const char* crd) {
  const std::string mode = l.attrs().String("mode", "blocks_first");
  if (mode != "blocks_first" && mode != "depth_first")
    l.layer().Fail("attribute 'mode'",
                   fmt::format("must be blocks_first or depth_first, got {}", QuoteForMessage(mode)));
  const char* onnx_mode = mode == "blocks_first" ? dcr : crd;
  if (mode == "depth_first" && crd == nullptr) l.Refuse("mode \"depth_first\" has no ONNX operator");
  NodeProto& node = l.DirectNode(op_type);
  SetInt(node, "blocksize", l.attrs().Int("block_size", 1));
  if (onnx_mode != nullptr) SetString(node, "mode", onnx_mode);
  l.SameAs(0);
}

}  // namespace

void LowerDepthToSpace(IrLowering& l) { BlockNode(l, "DepthToSpace", "DCR", "CRD"); }
void LowerSpaceToDepth(IrLowering& l) { BlockNode(l, "SpaceToDepth", nullptr, nullptr); }

// The axis as groups and members, which change places.
void LowerShuffleChannels(IrLowering& l) {
  const int rank = l.KnownRank(0, "to shuffle an axis of it");
  int64_t axis = l.attrs().Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) l.layer().Fail("attribute 'axis'", fmt::format("must be an axis of rank {}", rank));
  const std::string x = l.Use(0), shape = l.Apply("Shape", {x});
  const std::string groups = l.Int64Constant("groups", std::array<int64_t, 2>{l.attrs().Int("group", 1), -1});
  const auto part = [&](int64_t from, int64_t to) {
    return l.Apply("Slice", {shape, l.Int64Constant("from", {&from, 1}), l.Int64Constant("to", {&to, 1})});
  };
  std::vector<std::string> dims;
  if (axis > 0) dims.push_back(part(0, axis));
  dims.push_back(groups);
  if (axis + 1 < rank) dims.push_back(part(axis + 1, rank));
  const std::string split_shape = l.Temporary("split_shape"), swapped = l.Temporary("swapped");
  SetInt(l.Node("Concat", dims, {split_shape}), "axis", 0);
  std::vector<int64_t> perm(static_cast<size_t>(rank) + 1);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(axis) + 1]);
  SetInts(l.Node("Transpose", {l.Apply("Reshape", {x, split_shape})}, {swapped}), "perm", perm);
  l.Finish("Reshape", {swapped, shape});
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
