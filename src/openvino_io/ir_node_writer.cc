// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_node_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "onnxseq/errors.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
std::vector<int64_t> Widen(std::string_view bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<int64_t>(value);
  }
  return values;
}

}  // namespace

std::string IrNodeWriter::name() const {
  if (!node_.name().empty()) return node_.name();
  for (const auto& output : node_.output())
    if (!output.empty()) return output;
  return node_.op_type();
}

int64_t IrNodeWriter::opset() const {
  const std::string_view domain = node_.domain();
  const auto& opsets = graph_.writing().opsets;
  const auto found = opsets.find(domain == "ai.onnx" ? std::string_view() : domain);
  return found == opsets.end() ? 1 : found->second;
}

std::string IrNodeWriter::Subject(int i) const {
  return Has(i) ? fmt::format("input {} (\"{}\")", i, std::string_view(node_.input(i))) : fmt::format("input {}", i);
}

IrRef IrNodeWriter::In(int i) {
  inputs_.insert(i);
  if (!Has(i)) Refuse(Subject(i), "is required");
  if (const std::string_view kind = graph_.KindOf(node_.input(i)); !kind.empty())
    Refuse(Subject(i), fmt::format("is {}, IR has tensors only", kind));
  return graph_.ValueOf(node_.input(i));
}

int IrNodeWriter::Rank(int i) {
  const int rank = Type(i).rank();
  if (rank < 0) Refuse(Subject(i), "its rank must be known");
  return rank;
}

TensorType IrNodeWriter::Element(int i) {
  const TensorType type = Type(i).element;
  if (type == TensorType::kUndefined) Refuse(Subject(i), "its element type must be known");
  return type;
}

std::optional<TensorProto> IrNodeWriter::Constant(int i) {
  const TensorProto* tensor = Has(i) ? graph_.ConstantOf(node_.input(i)) : nullptr;
  if (tensor == nullptr) return std::nullopt;
  inputs_.insert(i);
  TensorProto constant;
  constant.set_name(tensor->name());
  constant.set_data_type(tensor->data_type());
  *constant.mutable_dims() = tensor->dims();
  constant.set_raw_data(ConstantBytes(*tensor));
  return constant;
}

std::optional<std::vector<int64_t>> IrNodeWriter::ConstantInts(int i) {
  const std::optional<TensorProto> tensor = Constant(i);
  if (!tensor) return std::nullopt;
  const std::string_view bytes = tensor->raw_data();
  if (tensor->data_type() == TensorProto::INT64) return Widen<int64_t>(bytes);
  if (tensor->data_type() == TensorProto::INT32) return Widen<int32_t>(bytes);
  if (tensor->data_type() == TensorProto::BOOL || tensor->data_type() == TensorProto::UINT8)
    return Widen<uint8_t>(bytes);
  if (tensor->data_type() == TensorProto::INT8) return Widen<int8_t>(bytes);
  if (tensor->data_type() == TensorProto::INT16) return Widen<int16_t>(bytes);
  if (tensor->data_type() == TensorProto::UINT16) return Widen<uint16_t>(bytes);
  if (tensor->data_type() == TensorProto::UINT32) return Widen<uint32_t>(bytes);
  if (tensor->data_type() == TensorProto::UINT64) return Widen<uint64_t>(bytes);
  return std::nullopt;
}

std::optional<double> IrNodeWriter::ConstantFloat(int i) {
  const std::optional<TensorProto> tensor = Constant(i);
  if (!tensor) return std::nullopt;
  return OneFloat(onnx_optim::DataTypeToTensorType(tensor->data_type()), tensor->raw_data());
}

IrType IrNodeWriter::OutputType(int i) const {
  if (!Gives(i)) return {};
  const std::string subject = fmt::format("output {} (\"{}\")", i, std::string_view(node_.output(i)));
  if (const std::string_view kind = graph_.KindOf(node_.output(i)); !kind.empty())
    Refuse(subject, fmt::format("is {}, IR has tensors only", kind));
  IrType type = graph_.TypeOf(node_.output(i));
  if (type.element == TensorType::kUndefined) Refuse(subject, "its element type must be known");
  if (IrElementName(type.element).empty())
    Refuse(subject, fmt::format("IR has no element type {}", onnx_optim::TensorTypeName(type.element)));
  return type;
}

const AttributeProto* IrNodeWriter::Attribute(std::string_view name) {
  attributes_.emplace(name);
  const auto found =
      std::ranges::find(node_.attribute(), name, [](const auto& a) { return std::string_view(a.name()); });
  return found == node_.attribute().end() ? nullptr : &*found;
}
int64_t IrNodeWriter::Int(std::string_view name, int64_t absent) {
  const AttributeProto* attribute = Attribute(name);
  return attribute == nullptr ? absent : attribute->i();
}
float IrNodeWriter::Float(std::string_view name, float absent) {
  const AttributeProto* attribute = Attribute(name);
  return attribute == nullptr ? absent : attribute->f();
}
std::string IrNodeWriter::String(std::string_view name, std::string_view absent) {
  const AttributeProto* attribute = Attribute(name);
  return attribute == nullptr ? std::string(absent) : attribute->s().as_string();
}
std::vector<int64_t> IrNodeWriter::Ints(std::string_view name) {
  const AttributeProto* attribute = Attribute(name);
  return attribute == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(attribute->ints());
}
std::vector<int64_t> IrNodeWriter::IntsOr(std::string_view name, size_t count, int64_t absent) {
  std::vector<int64_t> values = Ints(name);
  if (values.empty()) values.assign(count, absent);
  if (values.size() != count) RefuseAttribute(name, fmt::format("must have {} elements, got {}", count, values.size()));
  return values;
}
std::vector<float> IrNodeWriter::Floats(std::string_view name) {
  const AttributeProto* attribute = Attribute(name);
  return attribute == nullptr ? std::vector<float>() : std::vector<float>(attribute->floats());
}
std::vector<std::string> IrNodeWriter::Strings(std::string_view name) {
  std::vector<std::string> values;
  if (const AttributeProto* attribute = Attribute(name))
    for (const Bytes& value : attribute->strings()) values.push_back(value);
  return values;
}

IrRef IrNodeWriter::Const(std::string_view hint, TensorType type, std::vector<int64_t> dims, Bytes bytes) {
  TensorProto tensor;
  tensor.set_name(fmt::format("{}/{}", name(), hint));
  tensor.set_data_type(onnx_optim::TensorTypeToDataType(type));
  for (const int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(std::move(bytes));
  return graph_.AddConst(tensor);
}
IrRef IrNodeWriter::Int64s(std::string_view hint, std::span<const int64_t> values) {
  return Const(hint, TensorType::kInt64, {static_cast<int64_t>(values.size())},
               Bytes(values.data(), values.size_bytes()));
}
IrRef IrNodeWriter::Int64(std::string_view hint, int64_t value) {
  return Const(hint, TensorType::kInt64, {}, Bytes(&value, sizeof(value)));
}
IrRef IrNodeWriter::Scalar(std::string_view hint, TensorType type, double value) {
  const auto bytes = ScalarBytes(type, value);
  if (!bytes) Refuse("", fmt::format("{} is no type of numbers", onnx_optim::TensorTypeName(type)));
  return Const(hint, type, {}, *bytes);
}

IrRef IrNodeWriter::Step(std::string_view hint, std::string_view type, std::string_view version,
                         std::vector<IrRef> inputs, IrData data, IrType output) {
  return Steps(hint, type, version, std::move(inputs), std::move(data), {std::move(output)}).front();
}

std::vector<IrRef> IrNodeWriter::Steps(std::string_view hint, std::string_view type, std::string_view version,
                                       std::vector<IrRef> inputs, IrData data, const std::vector<IrType>& outputs) {
  IrLayerText layer{.name = fmt::format("{}/{}", name(), hint),
                    .type = std::string(type),
                    .version = std::string(version),
                    .data = std::move(data),
                    .inputs = std::move(inputs),
                    .outputs = {},
                    .rt_info = {}};
  for (const IrType& output : outputs) layer.outputs.push_back({output, {}});
  std::vector<IrRef> ports;
  graph_.xml().Add(layer, &ports);
  return ports;
}

void IrNodeWriter::Finish(std::string_view type, std::string_view version, std::vector<IrRef> inputs, IrData data,
                          int outputs) {
  IrLayerText layer{.name = name(),
                    .type = std::string(type),
                    .version = std::string(version),
                    .data = std::move(data),
                    .inputs = std::move(inputs),
                    .outputs = {},
                    .rt_info = {}};
  for (int i = 0; i < outputs; ++i) {
    layer.outputs.push_back({OutputType(i), {}});
    if (Gives(i)) layer.outputs.back().names.push_back(node_.output(i));
  }
  std::vector<IrRef> ports;
  graph_.xml().Add(layer, &ports);
  for (int i = 0; i < outputs; ++i)
    if (Gives(i)) Define(i, ports[static_cast<size_t>(i)]);
}

void IrNodeWriter::FinishOutput(int i, std::string_view type, std::string_view version, std::vector<IrRef> inputs,
                                IrData data) {
  IrLayerText layer{.name = i == 0 ? name() : fmt::format("{}.{}", name(), i),
                    .type = std::string(type),
                    .version = std::string(version),
                    .data = std::move(data),
                    .inputs = std::move(inputs),
                    .outputs = {{OutputType(i), {node_.output(i)}}},
                    .rt_info = {}};
  std::vector<IrRef> ports;
  graph_.xml().Add(layer, &ports);
  Define(i, ports.front());
}

IrRef IrNodeWriter::Converted(const IrRef& value, TensorType type) {
  if (value.type->element == type) return value;
  return Step("convert", "Convert", "opset1", {value}, {{"destination_type", std::string(IrElementName(type))}},
              {.element = type, .ranked = value.type->ranked, .dims = value.type->dims});
}

std::optional<std::vector<int64_t>> IrNodeWriter::ListInts(int i, std::string_view attribute) {
  if (Attribute(attribute) != nullptr) return Ints(attribute);
  return ConstantInts(i);
}
IrRef IrNodeWriter::List(int i, std::string_view attribute) {
  return Attribute(attribute) != nullptr ? Int64s(attribute, Ints(attribute)) : In(i);
}

int64_t IrNodeWriter::Axis(int64_t axis, const IrType& of) const {
  // Flatten may name the end.
  if (of.ranked && (axis < -of.rank() || axis > of.rank()))
    Refuse("attribute 'axis'", fmt::format("{} is no axis of rank {}", axis, of.rank()));
  if (axis >= 0) return axis;
  if (!of.ranked) Refuse("attribute 'axis'", "counts from the end of a rank that is not known");
  return axis + of.rank();
}

IrRef IrNodeWriter::Transposed(const IrRef& value, std::span<const int64_t> order) {
  IrType type = *value.type;
  if (type.rank() == static_cast<int>(order.size()))
    for (size_t i = 0; i < order.size(); ++i) type.dims[i] = value.type->dims[static_cast<size_t>(order[i])];
  return Step("transposed", "Transpose", "opset1", {value, Int64s("order", order)}, {}, type);
}

IrRef IrNodeWriter::Reshaped(const IrRef& value, std::span<const int64_t> shape) {
  return Step("reshaped", "Reshape", "opset1", {value, Int64s("shape", shape)}, {{"special_zero", "false"}},
              IrType::Tensor(value.type->element, {shape.begin(), shape.end()}));
}

IrRef IrNodeWriter::ShapeOf(const IrRef& value) {
  return Step("shape", "ShapeOf", "opset3", {value}, {{"output_type", "i64"}},
              IrType::Tensor(TensorType::kInt64, {value.type->rank()}));
}

IrRef IrNodeWriter::SizeAt(const IrRef& shape, int64_t axis, bool as_vector) {
  const IrRef at = as_vector ? Int64s("at", {axis}) : Int64("at", axis);
  return Step("size", "Gather", "opset8", {shape, at, Int64("axis", 0)}, {{"batch_dims", "0"}},
              IrType::Tensor(TensorType::kInt64, at.type->dims));
}

void IrNodeWriter::Refuse(const std::string& subject, const std::string& reason) const {
  throw Unsupported(reason, {.op_type = node_.op_type(), .node_name = node_.name(), .subject = subject, .path = {}});
}
void IrNodeWriter::RefuseAttribute(std::string_view name, const std::string& reason) const {
  Refuse(fmt::format("attribute '{}'", name), reason);
}
void IrNodeWriter::NeedLower(const std::string& subject, const std::string& reason) const {
  if (!lower()) Refuse(subject, reason + "; lowering writes it as other layers");
}

void IrNodeWriter::CheckAllUsed() const {
  for (const AttributeProto& attribute : node_.attribute())
    if (!attributes_.contains(std::string_view(attribute.name())))
      RefuseAttribute(attribute.name(), "no attribute of the layer says this");
  for (int i = 0; i < node_.input_size(); ++i)
    if (!node_.input(i).empty() && !inputs_.contains(i)) Refuse(Subject(i), "no input of the layer takes it");
  for (int i = 0; i < node_.output_size(); ++i) {
    if (Gives(i) && !graph_.IsDefined(node_.output(i)) && graph_.ConstantOf(node_.output(i)) == nullptr &&
        graph_.IsUsed(node_.output(i)))
      Refuse(fmt::format("output {} (\"{}\")", i, std::string_view(node_.output(i))),
             "no output of the layer gives it");
  }
}

void WriteNode(IrGraphWriter& graph, const NodeProto& node) {
  IrNodeWriter writer(graph, node);
  const IrWriteDef* def = FindIrWriter(node.domain(), node.op_type(), writer.opset());
  if (def == nullptr) {
    writer.Refuse("", node.domain().empty()
                          ? "IR has no layer for it"
                          : fmt::format("IR has no layer for it (domain {})", std::string_view(node.domain())));
  }
  def->write(writer);
  writer.CheckAllUsed();
}

}  // namespace ONNX_LIGHT_NAMESPACE
