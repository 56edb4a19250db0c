// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/set_attribute.h"
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool SegmentProduct(BatchNode& node, std::string_view form, const Batched& packed) {
  const Batched &a = node.inputs[0], &b = node.inputs[1];
  if (a.rank() != 2 || b.rank() != 2) return node.Fail("it is no product of two matrices");
  SetString(node.graph.Node("SegmentMatMul", {a.name, b.name, node.graph.Lengths(packed.length())},
                            {node.outputs[0].name}, kInternalDomain),
            "form", std::string(form));
  return true;
}

bool Product(BatchNode& node, const std::string& a, const std::string& b) {
  node.Copy({a, b});
  return true;
}

// Packed along an axis that MatMul goes through without looking, the same from the end in both, or one that the other,
// uniform, broadcasts to.
bool IsRowAxis(const Batched& value, size_t side) {
  return value.axis_from_end() > 2 || (value.rank() >= 2 && value.axis_from_end() == (side == 0 ? 2 : 1));
}

}  // namespace

bool BatchMatMul(BatchNode& node) {
  const Batched &a = node.inputs[0], &b = node.inputs[1], &out = node.outputs[0];
  if (a.IsPacked() && b.IsPacked()) {
    if (a.length() != b.length()) return node.Fail("lengths meet other sizes");
    if (a.axis_from_end() == 1 && b.axis_from_end() == 2) return SegmentProduct(node, "contract", a);
    if (a.axis_from_end() > 2 && a.axis_from_end() == b.axis_from_end()) return Product(node, a.name, b.name);
    return node.Fail("both sides have lengths");
  }
  if (a.IsPacked() || b.IsPacked()) {
    const size_t side = a.IsPacked() ? 0 : 1;
    const Batched &packed = node.inputs[side], &other = node.inputs[1 - side];
    if (!IsRowAxis(packed, side) || !out.IsPacked()) return node.Fail("it goes over the lengths");
    if (other.IsStacked()) return SegmentProduct(node, side == 0 ? "left" : "right", packed);
    // A uniform factor of more axes would bring axes before those of the packed one; of so many that it has the axis of
    // the lengths itself, it has 1 there.
    return Product(node, a.name, b.name);
  }
  if (a.rank() == 0 || b.rank() == 0) return node.Fail("an element is a scalar");
  if (a.IsStacked() && a.rank() == 1) {
    if (b.IsUniform() && b.rank() == 2) return Product(node, a.name, b.name);
    return node.Fail("an element is a vector");
  }
  if (b.IsStacked() && b.rank() == 1) return node.Fail("an element is a vector");
  // A stacked side gets as many axes as the other has, so that elements meet elements.
  const int rank = std::max(a.rank(), b.rank());
  const auto aligned = [&](const Batched& value, const Batched& other) {
    return value.IsStacked() && other.rank() > value.rank() ? node.graph.Unsqueezed(value, rank) : value.name;
  };
  return Product(node, aligned(a, b), aligned(b, a));
}

bool BatchFirstAxis(BatchNode& node) {
  const Batched& x = node.inputs[0];
  if (!node.AreUniform(1)) return node.Fail("a further input differs between elements");
  if (x.rank() < 2) return node.Fail("an element has no batch axis");
  if (node.attrs.Int("training_mode", 0) != 0) return node.Fail("its statistics are those of the batch");
  if (x.IsUniform()) return node.Fail("a further input differs between elements");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Batched& out = node.outputs[i];
    if (out.name.empty()) continue;
    if (i > 0 && node.op.type != "MaxPool") return node.Fail("a further output is wanted");
    if (i > 0) return node.Fail("indices count from the start of the batch");
    if (out.form != x.form || (x.IsPacked() && out.axis != 0)) return node.Fail("lengths become other sizes");
  }
  if (x.IsPacked()) {
    if (x.axis != 0) return node.Fail("it goes over the lengths");
    node.Copy(node.InputNames());
    return true;
  }
  const Batched& out = node.outputs[0];
  const auto dims_of = [](const OptimShape& shape) {
    std::vector<int64_t> dims;
    for (const OptimDim& dim : shape) dims.push_back(dim.AsInt());
    return dims;
  };
  std::vector<int64_t> merged = dims_of(x.shape), parted = dims_of(out.shape);
  if (std::ranges::count(merged, 0) + std::ranges::count(parted, 0) > 0) return node.Fail("an element is empty");
  merged[0] = -1;
  parted.insert(parted.begin(), -1);
  std::vector<std::string> names = node.InputNames();
  names[0] = node.graph.Emit("Reshape", {x.name, node.graph.Ints(merged)});
  const std::string rows = node.graph.NewName(out.name);
  NodeProto& copy = node.Copy(names);
  copy.set_output(0, rows);
  node.graph.Node("Reshape", {rows, node.graph.Ints(parted)}, {out.name});
  return true;
}

bool BatchGemm(BatchNode& node) {
  if (node.attrs.Int("transA", 0) != 0) return node.Fail("it goes over the batch axis");
  if (node.HasInput(2) && node.inputs[2].IsUniform()) {
    const OptimShape& c = node.inputs[2].shape;
    if (c.Rank() == 2 && c[0] != OptimDim(1)) return node.Fail("C differs between rows");
  }
  return BatchFirstAxis(node);
}

}  // namespace ONNX_LIGHT_NAMESPACE
