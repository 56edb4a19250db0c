// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::OptimDim;
using onnx_optim::OptimShape;

bool IsOneOf(const GraphEdit& edit, int n, std::initializer_list<std::string_view> types) {
  return std::ranges::any_of(types, [&](std::string_view type) { return edit.Is(n, type); });
}

bool DropsNothing(const GraphEdit& edit, int n) {
  if (edit.outputs(n).size() > 1 && edit.outputs(n)[1] != GraphEdit::kAbsent) return false;
  const int training = edit.input(n, 2);
  if (training == GraphEdit::kAbsent) return true;
  const TensorProto* constant = edit.Constant(training);
  return constant != nullptr && constant->int32_data_size() + static_cast<int>(constant->raw_data().size()) == 1 &&
         (constant->int32_data_size() == 1 ? constant->int32_data(0) : constant->raw_data()[0]) == 0;
}

bool KeepsType(const GraphEdit& edit, int n) {
  const TensorType to =
      onnx_optim::DataTypeToTensorType(static_cast<int32_t>(NodeAttributes(edit.node(n)).Int("to", 0)));
  return to != TensorType::kUndefined && edit.TypeOf(edit.input(n, 0)) == to;
}

// Slice from version 10 on: each axis it names from its first element to its last, one by one.
bool TakesAll(const GraphEdit& edit, int n) {
  if (edit.inputs(n).size() < 3) return false;
  const auto starts = edit.ConstantInts(edit.input(n, 1)), ends = edit.ConstantInts(edit.input(n, 2));
  const auto steps = edit.ConstantInts(edit.input(n, 4));
  if (!starts || !ends || starts->size() != ends->size()) return false;
  if (edit.input(n, 4) != GraphEdit::kAbsent &&
      (!steps || std::ranges::any_of(*steps, [](int64_t s) { return s != 1; })))
    return false;
  // An axis that is named is one the data must be known to have: else the run fails, as it should.
  const OptimShape shape = edit.ShapeOf(edit.input(n, 0));
  if (shape.IsUnknown() || starts->size() > shape.Rank()) return false;
  const auto rank = static_cast<int64_t>(shape.Rank());
  std::vector<int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (edit.input(n, 3) != GraphEdit::kAbsent) {
    const auto given = edit.ConstantInts(edit.input(n, 3));
    if (!given || given->size() != axes.size()) return false;
    axes = *given;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || std::ranges::count(axes, axes[i]) != 1 || (*starts)[i] != 0) return false;
    const OptimDim& dim = shape[static_cast<size_t>(axis)];
    const bool whole = (*ends)[i] >= std::numeric_limits<int32_t>::max() || (dim.IsInt() && (*ends)[i] >= dim.AsInt());
    if (!whole) return false;
  }
  return true;
}

// The order of axes Transpose gives, where it says; nothing for the reverse one of data whose rank is not known.
std::optional<std::vector<int64_t>> Permutation(const GraphEdit& edit, int n) {
  if (auto perm = NodeAttributes(edit.node(n)).FindInts("perm")) {
    std::vector<bool> seen(perm->size(), false);
    for (const int64_t axis : *perm) {
      if (axis < 0 || axis >= static_cast<int64_t>(perm->size()) || seen[static_cast<size_t>(axis)])
        return std::nullopt;
      seen[static_cast<size_t>(axis)] = true;
    }
    const OptimShape shape = edit.ShapeOf(edit.input(n, 0));
    return shape.IsUnknown() || shape.Rank() == perm->size() ? perm : std::nullopt;
  }
  const OptimShape shape = edit.ShapeOf(edit.input(n, 0));
  if (shape.IsUnknown()) return std::nullopt;
  std::vector<int64_t> perm(shape.Rank());
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

bool IsIdentity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool GivesItsInput(const GraphEdit& edit, int n) {
  if (edit.Is(n, "Identity")) return true;
  if (edit.Is(n, "Dropout")) return DropsNothing(edit, n);
  if (edit.Is(n, "Cast")) return KeepsType(edit, n);
  if (edit.Is(n, "Slice")) return TakesAll(edit, n);
  if (IsOneOf(edit, n, {"Sum", "Max", "Min", "Mean"})) return edit.inputs(n).size() == 1;
  // Rank 1 is enough for axis 0 and -1; another axis may be out of range.
  if (edit.Is(n, "Concat")) {
    const OptimShape shape = edit.ShapeOf(edit.input(n, 0));
    const int64_t axis = NodeAttributes(edit.node(n)).Int("axis", 0);
    const auto rank = shape.IsUnknown() ? 0 : static_cast<int64_t>(shape.Rank());
    return edit.inputs(n).size() == 1 && axis >= -rank && axis < rank;
  }
  if (edit.Is(n, "Transpose")) {
    // Of an order that is given the rank is known to fit only with the shape.
    const auto perm = Permutation(edit, n);
    return perm && IsIdentity(*perm) && !edit.ShapeOf(edit.input(n, 0)).IsUnknown();
  }
  return false;
}

// The node that makes input 0 when it is of this type and makes it for n alone.
int Before(const GraphEdit& edit, int n, std::string_view type) {
  const int v = edit.input(n, 0);
  const int before = v == GraphEdit::kAbsent ? GraphEdit::kAbsent : edit.producer(v);
  return before != GraphEdit::kAbsent && edit.Is(before, type) ? before : GraphEdit::kAbsent;
}

bool MergeTransposes(GraphEdit& edit, int n) {
  const int before = Before(edit, n, "Transpose");
  if (before == GraphEdit::kAbsent) return false;
  const auto first = Permutation(edit, before), second = Permutation(edit, n);
  if (!first || !second || first->size() != second->size()) return false;
  std::vector<int64_t> both;
  for (const int64_t axis : *second) both.push_back((*first)[static_cast<size_t>(axis)]);
  edit.SetInput(n, 0, edit.input(before, 0));
  NodeProto& node = edit.mutable_node(n);
  node.clear_attribute();
  SetInts(node, "perm", both);
  return true;
}

std::optional<OptimDim> Elements(const OptimShape& shape) {
  if (shape.IsUnknown()) return std::nullopt;
  return onnx_optim::Product(std::vector<OptimDim>(shape.begin(), shape.end()));
}

bool MergeReshapes(GraphEdit& edit, int n) {
  const int before = Before(edit, n, "Reshape");
  if (before == GraphEdit::kAbsent || NodeAttributes(edit.node(n)).Int("allowzero", 0) != 0) return false;
  const auto sizes = edit.ConstantInts(edit.input(n, 1));
  if (!sizes || std::ranges::count(*sizes, 0) != 0) return false;  // a 0 stands for a size of what lies between
  const auto all = Elements(edit.ShapeOf(edit.input(before, 0))), between = Elements(edit.ShapeOf(edit.input(n, 0)));
  if (!all || !between || !(*all == *between)) return false;
  edit.SetInput(n, 0, edit.input(before, 0));
  return true;
}

}  // namespace

int64_t RemoveNoOps(GraphEdit& edit) {
  int64_t removed = 0;
  for (int n = 0; n < edit.node_size(); ++n) {
    if (!edit.alive(n) || edit.op(n) == nullptr || edit.outputs(n).empty() || edit.outputs(n)[0] == GraphEdit::kAbsent)
      continue;
    try {
      if (edit.Is(n, "Transpose") && MergeTransposes(edit, n)) ++removed;
      if (edit.Is(n, "Reshape") && MergeReshapes(edit, n)) ++removed;
      if (!GivesItsInput(edit, n) || edit.input(n, 0) == GraphEdit::kAbsent) continue;
    } catch (const std::exception&) {
      continue;  // an attribute of the wrong type: planning says so
    }
    if (!edit.Replace(edit.outputs(n)[0], edit.input(n, 0))) continue;
    edit.Remove(n);
    ++removed;
  }
  return removed;
}

}  // namespace ONNX_LIGHT_NAMESPACE
