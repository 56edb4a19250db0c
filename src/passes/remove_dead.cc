// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>

#include "ops/infer_node.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool MayGo(const GraphEdit& edit, const NodeProto& node, const OpDef* op) {
  if (op == nullptr || op->random) return false;
  bool may = true;
  try {
    CheckNode(*op, node);
    may = UnknownAttributes(*op, node).empty();
  } catch (const std::exception&) {
    return false;  // planning says what is wrong
  }
  ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
    may = may && std::ranges::all_of(
                     body.node(), [&](const NodeProto& inner) { return MayGo(edit, inner, edit.FindTableOp(inner)); });
  });
  return may;
}

}  // namespace

int64_t RemoveDead(GraphEdit& edit) {
  int64_t removed = 0;
  for (int n = edit.node_size(); n-- > 0;) {
    if (!edit.alive(n)) continue;
    const bool used = std::ranges::any_of(edit.outputs(n), [&](int v) {
      return v != GraphEdit::kAbsent && (edit.IsPinned(v) || !edit.users(v).empty());
    });
    if (used || !MayGo(edit, edit.node(n), edit.op(n))) continue;
    edit.Remove(n);
    ++removed;
  }
  return removed;
}

}  // namespace ONNX_LIGHT_NAMESPACE
