// SPDX-License-Identifier: Apache-2.0
#include "passes/fused_node.h"

#include <string>
#include <utility>

#include "model/set_attribute.h"
#include "ops/internal/internal_domain.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kMaxName = 200;

}  // namespace

NodeProto& FuseNodes(GraphEdit& edit, const std::vector<int>& group, std::string_view type,
                     const std::vector<int>& inputs) {
  const int last = group.back(), output = edit.outputs(last)[0];
  GraphProto steps;
  steps.set_name("steps");
  std::string name;
  for (const int n : group) {
    const NodeProto& node = edit.node(n);
    *steps.add_node() = node;
    if (!node.name().empty() && name.size() < kMaxName) name += (name.empty() ? "" : "+") + node.name().as_string();
  }
  for (const int v : inputs)
    if (v != GraphEdit::kAbsent) steps.add_input()->set_name(String(edit.name(v)));
  steps.add_output()->set_name(String(edit.name(output)));
  for (const int n : group)
    if (n != last) edit.Remove(n);
  NodeProto& fused = edit.Rewrite(output, kInternalDomain, type, inputs);
  if (!name.empty()) fused.set_name(String(name));
  SetGraph(fused, "steps") = std::move(steps);
  return fused;
}

}  // namespace ONNX_LIGHT_NAMESPACE
