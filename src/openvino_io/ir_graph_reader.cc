// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_metadata.h"

namespace ONNX_LIGHT_NAMESPACE {
void IrGraphReader::CheckPorts() {
  for (const IrLayer& layer : graph_.layers) {
    const bool is_source = layer.type == "Parameter" || layer.type == "Const", is_result = layer.type == "Result";
    const IrLayerDef* def = FindIrLayer(layer.type);
    const auto inputs = static_cast<int>(layer.inputs.size()), outputs = static_cast<int>(layer.outputs.size());
    // Reported as not supported; ends of the graph are looked at whatever operator set they name.
    if (!is_source && !is_result && (layer.opset < 0 || def == nullptr)) continue;
    const int least = is_source   ? 0
                      : is_result ? 1
                                  : def->min_inputs,
              most = is_source   ? 0
                     : is_result ? 1
                                 : def->max_inputs;
    if (inputs < least || (most >= 0 && inputs > most)) {
      layer.Fail("", most < 0        ? fmt::format("must have at least {} inputs, got {}", least, inputs)
                     : least == most ? fmt::format("must have {} inputs, got {}", least, inputs)
                                     : fmt::format("must have {} to {} inputs, got {}", least, most, inputs));
    }
    // A Result may show an output port; nothing can come of it.
    if (is_result) continue;
    const int expected = is_source ? 1 : def->outputs;
    if (is_source ? outputs != 1 : !def->TakesOutputs(outputs)) {
      layer.Fail("", fmt::format("must have {} outputs, got {}",
                                 expected < 0 ? std::string("at least 1") : std::to_string(expected), outputs));
    }
  }
}

// What a value is called when no tensor name says.
std::string IrGraphReader::DefaultName(const IrSource& source) const {
  const IrLayer& layer = Layer(source.layer);
  return layer.outputs.size() == 1 ? layer.name : fmt::format("{}.{}", layer.name, source.output);
}
std::string IrGraphReader::WantedName(const IrSource& source) const {
  const std::vector<std::string>& names = Layer(source.layer).outputs[static_cast<size_t>(source.output)].names;
  return names.empty() ? DefaultName(source) : names.front();
}
std::string IrGraphReader::WantedResultName(const IrLayer& result) const {
  const std::string_view names = result.node.attribute("output_names").value();
  const std::string_view first = names.substr(0, names.find(','));
  return first.empty() ? WantedName(result.sources.front()) : std::string(first);
}

void IrGraphReader::NameParameters(const ParameterValue& value_of) {
  values_.resize(graph_.layers.size());
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    values_[i].resize(graph_.layers[i].outputs.size());
    if (graph_.layers[i].type == "Parameter") values_[i][0] = value_of(static_cast<int>(i));
  }
}

void IrGraphReader::NameResults() {
  std::set<std::string> inputs;  // that are outputs under their own name
  for (const IrLayer& layer : graph_.layers) {
    if (layer.type != "Result") continue;
    const IrSource source = layer.sources.front();
    const std::string wanted = WantedResultName(layer);
    if (Layer(source.layer).type == "Parameter" && ValueAt(source).name == wanted && inputs.insert(wanted).second) {
      result_names_.push_back(wanted);
      continue;
    }
    const std::string name = builder_.model.names.Unique(wanted);
    result_names_.push_back(name);
    // An input or initializer cannot be renamed to an output, nor a value have two names: these get an Identity.
    if (ValueAt(source).name.empty() && Layer(source.layer).type != "Const") ValueAt(source).name = name;
  }
}

void IrGraphReader::NameOthers() {
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    for (size_t k = 0; k < values_[i].size(); ++k) {
      const IrSource source{static_cast<int>(i), static_cast<int>(k)};
      if (values_[i][k].name.empty()) values_[i][k].name = builder_.model.names.Unique(WantedName(source));
    }
  }
}

// Inputs of the model have the first choice of names, then its outputs.
void IrGraphReader::ReadModel() {
  CheckPorts();
  NameParameters([&](int i) {
    IrValue value;
    value.name = builder_.model.names.Unique(WantedName(IrSource{i, 0}));
    return value;
  });
  NameResults();
  NameOthers();
  // Parameters are listed in file order, whatever order the layers are read in.
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    if (graph_.layers[i].type == "Parameter") Collect(graph_.layers[i], [&] { ReadParameter(static_cast<int>(i)); });
  }
  for (const int index : graph_.order) ReadLayer(index);
  // What variables become stands behind the results.
  RepeatedMessages<ValueInfoProto> states;
  states.swap(builder_.graph->output());
  WriteResults();
  for (ValueInfoProto& state : states) *builder_.graph->add_output() = std::move(state);
}

void IrGraphReader::ReadBody(const ParameterValue& value_of) {
  CheckPorts();
  NameParameters(value_of);
  NameOthers();
  for (const int index : graph_.order) ReadLayer(index);
}

template <class Fn>
void IrGraphReader::Collect(const IrLayer& layer, Fn&& fn) {
  try {
    fn();
  } catch (const Unsupported& error) {
    const std::string reason = error.fact().empty() ? "" : ": " + error.fact();
    builder_.model.unsupported.push_back(fmt::format("layer {} {} ({}, {}){}", layer.id, QuoteForMessage(layer.name),
                                                     layer.type, layer.version, reason));
  }
}

void IrGraphReader::ReadLayer(int index) {
  const IrLayer& layer = Layer(index);
  if (layer.type == "Parameter" || layer.type == "Result") return;
  Collect(layer, [&] {
    if (layer.opset < 0) throw Unsupported(fmt::format("operator set {} is not known", QuoteForMessage(layer.version)));
    if (layer.type == "Const") return ReadConst(index);
    const IrLayerDef* def = FindIrLayer(layer.type);
    if (def == nullptr) throw Unsupported("");
    std::vector<IrValue*> inputs;
    for (const IrSource& source : layer.sources) inputs.push_back(&ValueAt(source));
    IrLowering lowering(builder_, layer, inputs, values_[static_cast<size_t>(index)]);
    const int first = builder_.graph->node_size();
    def->lower(lowering);
    DescribeLayer(layer, inputs, values_[static_cast<size_t>(index)], *builder_.graph, first);
  });
}

void IrGraphReader::ReadParameter(int index) {
  const IrLayer& layer = Layer(index);
  IrValue& value = values_[static_cast<size_t>(index)][0];
  const IrAttributes attrs(layer);
  value.type = attrs.ElementType("element_type");
  if (value.type == TensorType::kUndefined) {
    throw Unsupported(fmt::format("element type {} has no ONNX type", QuoteForMessage(attrs.String("element_type"))));
  }
  ValueInfoProto& info = *builder_.graph->add_input();
  info.set_name(value.name);
  TypeProto_Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_optim::TensorTypeToDataType(value.type));
  const auto dims = attrs.PartialShape("shape");
  if (!dims) return;
  value.rank = static_cast<int>(dims->size());
  TensorShapeProto& shape = *type.mutable_shape();
  bool bounded = false;
  for (size_t axis = 0; axis < dims->size(); ++axis) {
    const IrDim& dim = (*dims)[axis];
    TensorShapeProto_Dimension& written = *shape.add_dim();
    if (dim.fixed()) {
      written.set_dim_value(dim.min);
    } else {
      written.set_dim_param(builder_.model.dim_names.Unique(DimName(value.name, axis)));
      bounded |= dim.min > 0 || dim.max >= 0;
    }
  }
  if (bounded) AddMetadata(info, kIrShapeKey, attrs.String("shape"));
  const std::string rt_info = InnerXml(layer.node.child("output").child("port").child("rt_info"));
  if (!rt_info.empty()) AddMetadata(info, kIrRtInfoKey, rt_info);
}

void IrGraphReader::ReadConst(int index) {
  const IrLayer& layer = Layer(index);
  IrValue& value = values_[static_cast<size_t>(index)][0];
  const IrAttributes attrs(layer);
  value.type = attrs.ElementType("element_type");
  if (value.type == TensorType::kUndefined) {
    throw Unsupported(fmt::format("element type {} has no ONNX type", QuoteForMessage(attrs.String("element_type"))));
  }
  const std::vector<int64_t> dims = attrs.FixedShape("shape");
  const int64_t offset = attrs.Int("offset"), size = attrs.Int("size");
  if (offset < 0) layer.Fail("attribute 'offset'", fmt::format("must be >= 0, got {}", offset));
  if (size < 0) layer.Fail("attribute 'size'", fmt::format("must be >= 0, got {}", size));
  if (!weights()) layer.Fail("", "is a Const, and there is no file with weights (.bin)");
  const auto end = CheckedAdd(offset, size);
  const auto available = static_cast<int64_t>(weights()->size());
  if (!end || *end > available) {
    layer.Fail("", fmt::format("needs bytes {} to {} of the weights, which have {}", offset,
                               end ? std::to_string(*end) : "beyond 2^63", available));
  }
  const std::string_view bytes = weights()->view().substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  const auto count = CheckedProduct(dims);
  if (!count)
    layer.Fail("attribute 'shape'", fmt::format("{} has too many elements", QuoteForMessage(attrs.String("shape"))));
  value.rank = static_cast<int>(dims.size());
  builder_.model.constants.push_back(std::make_unique<IrConstant>());
  value.constant = builder_.model.constants.back().get();
  TensorProto& tensor = value.constant->tensor;
  tensor.set_name(value.name);
  tensor.set_data_type(onnx_optim::TensorTypeToDataType(value.type));
  for (const int64_t dim : dims) tensor.add_dims(dim);
  if (value.type == TensorType::kString) return ReadStrings(layer, bytes, *count, tensor);
  const auto bits = CheckedMul(*count, onnx_optim::BitsOf(value.type));
  if (!bits || (*bits + 7) / 8 > size) {
    layer.Fail("attribute 'size'", fmt::format("is {}, {} of shape {} takes {} bytes", size,
                                               attrs.String("element_type"), QuoteForMessage(attrs.String("shape")),
                                               bits ? std::to_string((*bits + 7) / 8) : "over 2^60"));
  }
  tensor.set_raw_data(Bytes::Shared(bytes.substr(0, static_cast<size_t>((*bits + 7) / 8)), weights()->owner()));
}

// Packed as: the number of strings, where the first begins, where each ends (all int32), the characters.
void IrGraphReader::ReadStrings(const IrLayer& layer, std::string_view bytes, int64_t count, TensorProto& tensor) {
  const auto number = [&](size_t i) {
    int32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    return static_cast<int64_t>(value);
  };
  if (count == 0) return;
  const auto header = static_cast<int64_t>(bytes.size() / sizeof(int32_t)) - 2;
  if (header < count || number(0) != count) {
    layer.Fail("", fmt::format("must hold {} strings, its {} bytes say {}", count, bytes.size(),
                               bytes.size() < 4 ? 0 : number(0)));
  }
  const std::string_view text = bytes.substr(static_cast<size_t>(count + 2) * sizeof(int32_t));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = number(static_cast<size_t>(i) + 1), end = number(static_cast<size_t>(i) + 2);
    if (begin < 0 || end < begin || end > static_cast<int64_t>(text.size())) {
      layer.Fail("", fmt::format("string {} lies at {} to {} of {} bytes", i, begin, end, text.size()));
    }
    tensor.add_string_data(
        Bytes(std::string(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)))));
  }
}

void IrGraphReader::WriteResults() {
  size_t next = 0;
  for (const IrLayer& layer : graph_.layers) {
    if (layer.type != "Result") continue;
    const std::string& name = result_names_[next++];
    IrValue& source = ValueAt(layer.sources.front());
    if (source.name != name) {
      IrValue renamed{.name = name, .type = source.type, .rank = source.rank, .constant = nullptr};
      IrLowering lowering(builder_, layer, {&source}, {&renamed, 1});
      NodeProto& node = lowering.DirectNode("Identity");
      node.set_name(name);  // a Result is written with the name of its output
      AddMetadata(node, kIrTypeKey, layer.type);
    }
    ValueInfoProto& info = *builder_.graph->add_output();
    info.set_name(name);
    if (source.type != TensorType::kUndefined) {
      TypeProto_Tensor& type = *info.mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx_optim::TensorTypeToDataType(source.type));
      if (source.rank >= 0) (void)type.mutable_shape();
      for (int axis = 0; axis < source.rank; ++axis) (void)type.mutable_shape()->add_dim();
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
