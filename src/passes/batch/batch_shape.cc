// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/set_attribute.h"
#include "onnx_optim/optim_dim.h"
#include "passes/batch/batch_rules.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Of the dims from `begin` to `end`, which are integers.
int64_t ProductOf(const OptimShape& shape, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= shape[static_cast<size_t>(i)].AsInt();
  return product;
}

// Dims of a packed value as Reshape takes them, the length left to it; nothing when one is 0, which Reshape reads
// otherwise.
std::optional<std::vector<int64_t>> PackedDims(const OptimShape& element, int axis) {
  std::vector<int64_t> dims;
  for (int i = 0; i < static_cast<int>(element.Rank()); ++i) {
    dims.push_back(i == axis ? -1 : element[static_cast<size_t>(i)].AsInt());
    if (dims.back() == 0) return std::nullopt;
  }
  return dims;
}

// The dims of a stacked value behind the first, and whether none is 0.
std::optional<std::vector<int64_t>> StackedDims(const OptimShape& element) {
  std::vector<int64_t> dims = {0};
  for (const OptimDim& dim : element) {
    if (dim == OptimDim(0)) return std::nullopt;
    dims.push_back(dim.AsInt());
  }
  return dims;
}

}  // namespace

bool BatchReshape(BatchNode& node) {
  const Batched &x = node.inputs[0], &out = node.outputs[0];
  if (x.IsUniform()) return node.Fail("its shape differs between elements");
  if (x.form != out.form) return node.Fail("lengths become other sizes");
  std::optional<std::vector<int64_t>> dims;
  if (x.IsStacked()) {
    dims = StackedDims(out.shape);
  } else {
    const int64_t before = ProductOf(x.shape, 0, x.axis), after = ProductOf(x.shape, x.axis + 1, x.rank());
    const int64_t new_before = ProductOf(out.shape, 0, out.axis);
    const int64_t new_after = ProductOf(out.shape, out.axis + 1, out.rank());
    if (before != new_before || OptimDim(after) * x.length() != OptimDim(new_after) * out.length())
      return node.Fail("lengths become other sizes");
    dims = PackedDims(out.shape, out.axis);
  }
  if (!dims) return node.Fail("an element is empty");
  node.graph.Node("Reshape", {x.name, node.graph.Ints(*dims)}, {out.name});
  return true;
}

bool BatchTranspose(BatchNode& node) {
  const Batched& x = node.inputs[0];
  std::vector<int64_t> perm;
  if (const auto given = node.attrs.FindInts("perm")) {
    perm = *given;
  } else {
    for (int i = x.rank(); i-- > 0;) perm.push_back(i);
  }
  if (perm.size() != static_cast<size_t>(x.rank())) return node.Fail("perm is not one of its axes");
  if (x.IsStacked()) {
    for (int64_t& axis : perm) ++axis;
    perm.insert(perm.begin(), 0);
  }
  SetInts(node.Copy({x.name}, {"perm"}), "perm", perm);
  return true;
}

bool BatchExpand(BatchNode& node) {
  const Batched& out = node.outputs[0];
  Batched x;
  if (node.op.type == "ConstantOfShape") {
    x.shape = OptimShape();
    x.name = node.graph.NewName("value");
    Tensor value = Tensor::Of<float>(Shape{}, {0.0f});
    if (const TensorProto* given = node.attrs.FindTensor("value")) value = TensorFromProto(*given).WithShape(Shape{});
    *node.graph.graph().add_initializer() = TensorToProto(value, x.name);
  } else {
    x = node.inputs[0];
  }
  const int rank = out.rank();
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i)
    dims.push_back(out.IsPacked() && i == out.axis ? 1 : out.shape[static_cast<size_t>(i)].AsInt());
  std::string name = x.name;
  if (x.IsPacked()) {
    if (!out.IsPacked() || x.axis_from_end() != out.axis_from_end() || x.length() != out.length())
      return node.Fail("lengths meet other sizes");
  } else {
    const std::optional<Batched> stacked = node.graph.Stack(x);
    if (!stacked) return node.Fail("an input differs in form");
    if (out.IsPacked()) {
      const auto repeated = node.graph.Repeat(*stacked, out.axis_from_end(), out.length());
      if (!repeated) return node.Fail("lengths meet other sizes");
      name = *repeated;
    } else {
      name = node.graph.Unsqueezed(*stacked, rank);
      dims.insert(dims.begin(), 1);
    }
  }
  node.graph.Node("Expand", {name, node.graph.Ints(dims)}, {out.name});
  return true;
}

bool BatchTile(BatchNode& node) {
  const Batched& x = node.inputs[0];
  if (x.IsUniform() || !node.AreUniform(1) || !node.ints[1]) return node.Fail("its repeats are not known");
  std::vector<int64_t> repeats = *node.ints[1];
  if (repeats.size() != static_cast<size_t>(x.rank())) return node.Fail("its repeats are not one per axis");
  if (x.IsPacked() && repeats[static_cast<size_t>(x.axis)] != 1) return node.Fail("it repeats the lengths");
  if (x.IsStacked()) repeats.insert(repeats.begin(), 1);
  node.Copy({x.name, node.graph.Ints(repeats)});
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
