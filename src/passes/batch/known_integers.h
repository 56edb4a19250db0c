// SPDX-License-Identifier: Apache-2.0
// Small integers of a body that inference knows, all of them or up to a length.
#pragma once

#include <optional>
#include <string>

#include "onnx_optim/shapes/shape_value.h"
#include "passes/batch/batch_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

struct KnownIntegers {
  BatchForm form;    // uniform, or stacked where they depend on a length
  std::string name;  // in the batched graph: `name` itself when uniform
};

// Emits the body's value `name` as constants, and as base + factor * length for each element where it depends on one
// length whose vector the graph has. Nothing when the value is no integer tensor of known shape, or is not of this
// kind.
std::optional<KnownIntegers> EmitKnownIntegers(BatchGraph& graph, const std::string& name,
                                               const onnx_optim::shapes::ShapeValue& value);

}  // namespace ONNX_LIGHT_NAMESPACE
