// SPDX-License-Identifier: Apache-2.0
// The plan of a graph: its names as places in a frame, its operators found and prepared, constants kept, and for each
// value the last node that uses it. Made once per session, read by any number of runs at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"
#include "ops/input_checks.h"
#include "ops/op_def.h"
#include "passes/type_knowledge.h"
#include "runtime/frame.h"
#include "runtime/plan_options.h"
#include "runtime/sequence_map.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::OptimShape;

// Where a node finds a value.
struct ValueRef {
  enum class Kind : uint8_t { kAbsent, kSlot, kConstant, kOuter };
  Kind kind = Kind::kAbsent;
  bool last = false;  // a slot nobody reads after this: the value may be moved out
  int32_t index = 0;  // of the slot, the plan's constant, or the outer value
};

struct BodyPlan;

struct NodePlan {
  const NodeProto* node = nullptr;
  const OpDef* op = nullptr;
  std::shared_ptr<const OpState> state;
  std::vector<ValueRef> inputs;
  std::vector<InputCheck> checks;  // one per input
  std::vector<int32_t> outputs;    // slots, -1 for outputs nobody uses
  std::vector<int32_t> release;    // slots to empty after the node
  std::vector<std::unique_ptr<BodyPlan>> bodies;
  // Of a SequenceMap that may run over all elements at once.
  std::unique_ptr<SequenceMapPlans> sequence_map;
};

// A node whose outputs are kept since the plan was made.
struct FoldedNode {
  const NodeProto* node = nullptr;
  std::vector<int32_t> outputs;  // of the plan's constants, -1 for outputs without a name
};

struct GraphPlan {
  const GraphProto* graph = nullptr;
  std::string path;             // "" for the main graph, "/map0/body"
  std::vector<NodePlan> nodes;  // in running order
  // Of a body that runs several times: nodes that depend on outer values alone, computed before all others in the first
  // run. What others need of them stays in the frame.
  std::vector<NodePlan> invariant;
  std::vector<int32_t> inputs;    // the slot of each graph input, -1 for one nobody uses
  std::vector<ValueRef> outputs;  // of the graph's outputs
  std::vector<TensorType> output_types;
  std::vector<OptimShape> output_shapes;
  std::vector<Value> constants;
  std::vector<FoldedNode> folded;
  double nanoseconds = 0;  // of one run, estimated
  size_t body_count = 0;   // of all nodes
  FramePool frames{0};
};

struct BodyPlan {
  std::string_view attribute;
  size_t index = 0;  // among the bodies of the graph around it
  GraphPlan graph;
  std::vector<ValueRef> captures;  // in the frame of the graph around it, by outer index of this one
  std::string Place(const NodeProto& node, std::string_view run_name = {}, int64_t number = -1) const;
};

// Throws what is wrong with the model: InvalidArgument (names, formals, attributes, data of initializers, whatever an
// operator's preparation finds), Unsupported for all operators at once that cannot run. `model` has no functions and
// must outlive the plan.
std::unique_ptr<GraphPlan> MakePlan(const ModelProto& model, const TypeKnowledge& types, const PlanOptions& options);

}  // namespace ONNX_LIGHT_NAMESPACE
