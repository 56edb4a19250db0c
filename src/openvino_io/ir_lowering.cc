// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
std::optional<std::vector<int64_t>> ReadInts(std::string_view bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    }
    values[i] = static_cast<int64_t>(value);
  }
  return values;
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// A name that an expression may mention: other characters become '_'.
std::string Identifier(std::string_view text) {
  if (IsIdentifier(text)) return std::string(text);
  std::string name(text);
  for (char& c : name) {
    if (!IsIdentifier(std::string_view(&c, 1)) && !(c >= '0' && c <= '9')) c = '_';
  }
  return IsIdentifier(name) ? name : "_" + name;
}

}  // namespace

std::string DimName(std::string_view value, size_t axis) { return fmt::format("{}_{}", Identifier(value), axis); }

std::optional<double> OneFloat(TensorType type, std::string_view bytes) {
  const auto read = [&]<class T>(T value) -> std::optional<double> {
    if (bytes.size() != sizeof(T)) return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof(T));
    if constexpr (std::is_same_v<T, double>) return value;
    return static_cast<double>(static_cast<float>(value));
  };
  switch (type) {
    case TensorType::kFloat:
      return read(float{});
    case TensorType::kDouble:
      return read(double{});
    case TensorType::kFloat16:
      return read(Float16());
    case TensorType::kBfloat16:
      return read(BFloat16());
    default:
      return std::nullopt;
  }
}

std::optional<Bytes> ScalarBytes(TensorType type, double value) {
  const auto bytes = [](auto element) { return Bytes(&element, sizeof(element)); };
  switch (type) {
    case TensorType::kFloat:
      return bytes(static_cast<float>(value));
    case TensorType::kDouble:
      return bytes(value);
    case TensorType::kFloat16:
      return bytes(Float16(value));
    case TensorType::kBfloat16:
      return bytes(BFloat16(static_cast<float>(value)));
    case TensorType::kInt64:
      return bytes(static_cast<int64_t>(value));
    case TensorType::kInt32:
      return bytes(static_cast<int32_t>(value));
    case TensorType::kInt16:
      return bytes(static_cast<int16_t>(value));
    case TensorType::kInt8:
      return bytes(static_cast<int8_t>(value));
    case TensorType::kUint64:
      return bytes(static_cast<uint64_t>(value));
    case TensorType::kUint32:
      return bytes(static_cast<uint32_t>(value));
    case TensorType::kUint16:
      return bytes(static_cast<uint16_t>(value));
    case TensorType::kUint8:
      return bytes(static_cast<uint8_t>(value));
    default:
      return std::nullopt;
  }
}

std::string IrNames::Unique(std::string_view wanted) {
  std::string name(wanted.empty() ? "value" : wanted);
  const auto [first, is_new] = next_.emplace(name, 1);
  if (is_new) return name;
  // Later askers for the same name go on counting where this one stops.
  int64_t number = first->second;
  std::string numbered;
  do {
    numbered = fmt::format("{}_{}", name, number++);
  } while (next_.contains(numbered));
  first->second = number;
  next_.emplace(numbered, 1);
  return numbered;
}

std::string IrLowering::Use(int i) {
  if (inputs_[i]->constant != nullptr) inputs_[i]->constant->used = true;
  return inputs_[i]->name;
}

int IrLowering::RankOf(int i) const {
  if (inputs_[i]->rank >= 0) return inputs_[i]->rank;
  return layer_->inputs[i].dims.empty() ? -1 : static_cast<int>(layer_->inputs[i].dims.size());
}

int IrLowering::KnownRank(int i, std::string_view purpose) const {
  const int rank = RankOf(i);
  if (rank < 0) Refuse(fmt::format("the rank of input {} must be known {}", i, purpose));
  return rank;
}

TensorType IrLowering::KnownType(int i) const {
  if (inputs_[i]->type == TensorType::kUndefined) Refuse(fmt::format("the element type of input {} must be known", i));
  return inputs_[i]->type;
}

std::vector<int64_t> IrLowering::DimsOf(int i) const {
  if (inputs_[i]->constant == nullptr) return layer_->inputs[i].dims;
  const auto& dims = inputs_[i]->constant->tensor.dims();
  return {dims.begin(), dims.end()};
}

float IrLowering::ConstantFloat(int i, std::string_view what) const {
  const IrConstant* constant = inputs_[i]->constant;
  const auto value =
      constant == nullptr ? std::nullopt : OneFloat(inputs_[i]->type, constant->tensor.raw_data().view());
  const float narrow = static_cast<float>(value.value_or(0));
  if (!value || static_cast<double>(narrow) != *value)
    Refuse(fmt::format("{} must be a constant of one element that float32 holds", what));
  return narrow;
}

std::optional<std::vector<int64_t>> IrLowering::ConstantInts(int i) const {
  if (inputs_[i]->constant == nullptr) return std::nullopt;
  const std::string_view bytes = inputs_[i]->constant->tensor.raw_data().view();
  // Axes, lengths and patterns are small; many layers that share something large must not each copy it.
  constexpr size_t kMaxBytes = size_t{1} << 16;
  if (bytes.size() > kMaxBytes) return std::nullopt;
  switch (inputs_[i]->type) {
    case TensorType::kInt64:
      return ReadInts<int64_t>(bytes);
    case TensorType::kInt32:
      return ReadInts<int32_t>(bytes);
    case TensorType::kInt16:
      return ReadInts<int16_t>(bytes);
    case TensorType::kInt8:
      return ReadInts<int8_t>(bytes);
    case TensorType::kUint64:
      return ReadInts<uint64_t>(bytes);
    case TensorType::kUint32:
      return ReadInts<uint32_t>(bytes);
    case TensorType::kUint16:
      return ReadInts<uint16_t>(bytes);
    case TensorType::kUint8:
    case TensorType::kBool:
      return ReadInts<uint8_t>(bytes);
    default:
      return std::nullopt;
  }
}

int64_t IrLowering::ConstantInt(int i, std::string_view what) const {
  const auto values = ConstantInts(i);
  if (!values) Refuse(fmt::format("{} must be a constant integer", what));
  if (values->size() != 1) layer_->Fail(what, fmt::format("must be one integer, got {}", values->size()));
  return values->front();
}

std::string IrLowering::Int64(int i, bool as_vector) {
  if (inputs_[i]->type == TensorType::kInt64 && (!as_vector || inputs_[i]->rank == 1)) return Use(i);
  if (const auto values = ConstantInts(i)) {
    const std::string name = Int64Constant(inputs_[i]->name, *values);
    if (!as_vector) *builder_->model.constants.back()->tensor.mutable_dims() = inputs_[i]->constant->tensor.dims();
    return name;
  }
  std::string name = Use(i);
  if (inputs_[i]->type != TensorType::kInt64) {
    std::string cast = Temporary("int64");
    SetInt(Node("Cast", {name}, {cast}), "to", TensorProto::INT64);
    name = std::move(cast);
  }
  if (as_vector && inputs_[i]->rank != 1) {
    std::string vector = Temporary("vector");
    constexpr int64_t kAll[] = {-1};
    Node("Reshape", {name, Int64Constant("all", kAll)}, {vector});
    name = std::move(vector);
  }
  return name;
}

std::string IrLowering::Int64Constant(std::string_view hint, std::span<const int64_t> values) {
  auto constant = std::make_unique<IrConstant>();
  constant->used = true;
  TensorProto& tensor = constant->tensor;
  tensor.set_name(builder_->model.names.Unique(hint));
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  tensor.set_raw_data(Bytes(values.data(), values.size_bytes()));
  builder_->model.constants.push_back(std::move(constant));
  return tensor.name();
}

std::string IrLowering::ScalarConstant(std::string_view hint, TensorType type, double value) {
  const std::optional<Bytes> bytes = ScalarBytes(type, value);
  if (!bytes) Refuse(fmt::format("{} is no type of numbers it reads", onnx_optim::TensorTypeName(type)));
  auto constant = std::make_unique<IrConstant>();
  constant->used = true;
  TensorProto& tensor = constant->tensor;
  tensor.set_name(builder_->model.names.Unique(hint));
  tensor.set_data_type(onnx_optim::TensorTypeToDataType(type));
  tensor.set_raw_data(*bytes);
  builder_->model.constants.push_back(std::move(constant));
  return tensor.name();
}

std::string IrLowering::Temporary(std::string_view hint) {
  return builder_->model.names.Unique(fmt::format("{}/{}", layer_->name, hint));
}

NodeProto& IrLowering::Node(std::string_view op_type, std::vector<std::string> inputs,
                            std::vector<std::string> outputs) {
  NodeProto& node = *builder_->graph->add_node();
  node.set_op_type(std::string(op_type));
  const bool is_main = outputs_.empty() || std::ranges::find(outputs, outputs_.front().name) != outputs.end();
  node.set_name(is_main ? layer_->name : outputs.front());
  for (std::string& name : inputs) node.add_input(std::move(name));
  for (std::string& name : outputs) node.add_output(std::move(name));
  return node;
}

NodeProto& IrLowering::DirectNode(std::string_view op_type) {
  std::vector<std::string> inputs, outputs;
  for (int i = 0; i < input_size(); ++i) inputs.push_back(Use(i));
  for (const IrValue& value : outputs_) outputs.push_back(value.name);
  return Node(op_type, std::move(inputs), std::move(outputs));
}

std::string IrLowering::Apply(std::string_view op_type, std::vector<std::string> inputs) {
  std::string hint(op_type);
  for (char& c : hint) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::string output = Temporary(hint);
  Node(op_type, std::move(inputs), {output});
  return output;
}

std::string IrLowering::Along(std::string_view op_type, std::vector<std::string> inputs, int64_t axis) {
  std::string output = Apply(op_type, std::move(inputs));
  SetInt(*builder_->graph->mutable_node(builder_->graph->node_size() - 1), "axis", axis);
  return output;
}

std::string IrLowering::Transposed(const std::string& value, std::span<const int64_t> perm) {
  std::string output = Temporary("transposed");
  SetInts(Node("Transpose", {value}, {output}), "perm", perm);
  return output;
}

std::string IrLowering::AxisSize(const std::string& value, int64_t axis) {
  std::string size = Temporary("size");
  NodeProto& node = Node("Shape", {value}, {size});
  SetInt(node, "start", axis);
  if (axis != -1) SetInt(node, "end", axis + 1);
  return size;
}

std::string IrLowering::CountTo(const std::string& size) {
  const std::string limit = Apply("Squeeze", {size, Int64Constant("axis", {0})});
  return Apply("Range",
               {ScalarConstant("zero", TensorType::kInt64, 0), limit, ScalarConstant("one", TensorType::kInt64, 1)});
}

std::string IrLowering::CastTo(std::string value, TensorType type) {
  std::string output = Temporary("cast");
  SetInt(Node("Cast", {std::move(value)}, {output}), "to", onnx_optim::TensorTypeToDataType(type));
  return output;
}

NodeProto& IrLowering::Finish(std::string_view op_type, std::vector<std::string> inputs) {
  return Node(op_type, std::move(inputs), {output(0).name});
}

std::string IrLowering::IndicesName(int i, const char* attribute, TensorType absent) {
  output(i).type = attrs().Has(attribute) ? attrs().ElementType(attribute) : absent;
  if (output(i).type == TensorType::kInt64) return output(i).name;
  if (output(i).type != TensorType::kInt32)
    layer().Fail(fmt::format("attribute '{}'", attribute), "must be i64 or i32");
  return Temporary("int64");
}

void IrLowering::FinishIndices(const std::string& name, int i) {
  if (name != output(i).name) SetInt(Node("Cast", {name}, {output(i).name}), "to", TensorProto::INT32);
}

void IrLowering::TakeLast(const std::string& value, const std::string& output) {
  constexpr int64_t kLast[] = {-1}, kFirst[] = {0};
  const std::string one = Temporary("last");
  SetInt(Node("Gather", {value, Int64Constant("last", kLast)}, {one}), "axis", 0);
  Node("Squeeze", {one, Int64Constant("axis", kFirst)}, {output});
}

void IrLowering::SameAs(int i) {
  output(0).type = input(i).type;
  output(0).rank = input(i).rank;
}

void IrLowering::Refuse(const std::string& reason) const { throw Unsupported(reason); }

}  // namespace ONNX_LIGHT_NAMESPACE
