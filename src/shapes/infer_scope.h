// SPDX-License-Identifier: Apache-2.0
// InferScope: what a shape rule sees of one node: its inputs' inferred values, its attributes, and a place for its
// outputs. One rule serves the documented and the exact precision; it asks exact() where they differ (API.md of the
// reference text).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/node_attributes.h"
#include "onnx_optim/shapes/shapes_context.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::OptimDim;
using onnx_optim::OptimShape;
using onnx_optim::shapes::ShapesContext;
using onnx_optim::shapes::ShapeValue;

class InferScope;

// How a body is inferred.
struct BodyOptions {
  // One per body input or none at all: a sequence that is to be visible under the input's name beside the tensor bound
  // to it; Unknown for none.
  std::span<const ShapeValue> sequences = {};
  // Of several walks over one body, the one whose values are kept as the body's: what it says must hold for every run
  // of the body.
  bool record = true;
  // Problems found inside are the node's. Not so in a walk that tries what may not be the case in any run.
  bool report = true;
};

// Infers a body graph below a scope: binds `inputs` to the body's inputs in order, in a child context that sees the
// outer names, and returns one value per body output. Throws InvalidArgument for an output nothing produces. Installed
// by the ops layer, so that this layer knows no operator.
using BodyInference = std::function<std::vector<ShapeValue>(
    InferScope&, const GraphProto& body, std::span<const ShapeValue> inputs, const BodyOptions& options)>;

// Names of a node's formal inputs and outputs, for messages; the last one stands for all that follow when variadic.
struct FormalNames {
  std::span<const std::string_view> inputs;
  std::span<const std::string_view> outputs;
};

// Lives while one node is inferred, on one thread. Outputs are kept aside and enter the context only when the rule has
// returned, so that a throw leaves the context as it was.
class InferScope {
 public:
  InferScope(ShapesContext& context, const NodeProto& node, FormalNames names, const BodyInference* body_inference);

  const NodeProto& node() const { return *node_; }
  const NodeAttributes& attrs() const { return attrs_; }
  ShapesContext& context() { return *context_; }
  bool exact() const;
  int64_t opset() const;  // of the node's domain, as the context says

  // Inputs ----------------------------------------------------------------------------------------
  int input_size() const { return node_->input_size(); }
  // Named, i.e. there is an i-th input and its name is not empty.
  bool HasInput(int i) const;
  // What is known of input i, with the facts of the context put in; an Unknown value when it is absent or nothing is
  // known. A name that is both a tensor and a sequence gives the tensor.
  const ShapeValue& Input(int i) const;
  // The same for a formal that takes a sequence: the sequence of that name, else Input(i).
  const ShapeValue& SequenceInput(int i) const;
  // The context has a value of that name.
  bool IsDefined(int i) const;
  // The shape of a tensor input; OptimShape::Unknown() when the input is absent, unknown, or not a tensor.
  const OptimShape& InputShape(int i) const;
  TensorType InputType(int i) const;  // kUndefined when unknown
  // All elements of a small integer (or bool) tensor input when every one is a known integer or expression; in
  // row-major order.
  std::optional<std::vector<OptimDim>> InputValue(int i) const;
  // The same when all are plain integers.
  std::optional<std::vector<int64_t>> InputInts(int i) const;

  // Outputs ---------------------------------------------------------------------------------------
  int output_size() const { return node_->output_size(); }
  bool HasOutput(int i) const;
  // Ignored when output i is absent or has an empty name.
  void SetOutput(int i, ShapeValue value);
  void SetTensor(int i, TensorType dtype, OptimShape shape);
  // What was set as output i; null when nothing was.
  const ShapeValue* Output(int i) const;
  // Adds the known elements (row-major, as many as the shape says) to the tensor set before as output i.
  void SetKnown(int i, std::vector<OptimDim> elements);

  // Dims ------------------------------------------------------------------------------------------
  // A new symbol, >= 0, that stands for a size nothing determines.
  OptimDim Fresh(std::string_view hint = {});
  OptimShape FreshShape(int rank);
  // The one dim that both must be: two different integers are reported (subject_a says .., subject_b says ..), an
  // integer beats a symbol, equal or undecidable forms give a. In exact precision the equality is recorded in the
  // context.
  OptimDim Unify(const OptimDim& a, const OptimDim& b, std::string_view subject_a, std::string_view subject_b);
  // `dim` is the size of something: a run where it is negative ends at this node. Recorded in the context.
  void RequireSize(const OptimDim& dim);
  // numpy broadcasting of two shapes; Unknown if either is. Reports dims that cannot match.
  OptimShape Broadcast(const OptimShape& a, const OptimShape& b);
  // axis in [-rank, rank-1] -> [0, rank-1]; Fails naming axis and range otherwise.
  int NormalizeAxis(int64_t axis, int rank, std::string_view subject = "attribute 'axis'");

  // Bodies ----------------------------------------------------------------------------------------
  std::vector<ShapeValue> InferBody(const GraphProto& body, std::span<const ShapeValue> inputs,
                                    const BodyOptions& options = {});

  // Problems --------------------------------------------------------------------------------------
  // "input 0 'input_sequence' (\"xs\")", "output 1 'Y_h' (\"h\")"
  std::string InputSubject(int i) const;
  std::string OutputSubject(int i) const;
  // Throws InvalidArgument (with this node's name in it): the caller of a direct call sees it, a graph walk records it
  // and goes on.
  [[noreturn]] void Fail(std::string subject, std::string fact) const;
  // The same for a missing name, as OutOfRange.
  [[noreturn]] void FailMissing(std::string subject, std::string fact) const;
  void Warn(std::string subject, std::string fact);
  // A warning that is phrased already, e.g. from inside a body.
  void AddWarning(std::string message) { warnings_.push_back(std::move(message)); }

  // `value` with the facts of `context` put in.
  static ShapeValue Simplified(const ShapesContext& context, const ShapeValue& value);
  // "tensor(float)[2,N]": what a message says was got; "nothing known" for an Unknown value.
  static std::string Describe(const ShapeValue& value);

  // The walker's side: moves outputs, facts and warnings into the context. Until then it is as it was.
  void Commit();
  // Only the warnings, when the rule failed.
  void CommitWarnings();

 private:
  std::string Subject(std::string_view what, std::span<const std::string_view> formals, int i,
                      std::string_view name) const;
  struct Equality {
    OptimDim a;
    OptimDim b;
  };
  mutable std::vector<std::optional<ShapeValue>> inputs_;
  mutable std::optional<ShapeValue> sequence_input_[2];
  std::vector<Equality> equalities_;
  std::vector<OptimDim> sizes_;  // >= 0
  std::vector<std::string> warnings_;
  ShapesContext* context_;
  const NodeProto* node_;
  NodeAttributes attrs_;
  FormalNames names_;
  const BodyInference* body_inference_;
  std::vector<std::optional<ShapeValue>> outputs_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
