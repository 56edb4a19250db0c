// SPDX-License-Identifier: Apache-2.0
// Shapes of every value of a model, by name, as one result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

struct ShapeOptions {
  // Symbols of the model's inputs to set: {"N", 4}.
  std::map<std::string, int64_t> dims;
  // Shapes of inputs to set instead of the declared ones, each dim a number, name or expression: {"x", {"1", "3",
  // "H"}}.
  std::map<std::string, std::vector<std::string>> shapes;
};

struct ShapeProblem {
  bool is_error = true;  // otherwise a warning
  std::string message;
};

struct InferredGraph {
  std::string path;  // "" for the main graph, "/loop0/body" for one inside a node
  std::map<std::string, onnx_optim::shapes::ShapeValue> values;
};

struct InferredShapes {
  std::vector<InferredGraph> graphs;  // main graph first, then bodies in the order they stand
  std::vector<ShapeProblem> problems;
};

// Infers the whole model in exact precision. Never throws for what it finds in the model: that is in problems.
ONNXSEQ_API InferredShapes InferShapes(const ModelProto& model, const ShapeOptions& options = {});

// Writes what is inferred into the model: types of outputs and value_info, bodies included. What the options set is
// written into the declared types first, with every dim that follows: setting the shape 1,T of an input declared [N,S]
// sets N and S wherever else they stand; where it
// replaces a number, what is declared of values inside and of outputs is inferred anew. Throws InvalidArgument for a
// model without graph and for dims that make no sense.
ONNXSEQ_API void WriteShapes(ModelProto& model, const ShapeOptions& options = {});

}  // namespace ONNX_LIGHT_NAMESPACE
