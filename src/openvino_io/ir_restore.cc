// SPDX-License-Identifier: Apache-2.0
// Nodes that a layer became when it was read to that layer. What the metadata say is tried out: the layer is lowered
// again, and must give the nodes that are there.
#include <fmt/format.h>

#include <algorithm>

#include "onnxseq/errors.h"
#include "openvino_io/ir_graph_writer.h"
#include "openvino_io/ir_layer_functions.h"
#include "openvino_io/ir_metadata.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Attributes of the layer become XML: their names must be such.
bool IsXmlName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

bool HasOutput(const NodeProto& node, std::string_view name) {
  return std::ranges::any_of(node.output(), [&](const String& output) { return output == name; });
}

// What the other nodes of the layer, whose main node this is, name it by.
std::string OutputKey(const NodeProto& node) {
  const std::string_view output = MetadataOf(node, std::string(kIrOutputPrefix) + "0");
  if (!output.empty()) return std::string(output);
  return node.output_size() > 0 ? node.output(0).as_string() : std::string();
}

// The nodes from `first` on that belong to the layer whose output 0 is `key`.
int CountNodes(const GraphProto& graph, int first, std::string_view key) {
  int count = 0;
  while (first + count < graph.node_size()) {
    const NodeProto& node = graph.node(first + count);
    const bool gives_key = !MetadataOf(node, kIrTypeKey).empty() && HasOutput(node, key);
    if (!gives_key && MetadataOf(node, kIrLayerKey) != key) break;
    ++count;
  }
  return count;
}

// Which name of the graph stands for a name that lowering made up.
class Renaming {
 public:
  Renaming(const IrGraphWriter& writer, const IrModel& made) : writer_(writer) {
    for (const auto& constant : made.constants) constants_.emplace(constant->tensor.name(), &constant->tensor);
  }
  // `name` was an input or output of the layer, and stands for itself.
  void Keep(const std::string& name) { names_.emplace(name, name); }
  bool SameInput(const std::string& made, const std::string& actual) {
    if (const auto known = names_.find(made); known != names_.end()) return known->second == actual;
    const auto constant = constants_.find(made);
    if (constant == constants_.end()) return made == actual;  // left out
    const TensorProto* tensor = writer_.ConstantOf(actual);
    names_.emplace(made, actual);
    return tensor != nullptr && tensor->data_type() == constant->second->data_type() &&
           tensor->dims() == constant->second->dims() && tensor->raw_data() == constant->second->raw_data();
  }
  bool SameOutput(const std::string& made, const std::string& actual) {
    return names_.emplace(made, actual).first->second == actual;
  }

 private:
  const IrGraphWriter& writer_;
  std::map<std::string, const TensorProto*> constants_;
  std::map<std::string, std::string> names_;
};

bool SameNode(const NodeProto& made, const NodeProto& actual, Renaming& names);

// Names inside a body are made up too.
bool SameBody(const GraphProto& made, const GraphProto& actual, Renaming& names) {
  const auto same_names = [&](const auto& a, const auto& b) {
    return std::ranges::equal(
        a, b, [&](const ValueInfoProto& x, const ValueInfoProto& y) { return names.SameOutput(x.name(), y.name()); });
  };
  return made.initializer_size() == 0 && actual.initializer_size() == 0 && same_names(made.input(), actual.input()) &&
         std::ranges::equal(made.node(), actual.node(),
                            [&](const NodeProto& a, const NodeProto& b) { return SameNode(a, b, names); }) &&
         same_names(made.output(), actual.output());
}

bool SameAttribute(const AttributeProto& made, const AttributeProto& actual, Renaming& names) {
  if (!made.has_g() || !actual.has_g()) return made == actual;
  return made.name() == actual.name() && SameBody(made.g(), actual.g(), names);
}

bool SameNode(const NodeProto& made, const NodeProto& actual, Renaming& names) {
  if (made.op_type() != actual.op_type() || made.domain() != actual.domain() ||
      made.input_size() != actual.input_size() || made.output_size() != actual.output_size() ||
      !std::ranges::equal(made.attribute(), actual.attribute(),
                          [&](const AttributeProto& a, const AttributeProto& b) { return SameAttribute(a, b, names); }))
    return false;
  for (int i = 0; i < made.input_size(); ++i)
    if (!names.SameInput(made.input(i), actual.input(i))) return false;
  for (int i = 0; i < made.output_size(); ++i)
    if (!names.SameOutput(made.output(i), actual.output(i))) return false;
  return true;
}

struct LayerOfNodes {
  IrLayerText text;
  std::vector<std::string> inputs, outputs;
  std::vector<std::optional<TensorProto>> constants;  // in place of the input's name
};

std::optional<LayerOfNodes> ReadMetadata(const NodeProto& node) {
  LayerOfNodes layer;
  layer.text.name = node.name();
  layer.text.type = MetadataOf(node, kIrTypeKey);
  layer.text.version = MetadataOf(node, kIrOpsetKey);
  layer.text.rt_info = MetadataOf(node, kIrRtInfoKey);
  for (const StringStringEntryProto& entry : node.metadata_props()) {
    const std::string_view key = entry.key();
    if (key.starts_with(kIrDataPrefix)) {
      const std::string name(key.substr(kIrDataPrefix.size()));
      if (!IsXmlName(name)) return std::nullopt;
      layer.text.data.emplace_back(name, entry.value());
    } else if (key == std::string(kIrInputPrefix) + std::to_string(layer.inputs.size())) {
      layer.inputs.push_back(entry.value());
      layer.constants.emplace_back();
    } else if (key == std::string(kIrConstPrefix) + std::to_string(layer.inputs.size())) {
      layer.constants.push_back(ConstantFromText(entry.value()));
      if (!layer.constants.back()) return std::nullopt;
      layer.inputs.push_back(layer.constants.back()->name());
    } else if (key == std::string(kIrOutputPrefix) + std::to_string(layer.outputs.size())) {
      layer.outputs.push_back(entry.value());
    }
  }
  if (layer.inputs.empty()) {
    layer.inputs.assign(node.input().begin(), node.input().end());
    layer.constants.resize(layer.inputs.size());
  }
  if (layer.outputs.empty()) layer.outputs.assign(node.output().begin(), node.output().end());
  return layer;
}

bool HasPortsOf(const IrLayerDef& def, const LayerOfNodes& layer) {
  const auto inputs = static_cast<int>(layer.inputs.size()), outputs = static_cast<int>(layer.outputs.size());
  return inputs >= def.min_inputs && (def.max_inputs < 0 || inputs <= def.max_inputs) && def.TakesOutputs(outputs);
}

}  // namespace

IrValue IrGraphWriter::KnownValue(const std::string& name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const TensorProto* tensor = ConstantOf(name);
  if (tensor == nullptr && !IsDefined(name) && outer_ != nullptr) return outer_->KnownValue(name);
  const IrType type = TypeOf(name);
  IrValue value{.name = name, .type = type.element, .rank = type.rank(), .constant = nullptr};
  if (tensor != nullptr) {
    known_constants_.push_back({*tensor});
    if (tensor->string_data().empty()) known_constants_.back().tensor.set_raw_data(ConstantBytes(*tensor));
    value.constant = &known_constants_.back();
  }
  known_.emplace(name, value);
  return value;
}

IrRef IrGraphWriter::ConstantPort(const TensorProto& tensor) {
  const std::string name = tensor.name();
  const auto same = [&](const TensorProto& other) {
    return other.data_type() == tensor.data_type() && other.dims() == tensor.dims() &&
           other.raw_data() == tensor.raw_data();
  };
  const auto [first, last] = hidden_constants_.equal_range(name);
  for (auto hidden = first; hidden != last; ++hidden)
    if (same(hidden->second.first)) return hidden->second.second;
  const IrRef port = AddConst(tensor);
  hidden_constants_.emplace(name, std::pair(tensor, port));
  return port;
}

int IrGraphWriter::RestoreLayer(int first) {
  const NodeProto& begin = graph_.node(first);
  std::string key(MetadataOf(begin, kIrLayerKey));
  if (key.empty() && !MetadataOf(begin, kIrTypeKey).empty()) key = OutputKey(begin);
  const int count = key.empty() ? 0 : CountNodes(graph_, first, key);
  const auto main = std::find_if(graph_.node().begin() + first, graph_.node().begin() + first + count,
                                 [](const NodeProto& node) { return !MetadataOf(node, kIrTypeKey).empty(); });
  if (main == graph_.node().begin() + first + count) return 0;
  std::optional<LayerOfNodes> layer = ReadMetadata(*main);
  const IrLayerDef* def = layer ? FindIrLayer(layer->text.type) : nullptr;
  if (def == nullptr || !HasPortsOf(*def, *layer) || def->lower == LowerReadValue || def->lower == LowerAssign)
    return 0;

  // Lowered with what is known of its inputs.
  const std::optional<Bytes> no_weights;
  IrModel model{.weights = no_weights, .names = {}, .dim_names = {}, .constants = {}, .unsupported = {}};
  GraphProto made;
  IrBuilder builder{.model = model, .graph = &made};
  std::deque<IrConstant> constants;
  std::deque<IrValue> inputs;
  std::vector<IrValue*> input_pointers;
  for (size_t i = 0; i < layer->inputs.size(); ++i) {
    if (layer->constants[i]) {
      const TensorProto& tensor = *layer->constants[i];
      constants.push_back({tensor});
      inputs.push_back({.name = tensor.name(),
                        .type = onnx_optim::DataTypeToTensorType(tensor.data_type()),
                        .rank = static_cast<int>(tensor.dims().size()),
                        .constant = &constants.back()});
    } else {
      inputs.push_back(KnownValue(layer->inputs[i]));
    }
    input_pointers.push_back(&inputs.back());
    (void)model.names.Unique(layer->inputs[i]);
  }
  std::vector<IrValue> outputs;
  for (const std::string& name : layer->outputs) outputs.push_back({.name = name});
  for (const std::string& name : layer->outputs) (void)model.names.Unique(name);
  // Ports show what is known of the inputs, as those that will be written.
  std::deque<IrType> types;
  for (const std::string& name : layer->inputs) {
    types.push_back(TypeOf(name));
    const size_t i = types.size() - 1;
    if (layer->constants[i]) {
      types.back() = IrType::Tensor(inputs[i].type, layer->constants[i]->dims());
    }
    layer->text.inputs.push_back({.layer = 0, .port = 0, .type = &types.back()});
  }
  for (const std::string& name : layer->outputs) layer->text.outputs.push_back({TypeOf(name), {name}});
  pugi::xml_document scratch;
  try {
    const IrLayer read = ReadIrLayer(AppendIrLayer(scratch, layer->text));
    IrLowering lowering(builder, read, input_pointers, outputs);
    def->lower(lowering);
  } catch (const Error&) {
    return 0;
  }
  if (made.node_size() != count) return 0;
  Renaming names(*this, model);
  for (const std::string& name : layer->inputs) names.Keep(name);
  for (const std::string& name : layer->outputs) names.Keep(name);
  for (int i = 0; i < count; ++i)
    if (!SameNode(made.node(i), graph_.node(first + i), names)) return 0;

  for (size_t i = 0; i < layer->inputs.size(); ++i)
    layer->text.inputs[i] = layer->constants[i] ? ConstantPort(*layer->constants[i]) : ValueOf(layer->inputs[i]);
  std::vector<IrRef> ports;
  xml_.Add(layer->text, &ports);
  for (size_t i = 0; i < ports.size(); ++i) {
    Define(layer->outputs[i], ports[i]);
    known_.insert_or_assign(layer->outputs[i], outputs[i]);
  }
  return count;
}

}  // namespace ONNX_LIGHT_NAMESPACE
