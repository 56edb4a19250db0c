// SPDX-License-Identifier: Apache-2.0
// From one layer to the nodes that say the same.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/set_attribute.h"
#include "onnx_proto/onnx.h"
#include "openvino_io/ir_document.h"

namespace ONNX_LIGHT_NAMESPACE {

// Bodies in bodies: more would be no model's, and reading is recursive.
inline constexpr int kMostBodyDepth = 16;

// Gives out names, each once.
class IrNames {
 public:
  // `wanted`, or `wanted` with a number behind it when that is taken. Never empty.
  std::string Unique(std::string_view wanted);

 private:
  std::unordered_map<std::string, int64_t> next_;
};

// A Const, kept aside until a node refers to it: many only say what becomes an attribute.
struct IrConstant {
  TensorProto tensor;
  bool used = false;
};

// The value on an output port, as far as it is known without inference.
struct IrValue {
  std::string name;
  TensorType type = TensorType::kUndefined;
  int rank = -1;
  IrConstant* constant = nullptr;
};

// The model being made: what its graph and all bodies share.
struct IrModel {
  const std::optional<Bytes>& weights;
  IrNames names;      // of values, unique in the whole model
  IrNames dim_names;  // of symbols
  std::vector<std::unique_ptr<IrConstant>> constants;
  std::vector<std::string> unsupported;  // a text for each layer that cannot be said
  int64_t zero_bytes = 0;                // of constants that the file does not hold
};

// The graph being made, of the model or a body.
struct IrBuilder {
  IrModel& model;
  GraphProto* graph;
  int depth = 0;  // of bodies around it
};

// What a lowering function sees of one layer. Its inputs are there, by position; it must define every output.
class IrLowering {
 public:
  IrLowering(IrBuilder& builder, const IrLayer& layer, std::vector<IrValue*> inputs, std::span<IrValue> outputs)
      : builder_(&builder), layer_(&layer), inputs_(std::move(inputs)), outputs_(outputs) {}

  const IrLayer& layer() const { return *layer_; }
  IrBuilder& builder() const { return *builder_; }
  IrAttributes attrs() const { return IrAttributes(*layer_); }
  int input_size() const { return static_cast<int>(inputs_.size()); }
  IrValue& input(int i) const { return *inputs_[i]; }
  IrValue& output(int i) { return outputs_[i]; }

  // The name of input i, for a node to refer to.
  std::string Use(int i);
  // The rank of input i, by what is known or else by what the port shows; -1 when neither tells.
  int RankOf(int i) const;
  // The dims of input i when it is constant, else as the port shows them (-1: any); none when neither tells.
  std::vector<int64_t> DimsOf(int i) const;
  // RankOf, or refuses the layer: it must be known for `purpose` ("to transpose it").
  int KnownRank(int i, std::string_view purpose) const;
  // The type of input i, or refuses the layer when it is not known.
  TensorType KnownType(int i) const;
  // The element of constant input i, a float of one element; refuses the layer otherwise.
  float ConstantFloat(int i, std::string_view what) const;
  // The elements of input i when it is constant.
  std::optional<std::vector<int64_t>> ConstantInts(int i) const;
  // The one element of constant input i; refuses the layer otherwise. `what` names the input.
  int64_t ConstantInt(int i, std::string_view what) const;
  // A name for input i as int64, of rank 1 if `as_vector`: a new initializer when it is constant, else after a Cast and
  // Reshape as needed.
  std::string Int64(int i, bool as_vector);
  // A new int64 initializer of rank 1.
  std::string Int64Constant(std::string_view hint, std::span<const int64_t> values);
  std::string Int64Constant(std::string_view hint, std::initializer_list<int64_t> values) {
    return Int64Constant(hint, std::span(values.begin(), values.size()));
  }
  // A new initializer of rank 0 with `value` as `type`, a float or integer type that holds it.
  std::string ScalarConstant(std::string_view hint, TensorType type, double value);
  // A name for a value between the nodes of one layer.
  std::string Temporary(std::string_view hint);

  // Appends a node. The layer's name is that of the node that gives output 0, others get a suffix.
  NodeProto& Node(std::string_view op_type, std::vector<std::string> inputs, std::vector<std::string> outputs);
  // The same, from all inputs to all outputs.
  NodeProto& DirectNode(std::string_view op_type);
  // Appends a node with one output and returns the name of that.
  std::string Apply(std::string_view op_type, std::vector<std::string> inputs);
  // The same with attribute `axis`.
  std::string Along(std::string_view op_type, std::vector<std::string> inputs, int64_t axis);
  std::string CastTo(std::string value, TensorType type);
  std::string Transposed(const std::string& value, std::span<const int64_t> perm);
  // The size of axis `axis` of a value, a vector of one.
  std::string AxisSize(const std::string& value, int64_t axis);
  // 0, 1, ... below `size`, a vector of one.
  std::string CountTo(const std::string& size);
  // Appends the node that gives output 0.
  NodeProto& Finish(std::string_view op_type, std::vector<std::string> inputs);
  // Where a node is to write int64 that are output i: that itself, unless attribute `attribute` (`absent` when it is
  // not there) says i32. FinishIndices then casts.
  std::string IndicesName(int i, const char* attribute, TensorType absent);
  void FinishIndices(const std::string& name, int i);
  // Gives the last along the first axis of `value` as `output`.
  void TakeLast(const std::string& value, const std::string& output);
  // Output 0 has the type of input i, and its rank.
  void SameAs(int i);

  // This layer cannot be said: throws Unsupported, which the reader collects.
  [[noreturn]] void Refuse(const std::string& reason) const;

 private:
  IrBuilder* builder_;
  const IrLayer* layer_;
  std::vector<IrValue*> inputs_;
  std::span<IrValue> outputs_;
};

// What the dim `axis` of a value is called when it is not fixed, a name that expressions may mention.
std::string DimName(std::string_view value, size_t axis);
// The number of a value of one float16, bfloat16, float32 or float64; nothing for others.
std::optional<double> OneFloat(TensorType type, std::string_view bytes);
// One element of a float or integer type; nothing for other types.
std::optional<Bytes> ScalarBytes(TensorType type, double value);

// How one layer type is lowered. Versions of a type share an entry unless their meaning differs.
struct IrLayerDef {
  std::string_view type;
  int min_inputs;
  int max_inputs;  // -1: no limit
  int outputs;     // kSomeOutputs: one or more, kAnyOutputs: none as well
  void (*lower)(IrLowering&);
  // Where `lower` serves several types: the operator it becomes, and the operator set the type first stands in.
  std::string_view onnx = {};
  int since = 0;

  static constexpr int kSomeOutputs = -1, kAnyOutputs = -2;
  bool TakesOutputs(int count) const { return outputs >= 0 ? count == outputs : outputs == kAnyOutputs || count > 0; }
};
// Null when the layer's type is not read.
[[nodiscard]] const IrLayerDef* FindIrLayer(std::string_view type);
// The first that becomes this operator alone; null when there is none.
[[nodiscard]] const IrLayerDef* FindIrLayerOf(std::string_view op_type);
// All of them.
[[nodiscard]] std::span<const IrLayerDef> IrLayerDefs();

}  // namespace ONNX_LIGHT_NAMESPACE
