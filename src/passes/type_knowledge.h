// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// What inference knows of the values of a model's graphs.
class TypeKnowledge {
 public:
  virtual ~TypeKnowledge() = default;
  // kUndefined when nothing is known. For a sequence, of its elements.
  virtual TensorType TypeOf(const GraphProto& graph, std::string_view value) const = 0;
  // Unknown when its rank is.
  virtual onnx_optim::OptimShape ShapeOf(const GraphProto& graph, std::string_view value) const = 0;
  // The element of an integer tensor that has one.
  virtual std::optional<OptimDim> NumberOf(const GraphProto& graph, std::string_view value) const = 0;
  // Elements of the value when all its dims are known, with a usual size for those that are not; 0 when nothing is
  // known.
  virtual double ElementsOf(const GraphProto& graph, std::string_view value) const = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
