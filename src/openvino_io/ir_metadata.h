// SPDX-License-Identifier: Apache-2.0
// What the messages keep of an IR beyond what they mean, as metadata: enough to write the same layers again.
#pragma once

#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openvino_io/ir_lowering.h"

namespace ONNX_LIGHT_NAMESPACE {

// Of the model: the version of the IR. Of the model, an input or a node: the XML inside its <rt_info>.
inline constexpr std::string_view kIrVersionKey = "openvino.ir_version";
inline constexpr std::string_view kIrRtInfoKey = "openvino.rt_info";
// Of an input: its dims as the IR has them, where they have bounds.
inline constexpr std::string_view kIrShapeKey = "openvino.shape";
// Of the node that gives output 0 of a layer, or has the layer's bodies: the layer's type and operator set, and each of
// its attributes.
inline constexpr std::string_view kIrTypeKey = "openvino.type";
inline constexpr std::string_view kIrOpsetKey = "openvino.version";
inline constexpr std::string_view kIrDataPrefix = "openvino.data.";
// The same, where there are no bodies and the layer's inputs are not the node's: the name of each, or a constant that
// is no value of the graph; and the names of its outputs where they are not the node's.
inline constexpr std::string_view kIrInputPrefix = "openvino.input.";
inline constexpr std::string_view kIrConstPrefix = "openvino.const.";
inline constexpr std::string_view kIrOutputPrefix = "openvino.output.";
// Of the layer's other nodes, which stand beside that one: the name of output 0.
inline constexpr std::string_view kIrLayerKey = "openvino.layer";

template <class Message>
void AddMetadata(Message& message, std::string_view key, std::string_view value) {
  StringStringEntryProto& entry = *message.add_metadata_props();
  entry.set_key(std::string(key));
  entry.set_value(std::string(value));
}
// Empty when there is none.
template <class Message>
std::string_view MetadataOf(const Message& message, std::string_view key) {
  for (const StringStringEntryProto& entry : message.metadata_props()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

// What stands inside the element, as text; nothing when that is all white space.
std::string InnerXml(pugi::xml_node element);

// Adds the metadata to the nodes of `graph` from number `first` on, which are what `layer` became.
void DescribeLayer(const IrLayer& layer, std::span<IrValue* const> inputs, std::span<const IrValue> outputs,
                   GraphProto& graph, int first);

// A constant as the metadata have it: "i64 2 0100000000000000FFFFFFFFFFFFFFFF name". Nothing for a text that is none.
std::string ConstantToText(const TensorProto& tensor);
std::optional<TensorProto> ConstantFromText(std::string_view text);

}  // namespace ONNX_LIGHT_NAMESPACE
