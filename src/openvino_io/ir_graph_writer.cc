// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_graph_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "onnxseq/errors.h"
#include "openvino_io/ir_metadata.h"
#include "openvino_io/ir_node_writer.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kReadValue = "ReadValue", kAssign = "Assign", kVariableKey = "openvino.data.variable_id";

// "2,?,4"
std::string ShapeText(const IrType& type) {
  if (!type.ranked) return "...";
  std::string text;
  for (const int64_t dim : type.dims) text += (text.empty() ? "" : ",") + (dim < 0 ? "?" : std::to_string(dim));
  return text;
}

IrType DeclaredType(const TypeProto& type) {
  const TypeProto_Tensor& tensor = type.tensor_type();
  IrType known{
      .element = onnx_optim::DataTypeToTensorType(tensor.elem_type()), .ranked = tensor.has_shape(), .dims = {}};
  for (const TensorShapeProto_Dimension& dim : tensor.shape().dim())
    known.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return known;
}

IrType TypeOfTensor(const TensorProto& tensor) {
  return IrType::Tensor(onnx_optim::DataTypeToTensorType(tensor.data_type()), tensor.dims());
}

// As the reader takes them apart: the number of strings, where the first begins, where each ends, the characters.
// Numbers have 32 bits.
std::string PackStrings(const TensorProto& tensor) {
  size_t size = tensor.string_data().size();
  for (const Bytes& element : tensor.string_data()) size += element.size();
  if (size > std::numeric_limits<int32_t>::max())
    throw Unsupported(fmt::format("IR has room for 2 GiB of strings in a constant, \"{}\" has {} bytes",
                                  std::string_view(tensor.name()), size));
  std::string header, text;
  const auto number = [&](size_t value) {
    const auto small = static_cast<int32_t>(value);
    header.append(reinterpret_cast<const char*>(&small), sizeof(small));
  };
  number(tensor.string_data().size());
  number(0);
  for (const Bytes& element : tensor.string_data()) {
    text += element.view();
    number(text.size());
  }
  return header + text;
}

// The bounds the file gave, when they are of these very dims.
std::string_view Bounds(const ValueInfoProto& info, const IrType& type) {
  const std::string_view text = MetadataOf(info, kIrShapeKey);
  pugi::xml_document scratch;
  pugi::xml_node node = scratch.append_child("layer");
  node.append_child("data").append_attribute("shape").set_value(std::string(text).c_str());
  IrLayer layer;
  layer.node = node;
  layer.data = node.child("data");
  try {
    const auto dims = IrAttributes(layer).PartialShape("shape");
    if (!dims || !type.ranked || dims->size() != type.dims.size()) return {};
    for (size_t i = 0; i < dims->size(); ++i)
      if (((*dims)[i].fixed() ? (*dims)[i].min : -1) != type.dims[i]) return {};
    return text;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

Bytes ConstantBytes(const TensorProto& tensor) {
  if (tensor.raw_data().empty()) return TensorToProto(TensorFromProto(tensor)).raw_data();
  int64_t count = 1;
  for (const int64_t dim : tensor.dims())
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) count = -1;
  const auto size = static_cast<int64_t>(tensor.raw_data().size());
  if (count < 0 || RawBytes(onnx_optim::DataTypeToTensorType(tensor.data_type()), count) != size)
    throw InvalidArgument(fmt::format("tensor \"{}\": {} bytes are not what its dims and type take",
                                      std::string_view(tensor.name()), size));
  return tensor.raw_data();
}

IrGraphWriter::IrGraphWriter(IrWriting& writing, const GraphProto& graph, pugi::xml_node parent, IrGraphWriter* outer)
    : writing_(writing), graph_(graph), outer_(outer), xml_(parent) {
  for (const TensorProto& tensor : graph.initializer()) constants_.emplace(tensor.name(), &tensor);
}

template <class Fn>
void IrGraphWriter::Collect(const NodeProto& node, Fn fn) {
  try {
    fn();
  } catch (Unsupported& error) {
    error.AddNode(node.op_type(), node.name());
    if (outer_ != nullptr) error.AddPath(fmt::format("in body '{}'", std::string_view(graph_.name())));
    writing_.unsupported.emplace_back(error.what());
    // What uses its outputs is looked at all the same.
    for (const String& name : node.output())
      if (!name.empty() && !IsDefined(name)) Define(name, AddParameter(name, TypeOf(name)));
  } catch (Error& error) {
    error.AddNode(node.op_type(), node.name());
    throw;
  }
}

IrType IrGraphWriter::TypeOf(std::string_view name) const {
  if (const TensorProto* constant = ConstantOf(name)) return TypeOfTensor(*constant);
  IrType type = writing_.types.TypeOf(graph_, name);
  if (type.element == TensorType::kUndefined && outer_ != nullptr) return outer_->TypeOf(name);
  return type;
}

std::string_view IrGraphWriter::KindOf(std::string_view name) const {
  const std::string_view kind = writing_.types.KindOf(graph_, name);
  return kind.empty() && outer_ != nullptr ? outer_->KindOf(name) : kind;
}

const TensorProto* IrGraphWriter::ConstantOf(std::string_view name) const {
  if (const auto found = constants_.find(name); found != constants_.end()) return found->second;
  if (outer_ == nullptr || IsDefined(name)) return nullptr;
  return outer_->ConstantOf(name);
}

bool IrGraphWriter::IsOwn(std::string_view name) const {
  const auto is_it = [&](const auto& message) { return message.name() == name; };
  return std::ranges::any_of(graph_.input(), is_it) || std::ranges::any_of(graph_.initializer(), is_it) ||
         std::ranges::any_of(graph_.node(), [&](const NodeProto& node) {
           return std::ranges::any_of(node.output(), [&](const String& output) { return output == name; });
         });
}

namespace {

bool UsesIn(const GraphProto& graph, std::string_view name) {
  return std::ranges::any_of(graph.output(), [&](const ValueInfoProto& info) { return info.name() == name; }) ||
         std::ranges::any_of(graph.node(), [&](const NodeProto& node) { return IrGraphWriter::Uses(node, name); });
}

}  // namespace

bool IrGraphWriter::Uses(const NodeProto& node, std::string_view name) {
  return std::ranges::any_of(node.input(), [&](const String& input) { return input == name; }) ||
         std::ranges::any_of(node.attribute(), [&](const AttributeProto& attribute) {
           return attribute.has_g() && UsesIn(attribute.g(), name);
         });
}

bool IrGraphWriter::IsUsed(std::string_view name) const { return UsesIn(graph_, name); }

void IrGraphWriter::DefineConstant(std::string_view name, TensorProto tensor) {
  made_names_.emplace_back(name);
  made_constants_.push_back(std::move(tensor));
  made_constants_.back().set_name(made_names_.back());
  constants_.insert_or_assign(made_names_.back(), &made_constants_.back());
}

IrRef IrGraphWriter::ValueOf(std::string_view name) {
  if (const auto found = values_.find(std::string(name)); found != values_.end()) return found->second;
  if (const TensorProto* constant = ConstantOf(name)) {
    const IrRef port = AddConst(*constant);
    Define(name, port);
    return port;
  }
  if (outer_ == nullptr)
    throw InvalidArgument(fmt::format("\"{}\" is used, but no input, initializer or node before gives it", name));
  const IrType type = *outer_->ValueOf(name).type;
  const IrRef port = AddParameter(std::string(name), type);
  Define(name, port);
  captures_.push_back({std::string(name), port.layer});
  return port;
}

void IrGraphWriter::Alias(std::string_view name, const IrRef& port) {
  Define(name, port);
  const bool is_output = std::ranges::any_of(graph_.output(), [&](const auto& info) { return info.name() == name; });
  if (is_output) {
    aliases_.emplace(name);
  } else {
    xml_.AddName(port, name);
  }
}

IrRef IrGraphWriter::AddConst(const TensorProto& tensor) {
  const IrType type = TypeOfTensor(tensor);
  const std::string_view element = IrElementName(type.element);
  const std::string name = tensor.name();
  if (element.empty())
    throw Unsupported(
        fmt::format("IR has no element type {}, which \"{}\" is of", onnx_optim::TensorTypeName(type.element), name));
  Bytes bytes = type.element == TensorType::kString ? Bytes(PackStrings(tensor)) : ConstantBytes(tensor);
  const size_t size = std::max<size_t>(bytes.size(), 1);
  const int64_t offset = writing_.weights.Add(std::move(bytes));
  IrLayerText layer{.name = name,
                    .type = "Const",
                    .version = "opset1",
                    .data = {},
                    .inputs = {},
                    .outputs = {{type, {}}},
                    .rt_info = {}};
  layer.data = {{"element_type", std::string(element)},
                {"shape", IrText(type.dims)},
                {"offset", std::to_string(offset)},
                {"size", std::to_string(size)}};
  std::vector<IrRef> outputs;
  xml_.Add(layer, &outputs);
  return outputs.front();
}

IrRef IrGraphWriter::AddParameter(const std::string& name, const IrType& type, std::string_view shape) {
  IrLayerText layer{.name = name,
                    .type = "Parameter",
                    .version = "opset1",
                    .data = {},
                    .inputs = {},
                    .outputs = {{type, {name}}},
                    .rt_info = {}};
  layer.data = {{"shape", shape.empty() ? ShapeText(type) : std::string(shape)},
                {"element_type", std::string(IrElementName(type.element))}};
  std::vector<IrRef> outputs;
  xml_.Add(layer, &outputs);
  return outputs.front();
}

int IrGraphWriter::AddResult(const std::string& name, const IrRef& from, bool named) {
  IrLayerText layer{
      .name = name, .type = "Result", .version = "opset1", .data = {}, .inputs = {from}, .outputs = {}, .rt_info = {}};
  pugi::xml_node node = xml_.Add(layer);
  if (named) node.append_attribute("output_names").set_value(JoinIrNames({name}).c_str());
  return node.attribute("id").as_int();
}

// ---------------------------------------------------------------------------------------------------------------------

// An input that one Identity reads as a variable, and an output that one writes as the same. The layer that writes may
// give what it writes, by an Identity of the output.
void IrGraphWriter::FindVariables() {
  std::set<std::string_view> inputs, outputs;
  for (const ValueInfoProto& info : graph_.input()) inputs.emplace(info.name());
  for (const ValueInfoProto& info : graph_.output()) outputs.emplace(info.name());
  std::map<std::string_view, const NodeProto*> makers, reads, writes;
  for (const NodeProto& node : graph_.node()) {
    if (node.op_type() != "Identity" || node.input_size() != 1 || node.output_size() != 1) continue;
    makers.emplace(node.output(0), &node);
    const std::string_view type = MetadataOf(node, kIrTypeKey), variable = MetadataOf(node, kVariableKey);
    if (type == kReadValue && inputs.contains(node.input(0))) reads.emplace(variable, &node);
    if (type == kAssign) writes.emplace(variable, &node);
  }
  for (const auto& [variable, read] : reads) {
    const auto write = writes.find(variable);
    if (write == writes.end()) continue;
    const NodeProto* described = write->second;
    const auto before = makers.find(described->input(0));
    const bool gives = before != makers.end() && outputs.contains(described->input(0));
    const NodeProto* writer = gives ? before->second : described;
    if (!outputs.contains(writer->output(0))) continue;
    variables_.insert(read->input(0));
    variables_.insert(writer->output(0));
    variable_nodes_.emplace(read, read);
    variable_nodes_.emplace(writer, described);
    if (gives) skipped_.insert(described);
  }
}

void IrGraphWriter::WriteVariable(const NodeProto& node, const NodeProto& described) {
  IrLayerText layer;
  layer.name = described.name();
  layer.type = MetadataOf(described, kIrTypeKey);
  layer.version = MetadataOf(described, kIrOpsetKey);
  for (const StringStringEntryProto& entry : described.metadata_props()) {
    if (std::string_view(entry.key()).starts_with(kIrDataPrefix))
      layer.data.emplace_back(entry.key().substr(kIrDataPrefix.size()), entry.value());
  }
  const bool reads = layer.type == kReadValue;
  if (const TensorProto* first = reads ? ConstantOf(node.input(0)) : nullptr) {
    TensorProto named = *first;  // the name is the variable's
    named.set_name(fmt::format("{}/first", std::string_view(node.input(0))));
    layer.inputs = {AddConst(named)};
  }
  if (!reads) layer.inputs = {ValueOf(node.input(0))};
  const IrType type = reads ? TypeOf(node.input(0)) : *layer.inputs.front().type;
  if (reads || &node != &described) layer.outputs.push_back({type, {described.output(0)}});
  std::vector<IrRef> outputs;
  xml_.Add(layer, &outputs);
  if (!outputs.empty()) Define(described.output(0), outputs.front());
}

void IrGraphWriter::AddInput(const ValueInfoProto& info) {
  const std::string name = info.name();
  if (variables_.contains(info.name())) return;
  if (constants_.contains(info.name())) {
    if (writing_.lower) return;
    writing_.unsupported.push_back(fmt::format(
        "graph input \"{}\": it has a default, which no input of IR has; lowering makes it a constant", name));
    return;
  }
  const IrType type = DeclaredType(info.type());
  const std::string_view rt_info = MetadataOf(info, kIrRtInfoKey);
  std::string reason;
  if (!info.type().has_tensor_type()) {
    const std::string_view kind = KindOf(name);
    reason = fmt::format("is {}, IR has tensors only", kind.empty() ? "no tensor" : kind);
  } else if (IrElementName(type.element).empty()) {
    reason = fmt::format("IR has no element type {}", onnx_optim::TensorTypeName(type.element));
  }
  if (!reason.empty()) writing_.unsupported.push_back(fmt::format("graph input \"{}\": {}", name, reason));
  const IrRef port = AddParameter(name, type, Bounds(info, type));
  if (!rt_info.empty()) xml_.AddRuntimeInfo(port, rt_info);
  Define(name, port);
}

void IrGraphWriter::WriteModel() {
  FindVariables();
  for (const ValueInfoProto& info : graph_.input()) AddInput(info);
  WriteNodes();
  std::vector<std::string> outputs;
  for (const ValueInfoProto& info : graph_.output()) {
    if (variables_.contains(info.name())) continue;
    if (const std::string_view kind = KindOf(info.name()); !kind.empty()) {
      writing_.unsupported.push_back(
          fmt::format("graph output \"{}\": is {}, IR has tensors only", std::string_view(info.name()), kind));
      continue;
    }
    outputs.push_back(info.name());
    if (const IrRef port = ValueOf(info.name()); !aliases_.contains(info.name())) given_.emplace(port.layer, port.port);
  }
  for (const std::string& name : outputs) AddOutput(name);
}

// Of the names of one port OpenVINO finds an input or output by the last: what is an input or output under another name
// becomes a layer.
void IrGraphWriter::AddOutput(const std::string& name) {
  const IrRef port = ValueOf(name);
  const bool is_alias = aliases_.contains(name);
  const bool is_known = !given_.emplace(port.layer, port.port).second || xml_.LayerType(port) == "Parameter";
  if (!is_alias || !is_known || kept_results_.contains(name)) {
    AddResult(name, port, is_alias);
    return;
  }
  const IrLayerText identity{.name = name,
                             .type = "Identity",
                             .version = "opset16",
                             .data = {},
                             .inputs = {port},
                             .outputs = {{*port.type, {name}}},
                             .rt_info = {}};
  std::vector<IrRef> outputs;
  xml_.Add(identity, &outputs);
  AddResult(name, outputs.front(), false);
}

void IrGraphWriter::WriteNodes() {
  for (int i = 0; i < graph_.node_size();) {
    const NodeProto& node = graph_.node(i);
    int count = 1;
    if (skipped_.contains(&node)) {
      ++i;
      continue;
    }
    Collect(node, [&] {
      if (const auto variable = variable_nodes_.find(&node); variable != variable_nodes_.end())
        return WriteVariable(node, *variable->second);
      if (const int restored = RestoreLayer(i); restored > 0) {
        count = restored;
        return;
      }
      WriteNode(*this, node);
    });
    i += count;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
