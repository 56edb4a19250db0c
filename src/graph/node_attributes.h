// SPDX-License-Identifier: Apache-2.0
// graph: views over the messages, built once in O(n): the index of a graph and the attributes of a node. Not an IR of
// its own. Before it: model. After it: ops.
//
// NodeAttributes: typed look-up of a node's attributes, for shape rules, preparation and runs alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Throws InvalidArgument(fact), subject `attribute 'name'`.
[[noreturn]] void FailAttribute(std::string_view name, std::string fact);

// A view: the node must outlive it. Every getter throws InvalidArgument, subject `attribute 'axis'`, when the attribute
// is there with another type; the ones without default or optional also when it is missing. Linear in the number of
// attributes.
class NodeAttributes {
 public:
  explicit NodeAttributes(const NodeProto& node) : node_(&node) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  [[nodiscard]] const AttributeProto* Find(std::string_view name) const;

  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t absent) const;
  float Float(std::string_view name, float absent) const;
  std::string String(std::string_view name, std::string_view absent) const;
  std::vector<int64_t> Ints(std::string_view name) const;  // empty when absent
  std::optional<std::vector<int64_t>> FindInts(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;         // empty when absent
  std::vector<std::string> Strings(std::string_view name) const;  // empty when absent
  const GraphProto& Graph(std::string_view name) const;
  const TensorProto* FindTensor(std::string_view name) const;

 private:
  const AttributeProto* FindTyped(std::string_view name, AttributeProto::AttributeType type) const;
  const AttributeProto& Required(std::string_view name, AttributeProto::AttributeType type) const;
  const NodeProto* node_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
