// SPDX-License-Identifier: Apache-2.0
// The text syntax of the `onnx` package (onnx.parser) to messages.
//
//   <ir_version: 8, opset_import: ["" : 17, "my": 1]>
//   agraph (float[N, 4] x, seq(float[2]) s) => (float[N, 4] y) <float[4] w = {1, 2.5, -inf, nan}, int64[N] shape_of_y>
//   {
//     [first] t = Add (x, w)
//     y = my.scale <factor: float = 2, body = g (float a) => (float b) { b = Neg(a) }> (t, "")
//   }
//   <domain: "my", opset_import: ["" : 17]>
//   scale <factor> (a) => (b) { f = Constant <value_float: float = @factor> ()  b = Mul (a, f) }
//
// `float` is a scalar, `float[]` a tensor of unknown rank, `?` an unknown dim, '#' starts a comment. What onnx.parser
// accepts gives the message it gives there, with these exceptions: lists of tensors, graphs and types keep their
// elements, elements of less than a byte are packed as the schema says, `true` and `false` may stand in bool tensors,
// numbers must fit the element type, dims of a literal must not be negative, nothing may follow the end. All throw
// ModelParseError, its text naming line and column, its offset() the byte. Thread safe.
#pragma once

#include <string_view>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Graphs and types inside each other deeper than this are refused.
inline constexpr int kMaxTextDepth = 96;

ONNXSEQ_API ModelProto ParseModelText(std::string_view text);
ONNXSEQ_API GraphProto ParseGraphText(std::string_view text);
ONNXSEQ_API FunctionProto ParseFunctionText(std::string_view text);
// One node; ParseNodesText takes any number, one after the other.
ONNXSEQ_API NodeProto ParseNodeText(std::string_view text);
ONNXSEQ_API RepeatedMessages<NodeProto> ParseNodesText(std::string_view text);
// "seq(float[N])"
ONNXSEQ_API TypeProto ParseTypeText(std::string_view text);
// "float[2] {1, 2}" or "float[2] w = {1, 2}"
ONNXSEQ_API TensorProto ParseTensorText(std::string_view text);
// "alpha: float = 2", "body = g (x) => (y) {...}"
ONNXSEQ_API AttributeProto ParseAttributeText(std::string_view text);

}  // namespace ONNX_LIGHT_NAMESPACE
