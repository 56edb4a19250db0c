// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_standard.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lower_case.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_graph_writer.h"
#include "openvino_io/ir_lowering.h"
#include "openvino_io/ir_metadata.h"
#include "openvino_io/ir_reader.h"
#include "openvino_io/ir_recurrent_weights.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kLeastOpset = 13;  // axes are inputs from there on

struct Function {
  std::string_view name, onnx;
  int alphas = 0, betas = 0;
};
constexpr Function kFunctions[] = {{"sigmoid", "Sigmoid"},
                                   {"tanh", "Tanh"},
                                   {"relu", "Relu"},
                                   {"affine", "Affine", 1, 1},
                                   {"elu", "Elu", 1, 0},
                                   {"hardsigmoid", "HardSigmoid", 1, 1},
                                   {"leakyrelu", "LeakyRelu", 1, 0},
                                   {"scaledtanh", "ScaledTanh", 1, 1},
                                   {"softplus", "Softplus"},
                                   {"softsign", "Softsign"},
                                   {"thresholdedrelu", "ThresholdedRelu", 1, 0}};

void Register(const GraphProto& graph, IrNames& names) {
  for (const auto& input : graph.input()) (void)names.Unique(input.name());
  for (const auto& tensor : graph.initializer()) (void)names.Unique(tensor.name());
  for (const NodeProto& node : graph.node()) {
    for (const String& output : node.output()) (void)names.Unique(output);
    for (const AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) Register(attribute.g(), names);
  }
}

// The nodes that one layer becomes.
class Replacement {
 public:
  Replacement(const NodeProto& layer, int64_t opset, GraphProto& main, IrNames& names, std::vector<NodeProto>& nodes)
      : layer_(layer), opset_(opset), main_(main), names_(names), nodes_(nodes) {
    const std::string_view type = layer.op_type();
    cell_ = type.ends_with("Cell");
    lstm_ = type.starts_with("LSTM");
    op_type_ = type.substr(0, type.size() - (cell_ ? 4 : 8));
    gates_ = lstm_ ? 4 : op_type_ == "GRU" ? 3 : 1;
  }

  void Make() {
    CheckSaid();
    const int states = lstm_ ? 2 : 1, weights = 1 + states + (cell_ ? 0 : 1);
    const std::string direction = LowerCase(String("direction", "forward"));
    directions_ = direction == "bidirectional" ? 2 : 1;
    linear_ = Int("linear_before_reset") != 0;
    std::vector<std::string> inputs{cell_ ? WithTime(In(0)) : Transposed(In(0), {1, 0, 2}), Weight(weights, Gates()),
                                    Weight(weights + 1, Gates()), Bias(weights + 2)};
    inputs.push_back(cell_ ? "" : Cast32(In(1 + states)));
    for (int i = 1; i <= states; ++i) inputs.push_back(cell_ ? WithTime(In(i)) : Transposed(In(i), {1, 0, 2}));
    constexpr int kPeepholes[] = {1, 2, 0};  // f, i, o to i, o, f
    if (lstm_ && Has(weights + 3)) inputs.push_back(Weight(weights + 3, kPeepholes));
    const int first = cell_ ? 1 : 0;  // a cell has no Y
    std::vector<std::string> outputs(static_cast<size_t>(first + layer_.output_size()));
    for (int i = 0; i < layer_.output_size(); ++i)
      if (!layer_.output(i).empty()) outputs[static_cast<size_t>(first + i)] = Name("result");
    NodeProto& node = Node(op_type_, inputs, outputs);
    node.set_name(layer_.name());
    SetAttributes(node, direction);
    for (int i = 0; i < layer_.output_size(); ++i) {
      if (layer_.output(i).empty()) continue;
      const std::string& from = outputs[static_cast<size_t>(first + i)];
      if (cell_) {
        Node("Squeeze", {from, Ints({0})}, {layer_.output(i)});
      } else {
        SetInts(Node("Transpose", {from}, {layer_.output(i)}), "perm",
                i == 0 ? std::vector<int64_t>{2, 1, 0, 3} : std::vector<int64_t>{1, 0, 2});
      }
    }
  }

 private:
  const AttributeProto* Attribute(std::string_view name) const {
    const auto found =
        std::ranges::find(layer_.attribute(), name, [](const auto& a) { return std::string_view(a.name()); });
    return found == layer_.attribute().end() ? nullptr : &*found;
  }
  int64_t Int(std::string_view name) const { return Attribute(name) == nullptr ? 0 : Attribute(name)->i(); }
  std::string String(std::string_view name, std::string_view absent) const {
    return Attribute(name) == nullptr ? std::string(absent) : Attribute(name)->s().as_string();
  }
  bool Has(int i) const { return i < layer_.input_size() && !layer_.input(i).empty(); }
  std::string In(int i) const { return Has(i) ? layer_.input(i).as_string() : std::string(); }

  void CheckSaid() const {
    if (opset_ < kLeastOpset)
      throw Unsupported(fmt::format("needs operator set {} of ai.onnx, the model imports {}", kLeastOpset, opset_));
    if (Int("input_forget") != 0)
      throw Unsupported("i = 1 - f, ONNX has f = 1 - i",
                        {.op_type = {}, .node_name = {}, .subject = "attribute 'input_forget'", .path = {}});
  }

  std::string Name(std::string_view hint) {
    return names_.Unique(
        fmt::format("{}/{}", layer_.name().empty() ? layer_.output(0).as_string() : layer_.name().as_string(), hint));
  }
  NodeProto& Node(std::string_view type, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
    NodeProto& node = nodes_.emplace_back();
    node.set_op_type(std::string(type));
    node.set_name(outputs.front());
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  std::string Apply(std::string_view type, const std::vector<std::string>& inputs, std::string_view hint) {
    std::string output = Name(hint);
    Node(type, inputs, {output});
    return output;
  }
  std::string Initializer(std::string_view hint, TensorProto tensor) {
    tensor.set_name(Name(hint));
    *main_.add_initializer() = tensor;
    return tensor.name();
  }
  std::string Ints(const std::vector<int64_t>& values) {
    TensorProto tensor;
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    tensor.set_raw_data(Bytes(values.data(), values.size() * sizeof(int64_t)));
    return Initializer("ints", std::move(tensor));
  }
  std::string Transposed(const std::string& value, const std::vector<int64_t>& perm) {
    std::string output = Name("transposed");
    SetInts(Node("Transpose", {value}, {output}), "perm", perm);
    return output;
  }
  std::string WithTime(const std::string& value) { return Apply("Unsqueeze", {value, Ints({0})}, "step"); }
  std::string Cast32(const std::string& value) {
    std::string output = Name("lengths");
    SetInt(Node("Cast", {value}, {output}), "to", TensorProto::INT32);
    return output;
  }

  // Which of the layer's gates are those of ONNX, in its order.
  std::vector<int> Gates() const {
    std::vector<int> order(static_cast<size_t>(gates_));
    std::iota(order.begin(), order.end(), 0);
    if (!lstm_) return order;
    const std::string format = LowerCase(String("weights_format", "fico"));
    for (size_t k = 0; k < 4; ++k) {
      const size_t at = format.find("iofc"[k]);
      if (at == std::string::npos || format.size() != 4)
        throw Unsupported(fmt::format("attribute 'weights_format': \"{}\" is no order of f, i, c and o", format));
      order[k] = static_cast<int>(at);
    }
    return order;
  }

  // Blocks along axis 1, with the axis of directions in front.
  std::string Weight(int i, std::span<const int> order) {
    if (const TensorProto* constant = Constant(i, order.size())) {
      TensorProto tensor = WithDirections(*constant);
      return Initializer(std::string_view("weights"), OrderBlocks(tensor, order, 0, tensor.dims()[0]));
    }
    const std::string value = cell_ ? WithTime(In(i)) : In(i);
    if (std::ranges::is_sorted(order)) return value;
    return Joined(Blocks(value, static_cast<int>(order.size())), order);
  }
  std::vector<std::string> Blocks(const std::string& value, int count) {
    std::vector<std::string> blocks;
    for (int k = 0; k < count; ++k) blocks.push_back(Name("gate"));
    NodeProto& split = Node("Split", {value}, blocks);
    SetInt(split, "axis", 1);
    if (opset_ >= 18) SetInt(split, "num_outputs", count);
    return blocks;
  }
  std::string Joined(const std::vector<std::string>& blocks, std::span<const int> order) {
    std::vector<std::string> ordered;
    for (const int k : order) ordered.push_back(blocks[static_cast<size_t>(k)]);
    std::string output = Name("gates");
    SetInt(Node("Concat", ordered, {output}), "axis", 1);
    return output;
  }

  // An initializer of the main graph whose blocks are whole; null otherwise.
  const TensorProto* Constant(int i, size_t blocks) const {
    const auto found = std::ranges::find(main_.initializer(), In(i),
                                         [](const TensorProto& tensor) { return std::string(tensor.name()); });
    if (found == main_.initializer().end() || IsInput(In(i))) return nullptr;
    const size_t rank = found->dims().size(), axis = cell_ ? 0 : 1;
    return rank > axis && found->dims()[axis] % static_cast<int64_t>(blocks) == 0 && found->dims()[0] > 0 ? &*found
                                                                                                          : nullptr;
  }
  bool IsInput(const std::string& name) const {
    return std::ranges::any_of(main_.input(), [&](const auto& info) { return info.name() == name; });
  }
  TensorProto WithDirections(const TensorProto& tensor) const {
    TensorProto copy;
    copy.set_data_type(tensor.data_type());
    if (cell_) copy.add_dims(1);
    for (const int64_t dim : tensor.dims()) copy.add_dims(dim);
    copy.set_raw_data(ConstantBytes(tensor));
    return copy;
  }

  // [Wb, Rb]: the layer has their sum, which goes to Wb.
  std::string Bias(int i) {
    const std::vector<int> gates = Gates();
    const int blocks = gates_ + (linear_ ? 1 : 0);
    if (const TensorProto* constant = Constant(i, static_cast<size_t>(blocks))) {
      TensorProto tensor = WithDirections(*constant);
      const auto directions = static_cast<size_t>(tensor.dims()[0]);
      const size_t block = tensor.raw_data().size() / directions / static_cast<size_t>(blocks);
      std::string bytes;
      for (size_t d = 0; d < directions; ++d) {
        const std::string_view row = tensor.raw_data().view().substr(d * block * static_cast<size_t>(blocks),
                                                                     block * static_cast<size_t>(blocks));
        for (const int gate : gates) bytes += row.substr(static_cast<size_t>(gate) * block, block);
        bytes.append(block * static_cast<size_t>(gates_ - (linear_ ? 1 : 0)), '\0');
        if (linear_) bytes += row.substr(static_cast<size_t>(gates_) * block, block);
      }
      (*tensor.mutable_dims())[1] = tensor.dims()[1] / blocks * 2 * gates_;
      tensor.set_raw_data(Bytes(std::move(bytes)));
      return Initializer("bias", std::move(tensor));
    }
    const std::string value = cell_ ? WithTime(In(i)) : In(i);
    std::vector<std::string> parts = Blocks(value, blocks), ordered;
    for (const int gate : gates) ordered.push_back(parts[static_cast<size_t>(gate)]);
    const std::string zeros =
        Apply("CastLike", {Apply("ConstantOfShape", {Apply("Shape", {parts[0]}, "shape")}, "zeros"), value}, "zeros");
    for (int k = 0; k < gates_; ++k) ordered.push_back(linear_ && k == gates_ - 1 ? parts.back() : zeros);
    std::string output = Name("bias");
    SetInt(Node("Concat", ordered, {output}), "axis", 1);
    return output;
  }

  void SetAttributes(NodeProto& node, const std::string& direction) const {
    if (Int("hidden_size") > 0) SetInt(node, "hidden_size", Int("hidden_size"));
    if (direction != "forward") SetString(node, "direction", direction);
    SetFunctions(node);
    if (const AttributeProto* clip = Attribute("clip"); clip != nullptr && clip->f() > 0 && clip->f() < 3e38F)
      SetFloat(node, "clip", clip->f());
    if (linear_) SetInt(node, "linear_before_reset", 1);
  }

  // Of two directions, names for one serve both, and so do their parameters.
  void SetFunctions(NodeProto& node) const {
    const AttributeProto* given = Attribute("activations");
    if (given == nullptr) return;
    std::vector<std::string> names;
    size_t alphas = 0, betas = 0;
    for (const Bytes& name : given->strings()) {
      const auto* function = std::ranges::find(kFunctions, LowerCase(name), &Function::name);
      if (function == std::end(kFunctions))
        throw Unsupported(fmt::format("attribute 'activations': ONNX has no \"{}\"", name.view()));
      names.emplace_back(function->onnx);
      alphas += static_cast<size_t>(function->alphas);
      betas += static_cast<size_t>(function->betas);
    }
    const size_t each = lstm_ ? 3 : op_type_ == "GRU" ? 2 : 1;
    const bool shared = directions_ == 2 && names.size() == each;
    const auto twice = [](auto& list, size_t count) {
      list.resize(count);
      list.reserve(2 * count);
      for (size_t k = 0; k < count; ++k) list.push_back(list[k]);
    };
    if (shared) twice(names, each);
    SetStrings(node, "activations", names);
    const auto parameters = [&](std::string_view from, std::string_view to, size_t taken) {
      const AttributeProto* list = Attribute(from);
      if (list == nullptr || taken == 0) return;
      std::vector<float> values = list->floats();
      if (shared && values.size() < 2 * taken) {
        // Those left out are the functions' own, which cannot be said for the first direction alone.
        if (values.size() < taken)
          throw Unsupported(fmt::format("attribute '{}': some values are left out for two directions", from));
        twice(values, taken);
      }
      SetFloats(node, to, values);
    };
    parameters("activations_alpha", "activation_alpha", alphas);
    parameters("activations_beta", "activation_beta", betas);
  }

  const NodeProto& layer_;
  int64_t opset_;
  GraphProto& main_;
  IrNames& names_;
  std::vector<NodeProto>& nodes_;
  bool cell_ = false, lstm_ = false, linear_ = false;
  std::string op_type_;
  int gates_ = 0, directions_ = 1;
};

bool IsLayer(const NodeProto& node) {
  constexpr std::string_view kLayers[] = {"LSTMSequence", "GRUSequence", "RNNSequence",
                                          "LSTMCell",     "GRUCell",     "RNNCell"};
  return node.domain() == kOpenVinoDomain &&
         std::ranges::find(kLayers, std::string_view(node.op_type())) != std::end(kLayers);
}

// An LSTM with peepholes or another order of gates, which no layer has since opset5, the cell since opset4. What
// couples its gates ai.onnx cannot say.
bool IsLegacyLstm(const NodeProto& node) {
  if (!IsLayer(node) || !std::string_view(node.op_type()).starts_with("LSTM")) return false;
  const int peepholes = node.op_type() == "LSTMCell" ? 6 : 7;
  bool legacy = node.input_size() > peepholes && !node.input(peepholes).empty();
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "input_forget" && attribute.i() != 0) return false;
    if (attribute.name() == "weights_format") legacy |= LowerCase(attribute.s()) != "fico";
  }
  return legacy;
}

// What says that a sequence that every version has was read from one that is no more.
void ForgetOldVersion(GraphProto& graph) {
  for (NodeProto& node : graph.node()) {
    for (AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) ForgetOldVersion(attribute.ref_g());
    const std::string_view version = MetadataOf(node, kIrOpsetKey);
    if (IsLayer(node) && node.op_type() == "LSTMSequence" && version.size() == 6 && version < "opset5")
      node.clear_metadata_props();
  }
}

// Replaces the nodes for which wanted(node) holds.
template <class Fn>
void InGraph(GraphProto& graph, GraphProto& main, int64_t opset, IrNames& names, const Fn& wanted,
             std::vector<std::string>& refused) {
  std::vector<NodeProto> nodes;
  for (NodeProto& node : graph.node()) {
    for (AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) InGraph(attribute.ref_g(), main, opset, names, wanted, refused);
    if (!wanted(node)) {
      nodes.push_back(std::move(node));
      continue;
    }
    try {
      Replacement(node, opset, main, names, nodes).Make();
    } catch (Unsupported& error) {
      error.AddNode(node.op_type(), node.name());
      refused.emplace_back(error.what());
    }
  }
  graph.clear_node();
  for (NodeProto& node : nodes) *graph.add_node() = std::move(node);
}

template <class Fn>
void Replace(ModelProto& model, const Fn& wanted) {
  int64_t opset = 0;
  for (const OperatorSetIdProto& import : model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx") opset = import.version();
  IrNames names;
  Register(model.graph(), names);
  std::vector<std::string> refused;
  InGraph(*model.mutable_graph(), *model.mutable_graph(), opset, names, wanted, refused);
  if (refused.empty()) return;
  std::string list;
  for (const std::string& text : refused) list += (list.empty() ? "" : "; ") + text;
  throw Unsupported("ai.onnx cannot say these layers: " + list);
}

}  // namespace

void LayersToOnnx(ModelProto& model) { Replace(model, IsLayer); }
void LegacyLayersToOnnx(ModelProto& model) {
  ForgetOldVersion(*model.mutable_graph());
  Replace(model, IsLegacyLstm);
}

}  // namespace ONNX_LIGHT_NAMESPACE
