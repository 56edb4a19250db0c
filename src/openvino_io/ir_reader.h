// SPDX-License-Identifier: Apache-2.0
// openvino_io: OpenVINO IR files (an .xml with the graph, a .bin with the weights beside it) to and from the messages
// of model. Before it: model. After it: runtime, which runs what is read here like any ONNX model.
//
// Layers become ai.onnx nodes where an operator says exactly the same; recurrent layers stay what they are, in domain
// org.openvinotoolkit. Layer names become node names, tensor names those of inputs, outputs and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr std::string_view kOpenVinoDomain = "org.openvinotoolkit";

// Reads an IR of version 10 or 11. The weights are those of the file with the suffix .bin instead of the path's; it is
// mapped, not copied, and the model's initializers keep it mapped. A file that holds no Const needs no .bin. The model
// imports ai.onnx and org.openvinotoolkit 1. Each input and output of the graph is named after its tensor (the first
// name, when it has several), else after its layer. A dynamic dim of input "x" becomes the symbol x_<axis>; where the
// file gives it bounds, they stand in the metadata of the input. The metadata of nodes hold what layer they come from
// (ir_metadata.h), so that the same layers can be written again; so do those of the model and its inputs with rt_info.
//
// Throws ModelParseError for XML and structure that do not follow the format (naming the layer), Unsupported for
// another IR version and for layers that cannot be said (all of them at once), IoError for files that cannot be read.
// Thread safe.
ONNXSEQ_API ModelProto ReadIr(const std::string& xml_path);

// The same from memory. `weights` are the bytes of the .bin, shared and not copied; nothing when there is none.
ONNXSEQ_API ModelProto ParseIr(std::string_view xml, const std::optional<Bytes>& weights);

}  // namespace ONNX_LIGHT_NAMESPACE
