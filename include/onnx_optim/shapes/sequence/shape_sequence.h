// SPDX-License-Identifier: Apache-2.0
// Shape inference of the operators that make and take sequences.
//
// Every function infers the outputs of one node from what `ctx` knows of its inputs, and stores them there. A known
// shape is recorded as far as the context's precision goes: Precision::kDocumented (the default) or Precision::kExact.
// Errors of all: std::invalid_argument for another op_type, a node without outputs or without a required input, and
// what is said at each; std::out_of_range for a named input the context does not have, or has only as the other kind
// (tensor for sequence). On an error the context is unchanged. An empty name is an absent input. One context belongs to
// one thread at a time.
#pragma once

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {
namespace sequence {

// Tensors to a sequence that records each one's shape; without inputs an empty sequence of undefined type.
// std::invalid_argument when element types differ.
ONNXSEQ_API void ComputeShapeSequenceConstruct(ShapesContext& ctx, const NodeProto& node);

// A sequence to one tensor, concatenated (new_axis 0) or stacked (new_axis 1) along `axis`. std::invalid_argument for a
// missing axis or one out of range, another new_axis, elements of different ranks, dims that must agree and do not,
// scalars to concatenate, and, in exact precision, a sequence known to be empty.
ONNXSEQ_API void ComputeShapeConcatFromSequence(ShapesContext& ctx, const NodeProto& node);

// The length of a sequence: an int64 scalar.
ONNXSEQ_API void ComputeShapeSequenceLength(ShapesContext& ctx, const NodeProto& node);

// An empty sequence of element type `dtype` (default float; a number that is no type gives an undefined one).
// std::invalid_argument when the attribute is not an INT.
ONNXSEQ_API void ComputeShapeSequenceEmpty(ShapesContext& ctx, const NodeProto& node);

// A sequence with one element less. `position` need not be in the context. In exact precision std::invalid_argument for
// an empty sequence and a constant position out of range.
ONNXSEQ_API void ComputeShapeSequenceErase(ShapesContext& ctx, const NodeProto& node);

// One element of a sequence. Errors as for erasing.
ONNXSEQ_API void ComputeShapeSequenceAt(ShapesContext& ctx, const NodeProto& node);

// A sequence with one element more. std::invalid_argument when the element types of sequence and tensor are known and
// differ, and when the length cannot grow; in exact precision for a constant position out of range.
ONNXSEQ_API void ComputeShapeSequenceInsert(ShapesContext& ctx, const NodeProto& node);

// A body graph applied to each element of a sequence. The body sees outer names; its first input is an element, further
// inputs are whole tensors or the elements of further sequences. std::invalid_argument when the body is missing or does
// not have as many inputs and outputs as the node, when one of its outputs is missing or no tensor, and, in exact
// precision, when lengths differ; what the body's own nodes throw goes through.
ONNXSEQ_API void ComputeShapeSequenceMap(ShapesContext& ctx, const NodeProto& node);

// A tensor cut along `axis` into a sequence: by `split` (sizes, or one size for all), else into pieces of size 1,
// squeezed when keepdims is 0. std::invalid_argument for an axis out of range, sizes that are negative or do not add
// up, and a piece size <= 0.
ONNXSEQ_API void ComputeShapeSplitToSequence(ShapesContext& ctx, const NodeProto& node);

}  // namespace sequence
}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
