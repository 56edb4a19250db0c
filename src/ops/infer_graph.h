// SPDX-License-Identifier: Apache-2.0
// Walks over graphs that run the operators' shape rules: the one behind the public functions of
// onnx_optim/shapes/shape_inference.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/op_def.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// The values of one body graph or call of a function, by name. `graph` is null for a call, and for a body inside one,
// whose instance is gone; those have the function that the model calls (FunctionKey), empty for the body of an
// operator.
struct BodyRecord {
  std::string path;  // "/loop0/body"
  const GraphProto* graph = nullptr;
  std::string function;
  std::string inner;  // of a body inside a call: the path from there on; empty for the call
  std::map<std::string, ShapeValue> values;
};
std::string FunctionKey(std::string_view domain, std::string_view name, std::string_view overload);
// Bodies in the order they stand.
struct InferenceRecord {
  std::vector<BodyRecord> bodies;
};

// The nodes' order in which each comes after those it depends on, also through names its bodies use. Nodes in a cycle
// come last, as they stand; `in_cycle` then is the first of them. `repeated` are the outputs (node, output) whose names
// are defined already.
struct NodeOrder {
  std::vector<size_t> order;
  int64_t in_cycle = -1;
  std::vector<std::pair<size_t, size_t>> repeated;
};
NodeOrder OrderNodes(const GraphProto& graph);

// One inference; lives as long as the walk. Not thread safe.
class GraphInference {
 public:
  // kThrow: the first thing wrong is thrown; kRecord: it is added to the context's problems, and the walk goes on.
  enum class Mode : uint8_t { kThrow, kRecord };
  explicit GraphInference(Mode mode, InferenceRecord* record = nullptr);
  GraphInference(const GraphInference&) = delete;
  GraphInference& operator=(const GraphInference&) = delete;

  // `index` is the node's place in its graph.
  void Node(ShapesContext& ctx, const NodeProto& node, int64_t index);
  // Runs the rule of `op` on the node.
  void Rule(ShapesContext& ctx, const NodeProto& node, const OpDef& op);
  // Binds and walks a main graph. `defaults_are_constant`: initializers that are also inputs cannot be fed, as before
  // IR version 4, where every initializer had to be an input. `compare`: with what outputs and value_info declare.
  void MainGraph(ShapesContext& ctx, const GraphProto& graph, bool defaults_are_constant = false, bool compare = true);

 private:
  using Declared = std::unordered_map<std::string_view, const TypeProto*>;
  void InferNode(ShapesContext& ctx, const NodeProto& node, int64_t index);
  // What a node's operator asks of it and of what is known of its inputs.
  void CheckCall(const InferScope& scope, const OpDef& op) const;
  // `key`: as BodyRecord::function.
  void InferFunction(ShapesContext& ctx, const NodeProto& node, int64_t index, const FunctionProto& function,
                     std::string key);
  std::vector<ShapeValue> InferBody(InferScope& scope, const GraphProto& body, std::span<const ShapeValue> inputs,
                                    const BodyOptions& options);
  void BindInitializers(ShapesContext& ctx, const GraphProto& graph, const std::set<std::string_view>& except);
  void WalkNodes(ShapesContext& ctx, const GraphProto& graph, const Declared& declared);
  // Drops long values once there are too many, so that a short file cannot fill the memory with them.
  void LimitElements(InferScope& scope);
  void SetUnknown(ShapesContext& ctx, const NodeProto& node);
  void Keep(const ShapesContext& ctx, const GraphProto* graph);

  Mode mode_;
  InferenceRecord* record_;
  BodyInference body_inference_;
  std::map<std::string, size_t> record_of_path_;
  // Where the walk stands.
  struct Position {
    std::string path;          // of the graph being walked
    int64_t node_index = 0;    // of the node being inferred
    int depth = 0;             // of bodies and functions
    bool in_function = false;  // graphs below one do not outlive the walk
    std::string function;      // the innermost one's key,
    size_t function_path = 0;  // and how long the path of its call is
    bool recording = true;
  };
  class Descent;
  Position at_;
  int64_t inner_nodes_ = 0;
  int64_t known_elements_ = 0;  // of all outputs so far that have many
};

// Adds a problem that is not there yet, as long as there are not too many.
void AddProblemOnce(ShapesContext& ctx, onnx_optim::shapes::Problem::Level level, std::string message);

// ComputeShapeModel that keeps what was inferred of bodies. `compare`: as for MainGraph.
void InferModel(ShapesContext& ctx, const ModelProto& model, InferenceRecord* record, bool compare = true);

}  // namespace ONNX_LIGHT_NAMESPACE
