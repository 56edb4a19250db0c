// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Of constants that no value of the graph holds: larger ones stay values, so that many layers with one cost little.
constexpr size_t kMostConstantBytes = 512;

std::set<std::string_view> NamesUsed(const GraphProto& graph, int first) {
  std::set<std::string_view> names;
  for (int i = first; i < graph.node_size(); ++i)
    names.insert(graph.node(i).input().begin(), graph.node(i).input().end());
  return names;
}

bool IsListOf(const Repeated<String>& names, std::span<IrValue* const> values) {
  return std::equal(names.begin(), names.end(), values.begin(), values.end(),
                    [](const String& name, const IrValue* value) { return name == value->name; });
}
bool IsListOf(const Repeated<String>& names, std::span<const IrValue> values) {
  return std::equal(names.begin(), names.end(), values.begin(), values.end(),
                    [](const String& name, const IrValue& value) { return name == value.name; });
}

bool HasBody(const NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const AttributeProto& attribute) { return attribute.has_g(); });
}

void DescribeInputs(std::span<IrValue* const> inputs, const std::set<std::string_view>& used, NodeProto& node) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    IrConstant* constant = inputs[k]->constant;
    const bool inside = constant != nullptr && !used.contains(inputs[k]->name) &&
                        constant->tensor.raw_data().size() <= kMostConstantBytes &&
                        constant->tensor.string_data().empty();
    if (constant != nullptr && !inside) constant->used = true;
    AddMetadata(node, fmt::format("{}{}", inside ? kIrConstPrefix : kIrInputPrefix, k),
                inside ? ConstantToText(constant->tensor) : inputs[k]->name);
  }
}

int HexDigit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

// Takes the text up to the next space.
std::string_view NextWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

std::string InnerXml(pugi::xml_node element) {
  std::ostringstream text;
  for (const pugi::xml_node child : element.children()) child.print(text, "", pugi::format_raw);
  return text.str();
}

std::string ConstantToText(const TensorProto& tensor) {
  std::string bytes;
  for (const char c : tensor.raw_data().view()) bytes += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return fmt::format("{} {} {} {}", IrElementName(onnx_optim::DataTypeToTensorType(tensor.data_type())),
                     fmt::join(tensor.dims(), ","), bytes, std::string_view(tensor.name()));
}

std::optional<TensorProto> ConstantFromText(std::string_view text) {
  TensorProto tensor;
  const TensorType type = IrElementType(NextWord(text));
  if (type == TensorType::kUndefined || type == TensorType::kString) return std::nullopt;
  tensor.set_data_type(onnx_optim::TensorTypeToDataType(type));
  const std::string_view dims = NextWord(text), hex = NextWord(text);
  int64_t count = 1;
  for (size_t at = 0; at < dims.size();) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(dims.data() + at, dims.data() + dims.size(), dim);
    if (error != std::errc() || dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
    tensor.add_dims(dim);
    at = static_cast<size_t>(end - dims.data()) + 1;
  }
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]), low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (RawBytes(type, count) != static_cast<int64_t>(bytes.size())) return std::nullopt;
  tensor.set_raw_data(Bytes(std::move(bytes)));
  tensor.set_name(std::string(text));
  return tensor;
}

void DescribeLayer(const IrLayer& layer, std::span<IrValue* const> inputs, std::span<const IrValue> outputs,
                   GraphProto& graph, int first) {
  if (first == graph.node_size()) return;
  // A layer with bodies is known by the node that has them, one without outputs by what its first node gives.
  const std::string key = outputs.empty() ? graph.node(first).output(0).as_string() : outputs.front().name;
  const bool has_bodies = layer.node.child("body") || layer.node.child("then_body");
  int main = first;
  for (int i = first; i < graph.node_size(); ++i) {
    const NodeProto& node = graph.node(i);
    if (has_bodies && HasBody(node)) {
      main = i;
      break;
    }
    if (std::ranges::any_of(node.output(), [&](const String& output) { return output == key; })) main = i;
  }
  for (int i = first; i < graph.node_size(); ++i)
    if (i != main) AddMetadata(*graph.mutable_node(i), kIrLayerKey, key);
  NodeProto& node = *graph.mutable_node(main);
  AddMetadata(node, kIrTypeKey, layer.type);
  AddMetadata(node, kIrOpsetKey, layer.version);
  for (const pugi::xml_attribute attribute : layer.data.attributes())
    AddMetadata(node, std::string(kIrDataPrefix) + attribute.name(), attribute.value());
  if (const std::string rt_info = InnerXml(layer.node.child("rt_info")); !rt_info.empty())
    AddMetadata(node, kIrRtInfoKey, rt_info);
  // What a variable is at first is the default of an input.
  if (has_bodies || layer.type == "ReadValue") return;
  if (!IsListOf(node.input(), inputs)) DescribeInputs(inputs, NamesUsed(graph, first), node);
  if (!IsListOf(node.output(), outputs)) {
    for (size_t k = 0; k < outputs.size(); ++k)
      AddMetadata(node, fmt::format("{}{}", kIrOutputPrefix, k), outputs[k].name);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
