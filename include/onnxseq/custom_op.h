// SPDX-License-Identifier: Apache-2.0
// Operators of the caller's own, given to a session with SessionOptions::custom_ops.
//
//   onnxseq::CustomOp twice{.domain = "my.domain", .type = "Twice"};
//   twice.run = [](onnxseq::CustomOpContext& ctx) {
//     const onnxseq::Tensor& x = ctx.input(0).tensor();
//     onnxseq::Tensor y(x.dtype(), x.shape());
//     ...
//     ctx.SetOutput(0, std::move(y));
//   };
#pragma once

#include <functional>
#include <string>

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// One call of a custom operator; valid during the call only.
class ONNXSEQ_API CustomOpContext {
 public:
  virtual ~CustomOpContext();
  // Attributes are found here.
  virtual const NodeProto& node() const = 0;
  virtual int input_size() const = 0;
  // Nothing for one that is left out. InvalidArgument when there is no input i.
  virtual const Value& input(int i) const = 0;
  virtual int output_size() const = 0;
  // Somebody wants output i.
  virtual bool HasOutput(int i) const = 0;
  // Every output somebody wants must be set. InvalidArgument when there is no output i or the value is an undefined
  // tensor.
  virtual void SetOutput(int i, Value value) = 0;
  // Throws TimeoutError when the run is to end: for operators that work long.
  virtual void CheckCancelled() const = 0;
};

struct CustomOp {
  // The model imports the domain, and the build has no operator of that domain and type: loading throws InvalidArgument
  // otherwise.
  std::string domain;
  std::string type;
  // Computes the outputs. Called from many threads at once when runs or elements of a SequenceMap run side by side.
  // Whatever it throws ends the run as an Error that names the node.
  std::function<void(CustomOpContext&)> run;
  // Sets the shapes of the outputs in the context; may be empty: they are unknown then.
  onnx_optim::shapes::CustomShapeInferenceFunction shape;
};

}  // namespace ONNX_LIGHT_NAMESPACE
