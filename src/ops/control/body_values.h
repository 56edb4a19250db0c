// SPDX-License-Identifier: Apache-2.0
// What operators with bodies check and read alike when they run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// The graph in attribute `name` has so many inputs and outputs; InvalidArgument about the attribute otherwise.
const GraphProto& CheckBody(const NodeProto& node, std::string_view name, int inputs, int outputs);
// The element of a bool input; InvalidArgument when it has not exactly one.
bool ReadBool(const RunContext& ctx, int i);
// A new empty tensor for `i`, an output of `body` that no run gave, stacked along `axis` of the result (may be
// negative): 0 along it, dims that inference does not know are 0, too. Throws InvalidArgument when not even its element
// type is known.
Tensor EmptyStack(const RunContext& ctx, const BodyRunner& body, const GraphProto& graph, int i, int64_t axis = 0);

// Sees that the values a body hands on keep their kinds and element types. Optionals may come and go.
class CarriedTypes {
 public:
  explicit CarriedTypes(std::span<const Value> initial);
  // `now` are body outputs first_output, first_output + 1, ... of this run. InvalidArgument about the first that
  // changed.
  void Check(const RunContext& ctx, const GraphProto& body, int first_output, std::span<const Value> now,
             int64_t number);

 private:
  struct Type {
    bool is_sequence = false;
    TensorType dtype = TensorType::kUndefined;
  };
  static Type Of(const Value& value);
  static std::string Describe(const Type& type);
  std::vector<Type> types_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
