// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"
#include "ops/infer_graph.h"
#include "runtime/custom_ops.h"
#include "runtime/plan.h"

namespace ONNX_LIGHT_NAMESPACE {

// What shape inference finds out about a model, for planning. Nothing found wrong stops it: running tells, if it ever
// gets there.
class InferredTypes : public TypeKnowledge {
 public:
  // `model` has no functions and must outlive this.
  InferredTypes(const ModelProto& model, const CustomOps& custom_ops);

  TensorType TypeOf(const GraphProto& graph, std::string_view value) const override;
  OptimShape ShapeOf(const GraphProto& graph, std::string_view value) const override;
  std::optional<OptimDim> NumberOf(const GraphProto& graph, std::string_view value) const override;
  double ElementsOf(const GraphProto& graph, std::string_view value) const override;
  // `copy` is one of `original`, the model's graph: what is known of the one and the bodies in it is of the other, as
  // long as values keep their names.
  void AddCopy(const GraphProto& original, const GraphProto& copy);
  // Null when nothing is known.
  [[nodiscard]] const ShapeValue* Find(const GraphProto& graph, std::string_view value) const;
  // Inference found the body to run, or that it may.
  bool MayRun(const GraphProto& body) const { return bodies_.contains(&body); }
  // What was found wrong or doubtful.
  const std::vector<onnx_optim::shapes::Problem>& problems() const { return context_.Problems(); }

 private:
  const GraphProto* main_;
  const GraphProto* copy_ = nullptr;
  ShapesContext context_;
  InferenceRecord record_;
  std::unordered_map<const GraphProto*, const BodyRecord*> bodies_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
