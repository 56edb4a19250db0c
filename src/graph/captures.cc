// SPDX-License-Identifier: Apache-2.0
#include "graph/captures.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

void Captures::Walk(const GraphProto& graph, int depth) {
  if (depth > kMaxGraphDepth) throw InvalidArgument(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
  // Names that need no more looking at: defined here, or found free already.
  std::unordered_set<std::string_view> settled;
  settled.insert(std::string_view());
  for (const ValueInfoProto& input : graph.input()) settled.insert(input.name());
  for (const TensorProto& initializer : graph.initializer()) settled.insert(initializer.name());
  for (const SparseTensorProto& initializer : graph.sparse_initializer()) settled.insert(initializer.values().name());
  for (const NodeProto& node : graph.node())
    for (const auto& output : node.output()) settled.insert(output);

  std::vector<std::string_view> free;
  const auto meet = [&](std::string_view name) {
    if (settled.insert(name).second) free.push_back(name);
  };
  for (const NodeProto& node : graph.node()) {
    for (const auto& input : node.input()) meet(input);
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      Walk(body, depth + 1);
      for (const std::string_view name : captures_.at(&body)) meet(name);
    });
  }
  for (const ValueInfoProto& output : graph.output()) meet(output.name());
  captures_[&graph] = std::move(free);
}

}  // namespace ONNX_LIGHT_NAMESPACE
