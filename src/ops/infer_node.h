// SPDX-License-Identifier: Apache-2.0
// What is checked of one node against its operator's definition, and small helpers for the walks over graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_def.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// The formals' names in the form InferScope takes; keeps them for it.
class FormalNameLists {
 public:
  explicit FormalNameLists(const OpDef& op);
  FormalNames names() const { return {inputs_, outputs_}; }

 private:
  std::vector<std::string_view> inputs_;
  std::vector<std::string_view> outputs_;
};

// Everything that needs no values: numbers of inputs and outputs, required ones, kinds of attributes and required ones.
// Throws InvalidArgument naming node and formal or attribute. Attributes the operator does not know are left to the
// caller: see UnknownAttributes.
void CheckNode(const OpDef& op, const NodeProto& node);
// Names of attributes the operator does not define.
std::vector<std::string> UnknownAttributes(const OpDef& op, const NodeProto& node);
// The kinds and element types that are known of the inputs are ones the formals take, and the same where they share a
// variable. Throws InvalidArgument through the scope.
void CheckInputTypes(const OpDef& op, const InferScope& scope);

// One of the nine operators that have documented functions of their own (onnx_optim/shapes/sequence/shape_sequence.h).
bool IsDocumentedOp(const OpDef& op);

// "in body 'b' of SequenceMap \"map0\"", and ", element 7" for the run of that name and number when number >= 0: what
// an error found inside a body adds. The body is called by its graph name, by the attribute that holds it when it has
// none.
std::string BodyPlace(const NodeProto& node, const GraphProto& body, std::string_view run_name = {},
                      int64_t number = -1);
// "map0", or "SequenceMap_3" for the node at `index` when it has no name: its part of the path to a body.
std::string NodePathName(const NodeProto& node, int64_t index);
// The name of the node's attribute that holds `body`, "" when none does.
std::string_view BodyAttributeName(const NodeProto& node, const GraphProto& body);

// What is known of a constant: element type, dims, and the elements of a small tensor (integers, bools, floats) whose
// data is in the message. Throws InvalidArgument for dims, data and type that do not belong together.
ShapeValue ConstantShapeValue(const TensorProto& tensor);

// The body of a function as called by `node`: attribute references replaced by the node's attributes, the function's
// defaults, or removed; inputs the call leaves out replaced by empty names. Throws InvalidArgument when the call has
// too many inputs or outputs.
GraphProto InstantiateFunction(const FunctionProto& function, const NodeProto& node);

}  // namespace ONNX_LIGHT_NAMESPACE
