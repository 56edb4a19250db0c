// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "model/set_attribute.h"
#include "ops/infer_node.h"
#include "ops/internal/internal_domain.h"
#include "passes/fused_node.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

class Fusing {
 public:
  explicit Fusing(GraphEdit& edit) : edit_(edit), is_step_(static_cast<size_t>(edit.node_size())) {
    FindInvariant();
    for (int n = 0; n < edit.node_size(); ++n) is_step_[static_cast<size_t>(n)] = CanBeStep(n);
  }

  int64_t Run() {
    int64_t groups = 0;
    for (int n = edit_.node_size(); n-- > 0;) {
      if (!edit_.alive(n) || !is_step_[static_cast<size_t>(n)]) continue;
      std::vector<int> steps = GroupOf(n);
      if (steps.size() < 2) continue;
      Fuse(std::move(steps));
      ++groups;
    }
    return groups;
  }

 private:
  // Of a body: what all its runs share.
  void FindInvariant() {
    invariant_.assign(is_step_.size(), false);
    if (edit_.outer() == nullptr) return;
    for (int n = 0; n < edit_.node_size(); ++n) {
      invariant_[static_cast<size_t>(n)] = std::ranges::all_of(edit_.inputs(n), [&](int v) {
        if (v == kAbsent || edit_.IsOutside(v) || edit_.Constant(v) != nullptr) return true;
        return edit_.producer(v) != kAbsent && invariant_[static_cast<size_t>(edit_.producer(v))];
      });
    }
  }

  bool CanBeStep(int n) const {
    if (!edit_.alive(n) || invariant_[static_cast<size_t>(n)]) return false;
    const OpDef* op = edit_.op(n);
    if (op == nullptr || !op->domain.empty() || op->elementwise == 0 || edit_.outputs(n).size() != 1 ||
        edit_.outputs(n)[0] == kAbsent)
      return false;
    const TensorType type = edit_.TypeOf(edit_.outputs(n)[0]);
    if (!kFloatTypes.Has(type) && type != TensorType::kBool) return false;
    try {
      CheckNode(*op, edit_.node(n));
      return UnknownAttributes(*op, edit_.node(n)).empty();
    } catch (const std::exception&) {
      return false;  // planning says what is wrong
    }
  }

  // Node n last, and before it those whose results are used by nodes of the group alone; in order.
  std::vector<int> GroupOf(int n) const {
    const onnx_optim::OptimShape shape = edit_.ShapeOf(edit_.outputs(n)[0]);
    std::vector<int> group{n};
    if (shape.IsUnknown() || MostElements(shape) < edit_.context().least_fused) return group;
    const auto in_group = [&](int m) { return std::ranges::find(group, m) != group.end(); };
    // All users of a node come before it here: the group grows from its end, by falling number.
    std::vector<int> candidates;
    const auto add_makers = [&](int m) {
      for (const int v : edit_.inputs(m)) {
        const int maker = v == kAbsent ? kAbsent : edit_.producer(v);
        if (maker != kAbsent && std::ranges::find(candidates, maker) == candidates.end()) candidates.push_back(maker);
      }
    };
    add_makers(n);
    while (!candidates.empty() && group.size() < kMaxFusedSteps) {
      const auto latest = std::ranges::max_element(candidates);
      const int m = *latest;
      candidates.erase(latest);
      if (!is_step_[static_cast<size_t>(m)] || !edit_.alive(m)) continue;
      const int v = edit_.outputs(m)[0];
      if (edit_.IsPinned(v) || !std::ranges::all_of(edit_.users(v), in_group) || !ReadByElement(v) ||
          !(edit_.ShapeOf(v) == shape))
        continue;
      group.push_back(m);
      add_makers(m);
    }
    std::ranges::sort(group);
    return group;
  }

  static int64_t MostElements(const onnx_optim::OptimShape& shape) {
    constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
    int64_t count = 1;
    for (size_t d = 0; d < shape.Rank(); ++d)
      count = shape[d].IsInt() ? CheckedMul(count, shape[d].AsInt()).value_or(kMany) : kMany;
    return count;
  }

  bool ReadByElement(int v) const {
    for (const int user : edit_.users(v))
      for (size_t i = 0; i < edit_.inputs(user).size(); ++i)
        if (edit_.inputs(user)[i] == v && (edit_.op(user)->elementwise >> i & 1u) == 0) return false;
    return true;
  }

  void Fuse(const std::vector<int>& group) {
    std::vector<int> inputs;
    for (const int n : group)
      for (const int v : edit_.inputs(n)) {
        const bool inside = v != kAbsent && std::ranges::find(group, edit_.producer(v)) != group.end();
        if (v != kAbsent && !inside && std::ranges::find(inputs, v) == inputs.end()) inputs.push_back(v);
      }
    NodeProto& fused = FuseNodes(edit_, group, "FusedElementwise", inputs);
    SetInt(fused, "opset", edit_.opset());
    if (edit_.context().least_fused > 1) SetInt(fused, "together_from", edit_.context().least_fused);
  }

  GraphEdit& edit_;
  std::vector<bool> is_step_;
  std::vector<bool> invariant_;
};

}  // namespace

int64_t FuseElementwise(GraphEdit& edit) { return Fusing(edit).Run(); }

}  // namespace ONNX_LIGHT_NAMESPACE
