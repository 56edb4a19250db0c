// SPDX-License-Identifier: Apache-2.0
// What the shape rules of the sequence operators share. In documented precision nothing but element types, shapes of
// single elements and lengths is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::SequenceInfo;

// Lists of elements longer than this are not kept one by one when an operator inserts or is walked: they cost time in
// every node that looks at them.
inline constexpr size_t kMaxListedElements = 1024;

// Fails when the node has no output.
void RequireOutput(const InferScope& scope);
// What is known of sequence input i. InvalidArgument when it is left out, OutOfRange when the name is not there or is
// no sequence; a name of which nothing is known gives a sequence of unknown length and type.
SequenceInfo RequireSequence(InferScope& scope, int i);
// The same for a tensor; Unknown when nothing is known.
ShapeValue RequireTensor(const InferScope& scope, int i);

// The number in a position input, when it is a known integer.
std::optional<int64_t> KnownPosition(const InferScope& scope, int i);
// `position` in [-n, n-1+extra] as an index; Fails naming it and the length otherwise.
int64_t CheckedPosition(const InferScope& scope, int input, int64_t position, int64_t length, int64_t extra);

// An element type and a length, as a documented rule gives them.
ShapeValue PlainSequence(TensorType dtype, OptimDim length);
// One element, not said which, for use as a value of its own.
ShapeValue AnyElement(InferScope& scope, const SequenceInfo& info);
// A tensor of the shape and type of `value` alone; nothing known of the shape when it is not a tensor.
ShapeValue PlainTensor(const ShapeValue& value);

// The number in the name of a fresh symbol ("unk__nnz_12"), -1 for another: of two, the one made later has the larger.
int64_t FreshNumber(const std::string& symbol);

// Another instance of what one walk of a body said: symbols that were made since `mark` are replaced by new ones within
// the same bounds, equal ones by equal ones in all values given to one object.
class OtherInstance {
 public:
  OtherInstance(ShapesContext& ctx, int64_t mark) : ctx_(ctx), mark_(mark) {}
  OptimDim Of(const OptimDim& dim);
  ShapeValue Of(const ShapeValue& value);

 private:
  ShapesContext& ctx_;
  int64_t mark_;
  std::map<std::string, OptimDim> renamed_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
