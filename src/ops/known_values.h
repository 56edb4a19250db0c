// SPDX-License-Identifier: Apache-2.0
// Known elements that follow from known elements by running the operator itself, while shapes are inferred.
#pragma once

#include "onnxseq/value.h"
#include "ops/op_def.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// The tensor's element type and dims, and its elements where they are few numbers.
ShapeValue KnownTensor(const Tensor& tensor);

// Adds what is known of elements to the outputs a rule has set: all inputs being known constants, the operator is run;
// an operator that only moves elements (Slice, Concat, ScatterND, ..) is run on places instead, and its outputs hold
// what is known of the elements there. Only for operators that shape arithmetic uses, on few elements; nothing happens
// for others, nor where the run fails.
void PropagateValues(InferScope& scope, const OpDef& op);

}  // namespace ONNX_LIGHT_NAMESPACE
