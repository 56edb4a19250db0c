// SPDX-License-Identifier: Apache-2.0
// From one node to the layers that say the same.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openvino_io/ir_graph_writer.h"

namespace ONNX_LIGHT_NAMESPACE {

// What a writing function sees of one node. It must define every output that has a name, and look at every attribute
// and input: what it has not asked for is not in the layers, so that the node is refused.
class IrNodeWriter {
 public:
  IrNodeWriter(IrGraphWriter& graph, const NodeProto& node) : graph_(graph), node_(node) {}

  IrGraphWriter& graph() { return graph_; }
  const NodeProto& node() const { return node_; }
  std::string name() const;
  // The version of the node's operator set in the model.
  int64_t opset() const;
  bool lower() const { return graph_.writing().lower; }

  int input_size() const { return node_.input_size(); }
  // The node has input i, and it is not left out.
  bool Has(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  IrRef In(int i);
  IrType Type(int i) const { return graph_.TypeOf(node_.input(i)); }
  // Of input i, or refuses the node.
  int Rank(int i);
  TensorType Element(int i);
  // The numbers of a constant integer tensor.
  std::optional<std::vector<int64_t>> ConstantInts(int i);
  // The number of a constant float tensor of one element.
  std::optional<double> ConstantFloat(int i);
  // The tensor of a constant input, with raw_data; null when it is not constant. Does not make it a layer.
  std::optional<TensorProto> Constant(int i);

  // Input i is looked at, though no layer takes it.
  void MarkUsed(int i) { inputs_.insert(i); }

  int output_size() const { return node_.output_size(); }
  bool Gives(int i) const { return i < node_.output_size() && !node_.output(i).empty(); }
  IrType OutputType(int i) const;
  void Define(int i, const IrRef& port) { graph_.Define(node_.output(i), port); }
  void Alias(int i, const IrRef& port) { graph_.Alias(node_.output(i), port); }

  const AttributeProto* Attribute(std::string_view name);
  int64_t Int(std::string_view name, int64_t absent);
  float Float(std::string_view name, float absent);
  std::string String(std::string_view name, std::string_view absent);
  std::vector<int64_t> Ints(std::string_view name);  // empty when absent
  // `count` of them, `absent` each when there are none; refuses the node for another number.
  std::vector<int64_t> IntsOr(std::string_view name, size_t count, int64_t absent);
  std::vector<float> Floats(std::string_view name);
  std::vector<std::string> Strings(std::string_view name);
  // Means nothing when the node only runs.
  void Ignore(std::string_view attribute) { (void)Attribute(attribute); }

  // A list that older versions of the operator have as an attribute, newer ones as input i: the attribute's or the
  // constant input's numbers, nothing when they are not constant; whether there is one; the list as a port.
  std::optional<std::vector<int64_t>> ListInts(int i, std::string_view attribute);
  bool HasList(int i, std::string_view attribute) { return Has(i) || Attribute(attribute) != nullptr; }
  IrRef List(int i, std::string_view attribute);

  // Constants beside the node.
  IrRef Int64s(std::string_view hint, std::span<const int64_t> values);
  IrRef Int64s(std::string_view hint, std::initializer_list<int64_t> values) {
    return Int64s(hint, std::span(values.begin(), values.size()));
  }
  IrRef Int64(std::string_view hint, int64_t value);  // of rank 0
  IrRef Scalar(std::string_view hint, TensorType type, double value);
  IrRef Const(std::string_view hint, TensorType type, std::vector<int64_t> dims, Bytes bytes);

  // A layer between, with one output of this type.
  IrRef Step(std::string_view hint, std::string_view type, std::string_view version, std::vector<IrRef> inputs,
             IrData data, IrType output);
  // The same with several outputs.
  std::vector<IrRef> Steps(std::string_view hint, std::string_view type, std::string_view version,
                           std::vector<IrRef> inputs, IrData data, const std::vector<IrType>& outputs);
  // The layer that gives the node's first `outputs` outputs, 1 unless said.
  void Finish(std::string_view type, std::string_view version, std::vector<IrRef> inputs, IrData data = {},
              int outputs = 1);
  IrRef Converted(const IrRef& value, TensorType type);
  // The last of the layers, which gives output i.
  void FinishOutput(int i, std::string_view type, std::string_view version, std::vector<IrRef> inputs,
                    IrData data = {});
  // The axis counted from 0; refuses the node when it counts from the end of a rank that is not known.
  int64_t Axis(int64_t axis, const IrType& of) const;
  // Elementwise between two values of this type.
  IrRef Binary(std::string_view type, const IrRef& a, const IrRef& b, const IrType& output) {
    return Step(type, type, "opset1", {a, b}, {{"auto_broadcast", "numpy"}}, output);
  }
  IrRef Transposed(const IrRef& value, std::span<const int64_t> order);
  IrRef Reshaped(const IrRef& value, std::initializer_list<int64_t> shape) {
    return Reshaped(value, std::span(shape.begin(), shape.size()));
  }
  IrRef Reshaped(const IrRef& value, std::span<const int64_t> shape);
  // [rank], int64.
  IrRef ShapeOf(const IrRef& value);
  // The size of an axis out of that; a vector of one or of no axes.
  IrRef SizeAt(const IrRef& shape, int64_t axis, bool as_vector = false);
  // A value of one element with no axes.
  IrRef AsScalar(const IrRef& value) {
    return value.type->rank() == 0 ? value : Reshaped(value, std::span<const int64_t>());
  }
  // Throws Unsupported; `subject` is a part of the node ("attribute 'layout'") or empty.
  [[noreturn]] void Refuse(const std::string& subject, const std::string& reason) const;
  [[noreturn]] void RefuseAttribute(std::string_view name, const std::string& reason) const;
  // Refuses unless the node may be written as several that give the same.
  void NeedLower(const std::string& subject, const std::string& reason) const;

  // Refuses the node for what no function asked for.
  void CheckAllUsed() const;

 private:
  std::string Subject(int i) const;

  IrGraphWriter& graph_;
  const NodeProto& node_;
  std::set<std::string, std::less<>> attributes_;  // asked for
  std::set<int> inputs_;                           // asked for
};

// How one operator is written.
struct IrWriteDef {
  std::string_view domain;  // "" for ai.onnx
  std::string_view op_type;
  void (*write)(IrNodeWriter&);
  int64_t since = 1;  // in older versions of the operator set it says what IR has no layer for
};
// Null when IR has no layers for it in this version of the operator set. The domain may be said by either name.
[[nodiscard]] const IrWriteDef* FindIrWriter(std::string_view domain, std::string_view op_type, int64_t opset);
// All of them, by domain and name.
[[nodiscard]] std::span<const IrWriteDef> IrWriteDefs();

// Writes the layers of a node and defines its outputs. Throws Unsupported for what IR cannot say.
void WriteNode(IrGraphWriter& graph, const NodeProto& node);

}  // namespace ONNX_LIGHT_NAMESPACE
