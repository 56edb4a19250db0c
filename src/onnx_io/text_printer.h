// SPDX-License-Identifier: Apache-2.0
// Messages to the text syntax of the `onnx` package, which text_parser.h and onnx.parser read.
//
// Reading the text gives the message back, numbers exactly, but for what the syntax has no words for:
//   * left out: doc strings other than the model's and the functions'; metadata other than the model's; denotations;
//     quantization annotations; device configurations; unknown fields; types without an element type; a tensor's name
//     in an attribute when it is no identifier; the payload of a NaN
//   * changed: raw_data becomes typed data; a body's name in an attribute becomes an identifier, "loop body/1"
//   loop_body_1
//   * refused with Unsupported, naming it, since the model would compute something else or nothing: sparse tensors,
//     training information, tensors without a known element type, operators, domains, overloads and attributes whose
//     names are no identifiers, attributes without a value.
// A tensor whose values do not fit its dims throws InvalidArgument as reading it does. Thread safe.
#pragma once

#include <string>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

ONNXSEQ_API std::string PrintModelText(const ModelProto& model);
ONNXSEQ_API std::string PrintGraphText(const GraphProto& graph);
ONNXSEQ_API std::string PrintFunctionText(const FunctionProto& function);
ONNXSEQ_API std::string PrintNodeText(const NodeProto& node);
ONNXSEQ_API std::string PrintTypeText(const TypeProto& type);
// "float[2] w = {1, 2}"
ONNXSEQ_API std::string PrintTensorText(const TensorProto& tensor);

}  // namespace ONNX_LIGHT_NAMESPACE
