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

NodeProto NodeOfSteps(const GraphEdit& edit, const std::vector<int>& group, std::string_view type,
                      const std::vector<int>& inputs, const std::vector<int>& outputs) {
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
  for (const int v : outputs) steps.add_output()->set_name(String(edit.name(v)));
  NodeProto fused;
  fused.set_domain(String(kInternalDomain));
  fused.set_op_type(String(type));
  if (!name.empty()) fused.set_name(String(name));
  SetGraph(fused, "steps") = std::move(steps);
  return fused;
}

NodeProto& FuseNodes(GraphEdit& edit, const std::vector<int>& group, std::string_view type,
                     const std::vector<int>& inputs) {
  const int last = group.back(), output = edit.outputs(last)[0];
  NodeProto made = NodeOfSteps(edit, group, type, inputs, {output});
  for (const int n : group)
    if (n != last) edit.Remove(n);
  NodeProto& fused = edit.Rewrite(output, kInternalDomain, type, inputs);
  if (made.has_name()) fused.set_name(made.name());
  fused.attribute() = std::move(made.attribute());
  return fused;
}

}  // namespace ONNX_LIGHT_NAMESPACE
