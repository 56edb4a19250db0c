// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN of ai.onnx as LSTMSequence, GRUSequence and RNNSequence of opset5, and the layers of
// org.openvinotoolkit as themselves.
//
// A sequence has the batch first, takes every state and length, one bias for both products, and its gates in the order
// f, i, c, o, where ONNX has i, o, f, c; z, r, h is the same in both.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/lower_case.h"
#include "openvino_io/ir_recurrent_weights.h"
#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Kind {
  std::string_view layer;
  std::vector<int> gates;                   // of the layer, as numbers of ONNX's
  std::vector<std::string_view> functions;  // unless given
  bool has_cell = false;
};
const Kind kLstm{"LSTMSequence", {2, 0, 3, 1}, {"sigmoid", "tanh", "tanh"}, true};
const Kind kGru{"GRUSequence", {0, 1, 2}, {"sigmoid", "tanh"}};
const Kind kRnn{"RNNSequence", {0}, {"tanh"}};

constexpr int64_t kSwapped[] = {1, 0, 2};  // time and batch, or directions and batch

// Elements of constants that no data of the model stand for; larger ones are made when the model runs.
constexpr int64_t kMostMade = 1 << 16;

// The directions that one layer computes.
struct Part {
  std::string direction;
  int64_t first = 0, count = 1;
  std::vector<std::string> functions;
};

class SequenceWriter {
 public:
  SequenceWriter(IrNodeWriter& w, const Kind& kind) : w_(w), kind_(kind) {}

  void Write() {
    ReadAttributes();
    Refuse();
    x_ = InputX();
    const IrRef lengths = Lengths();
    std::vector<std::vector<IrRef>> outputs;  // by part
    for (const Part& part : parts_) outputs.push_back(WritePart(part, lengths));
    const auto joined = [&](size_t i, const char* hint) {
      if (outputs.size() == 1) return outputs[0][i];
      IrType type = *outputs[0][i].type;
      type.dims[1] = directions_;
      return w_.Step(hint, "Concat", "opset1", {outputs[0][i], outputs[1][i]}, {{"axis", "1"}}, type);
    };
    if (w_.Gives(0)) {
      const IrRef order = layout_ == 0 ? w_.Int64s("order", {2, 1, 0, 3}) : w_.Int64s("order", {0, 2, 1, 3});
      w_.FinishOutput(0, "Transpose", "opset1", {joined(0, "Y"), order});
    }
    for (int i = 1; i <= (kind_.has_cell ? 2 : 1); ++i) {
      if (!w_.Gives(i)) continue;
      const IrRef state = joined(static_cast<size_t>(i), i == 1 ? "Y_h" : "Y_c");
      if (layout_ == 0) {
        w_.FinishOutput(i, "Transpose", "opset1", {state, w_.Int64s("order", kSwapped)});
      } else {
        w_.Alias(i, state);
      }
    }
  }

 private:
  void ReadAttributes() {
    layout_ = w_.Int("layout", 0);
    clip_ = w_.Float("clip", 0);
    linear_before_reset_ = kind_.layer == kGru.layer && w_.Int("linear_before_reset", 0) != 0;
    input_forget_ = kind_.has_cell && w_.Int("input_forget", 0) != 0;
    const std::string direction = LowerCase(w_.String("direction", "forward"));
    directions_ = direction == "bidirectional" ? 2 : 1;
    const IrType r = w_.Type(2);
    hidden_ = w_.Int("hidden_size", r.rank() == 3 ? r.dims[2] : -1);
    if (hidden_ <= 0 || hidden_ > kMostMade)
      w_.RefuseAttribute("hidden_size", fmt::format("must be known and at most {}", kMostMade));
    std::vector<std::string> names = w_.Strings("activations");
    for (std::string& name : names) name = LowerCase(name);
    const size_t each = kind_.functions.size();
    if (names.empty())
      for (int64_t d = 0; d < directions_; ++d)
        names.insert(names.end(), kind_.functions.begin(), kind_.functions.end());
    if (names.size() != each * static_cast<size_t>(directions_))
      w_.RefuseAttribute("activations", fmt::format("must be {} names, got {}", each * static_cast<size_t>(directions_),
                                                    names.size()));
    for (const std::string& name : names) {
      if (name != "sigmoid" && name != "tanh" && name != "relu")
        w_.RefuseAttribute(
            "activations",
            fmt::format("{} knows Sigmoid, Tanh and Relu, not \"{}\"; lowering writes a loop", kind_.layer, name));
    }
    // Those three functions take no parameters.
    w_.Ignore("activation_alpha");
    w_.Ignore("activation_beta");
    const auto functions = [&](size_t d) {
      return std::vector<std::string>(names.begin() + static_cast<std::ptrdiff_t>(d * each),
                                      names.begin() + static_cast<std::ptrdiff_t>((d + 1) * each));
    };
    if (directions_ == 1 || functions(0) == functions(1)) {
      parts_ = {{direction, 0, directions_, functions(0)}};
    } else {
      w_.NeedLower("attribute 'activations'", fmt::format("{} has one set for both directions", kind_.layer));
      parts_ = {{"forward", 0, 1, functions(0)}, {"reverse", 1, 1, functions(1)}};
    }
  }

  // What a sequence of opset5 has no place for.
  void Refuse() {
    if (input_forget_)
      w_.RefuseAttribute("input_forget",
                         fmt::format("{} does not couple its gates; lowering writes a loop", kind_.layer));
    if (!kind_.has_cell || !w_.Has(7)) return;
    const std::optional<TensorProto> peepholes = w_.Constant(7);
    if (!peepholes || std::ranges::any_of(peepholes->raw_data().view(), [](char c) { return c != 0; }))
      w_.Refuse("input 7 'P'", fmt::format("{} of opset5 has no peepholes; lowering writes a loop", kind_.layer));
  }

  IrType Typed(std::vector<int64_t> dims) const { return IrType::Tensor(x_.type->element, std::move(dims)); }

  // [N,T,I]
  IrRef InputX() {
    const IrRef x = w_.In(0);
    if (x.type->ranked && x.type->rank() != 3) w_.Refuse("input 0 'X'", "must have rank 3");
    if (x.type->ranked)
      sizes_ =
          layout_ == 0 ? std::array{x.type->dims[1], x.type->dims[0]} : std::array{x.type->dims[0], x.type->dims[1]};
    return layout_ == 0 ? w_.Transposed(x, kSwapped) : x;
  }
  int64_t batch() const { return sizes_[0]; }
  int64_t steps() const { return sizes_[1]; }

  // The size of an axis of X, [1] or a scalar.
  IrRef SizeOfX(int64_t axis, bool scalar) {
    if (!shape_) shape_ = w_.ShapeOf(x_);
    return w_.SizeAt(*shape_, axis, !scalar);
  }

  IrRef Lengths() {
    if (w_.Has(4)) return w_.In(4);
    if (batch() >= 0 && batch() <= kMostMade && steps() >= 0 && steps() <= INT32_MAX) {
      const std::vector<int32_t> all(static_cast<size_t>(batch()), static_cast<int32_t>(steps()));
      return w_.Const("lengths", TensorType::kInt32, {batch()}, Bytes(all.data(), all.size() * sizeof(int32_t)));
    }
    return w_.Step("lengths", "Broadcast", "opset3", {SizeOfX(1, true), SizeOfX(0, false)}, {{"mode", "numpy"}},
                   IrType::Tensor(TensorType::kInt64, {batch()}));
  }

  // [N,count,H]
  IrRef State(int input, const Part& part) {
    if (w_.Has(input)) {
      const IrRef given = w_.In(input);
      RequireRank(input, given, 3);
      return Directions(layout_ == 0 ? w_.Transposed(given, kSwapped) : given, 1, part);
    }
    const std::vector<int64_t> dims{batch(), part.count, hidden_};
    const TensorType type = x_.type->element;
    if (batch() >= 0 && batch() <= kMostMade / (part.count * hidden_)) {
      const size_t bytes = static_cast<size_t>(batch() * part.count * hidden_) * onnx_optim::BytesOf(type);
      return w_.Const("zeros", type, dims, Bytes(std::string(bytes, '\0')));
    }
    const IrRef shape =
        w_.Step("state_shape", "Concat", "opset1", {SizeOfX(0, false), w_.Int64s("state", {part.count, hidden_})},
                {{"axis", "0"}}, IrType::Tensor(TensorType::kInt64, {3}));
    return w_.Step("zeros", "Broadcast", "opset3", {w_.Scalar("zero", type, 0), shape}, {{"mode", "numpy"}},
                   Typed(dims));
  }

  // Those of a value's directions, which lie along `axis`, that the part has.
  IrRef Directions(const IrRef& value, int64_t axis, const Part& part) {
    if (part.count == directions_) return value;
    IrType type = *value.type;
    if (type.ranked) type.dims[static_cast<size_t>(axis)] = 1;
    return w_.Steps("direction", "Split", "opset1", {value, w_.Int64("axis", axis)}, {{"num_splits", "2"}},
                    {type, type})[static_cast<size_t>(part.first)];
  }

  int gates() const { return static_cast<int>(kind_.gates.size()); }

  // W and R, blocks of rows in the order of the layer.
  IrRef Weights(int input, const char* hint, const Part& part) {
    const bool in_order = std::ranges::is_sorted(kind_.gates);
    const IrType given = w_.Type(input);
    if (in_order && part.count == directions_) return w_.In(input);
    if (const auto tensor = w_.Constant(input)) {
      if (tensor->dims().size() != 3 || tensor->dims()[1] != gates() * hidden_ || tensor->dims()[0] != directions_)
        w_.Refuse(fmt::format("input {} '{}'", input, hint), "its dims are not those of the directions and gates");
      TensorProto ordered = OrderBlocks(*tensor, kind_.gates, part.first, part.count);
      return w_.Const(hint, given.element, {part.count, gates() * hidden_, tensor->dims()[2]}, ordered.raw_data());
    }
    const IrRef weights = w_.In(input);
    RequireRank(input, weights, 3);
    return Ordered(Directions(weights, 0, part), hint);
  }
  // What a rank that is known has to be.
  void RequireRank(int input, const IrRef& value, int64_t rank) const {
    if (value.type->ranked && value.type->rank() != rank)
      w_.Refuse(fmt::format("input {}", input), fmt::format("must have rank {}, has {}", rank, value.type->rank()));
  }
  IrRef Ordered(const IrRef& value, const char* hint) {
    if (std::ranges::is_sorted(kind_.gates)) return value;
    IrType block = *value.type;
    if (block.ranked) block.dims[1] = hidden_;
    const std::vector<IrRef> blocks =
        w_.Steps("gates", "Split", "opset1", {value, w_.Int64("axis", 1)}, {{"num_splits", std::to_string(gates())}},
                 std::vector<IrType>(kind_.gates.size(), block));
    std::vector<IrRef> ordered;
    for (const int gate : kind_.gates) ordered.push_back(blocks[static_cast<size_t>(gate)]);
    return w_.Step(hint, "Concat", "opset1", ordered, {{"axis", "1"}}, *value.type);
  }

  // [count, gates * H], Wb + Rb; what a GRU resets after its product keeps the two of h apart.
  IrRef Bias(const Part& part) {
    const TensorType type = x_.type->element;
    const int blocks = gates() + (linear_before_reset_ ? 1 : 0);
    const std::vector<int64_t> dims{part.count, blocks * hidden_};
    if (!w_.Has(3)) {
      const size_t bytes = static_cast<size_t>(dims[0] * dims[1]) * onnx_optim::BytesOf(type);
      return w_.Const("B", type, dims, Bytes(std::string(bytes, '\0')));
    }
    const std::vector<std::pair<int, int>> sums = BiasSums(kind_.gates, linear_before_reset_);
    if (const auto tensor = w_.Constant(3)) {
      if (tensor->dims().size() != 2 || tensor->dims()[1] != 2 * gates() * hidden_ || tensor->dims()[0] != directions_)
        w_.Refuse("input 3 'B'", "its dims are not those of the directions and gates");
      if (const auto bytes = SumBlocks(*tensor, sums, hidden_, part.first, part.count))
        return w_.Const("B", type, dims, *bytes);
    }
    const IrType block = Typed({part.count, hidden_});
    const std::vector<IrRef> given = w_.Steps(
        "biases", "Split", "opset1", {Directions(w_.In(3), 0, part), w_.Int64("axis", 1)},
        {{"num_splits", std::to_string(2 * gates())}}, std::vector<IrType>(static_cast<size_t>(2 * gates()), block));
    std::vector<IrRef> parts;
    for (const auto& [a, b] : sums) {
      const IrRef first = given[static_cast<size_t>(a)];
      parts.push_back(b < 0 ? first
                            : w_.Step("bias", "Add", "opset1", {first, given[static_cast<size_t>(b)]},
                                      {{"auto_broadcast", "numpy"}}, block));
    }
    return parts.size() == 1 ? parts.front() : w_.Step("B", "Concat", "opset1", parts, {{"axis", "1"}}, Typed(dims));
  }

  std::vector<IrRef> WritePart(const Part& part, const IrRef& lengths) {
    std::vector<IrRef> inputs{x_, State(5, part)};
    if (kind_.has_cell) inputs.push_back(!w_.Has(5) && !w_.Has(6) ? inputs.back() : State(6, part));
    inputs.push_back(lengths);
    inputs.push_back(Weights(1, "W", part));
    inputs.push_back(Weights(2, "R", part));
    inputs.push_back(Bias(part));
    std::string functions;
    for (const std::string& name : part.functions) functions += (functions.empty() ? "" : ", ") + name;
    IrData data{{"hidden_size", std::to_string(hidden_)}, {"direction", part.direction}, {"activations", functions}};
    if (clip_ > 0 && std::isfinite(clip_)) data.emplace_back("clip", IrText(clip_));
    if (linear_before_reset_) data.emplace_back("linear_before_reset", "true");
    std::vector<IrType> types{Typed({batch(), part.count, steps(), hidden_}), Typed({batch(), part.count, hidden_})};
    if (kind_.has_cell) types.push_back(types.back());
    return w_.Steps(part.direction, kind_.layer, "opset5", inputs, data, types);
  }

  IrNodeWriter& w_;
  const Kind& kind_;
  int64_t layout_ = 0, hidden_ = 0, directions_ = 1;
  float clip_ = 0;
  bool linear_before_reset_ = false, input_forget_ = false;
  std::vector<Part> parts_;
  IrRef x_;
  std::array<int64_t, 2> sizes_{-1, -1};
  std::optional<IrRef> shape_;
};

}  // namespace

void WriteLstm(IrNodeWriter& w) { SequenceWriter(w, kLstm).Write(); }
void WriteGru(IrNodeWriter& w) { SequenceWriter(w, kGru).Write(); }
void WriteRnn(IrNodeWriter& w) { SequenceWriter(w, kRnn).Write(); }

// A layer of org.openvinotoolkit is itself. What an LSTM had before opset5, the cell before opset4, it has in opset1.
void WriteRecurrentLayer(IrNodeWriter& w) {
  const std::string_view type = w.node().op_type();
  const bool lstm = type.starts_with("LSTM"), sequence = type.ends_with("Sequence");
  const int inputs = (lstm ? 6 : 5) + (sequence ? 1 : 0);
  const bool peepholes = lstm && w.Has(inputs), input_forget = lstm && w.Int("input_forget", 0) != 0;
  const std::string format = lstm ? w.String("weights_format", "fico") : "fico";
  const bool legacy = peepholes || input_forget || format != "fico";
  const std::string_view version = legacy              ? "opset1"
                                   : sequence          ? "opset5"
                                   : lstm              ? "opset4"
                                   : type == "GRUCell" ? "opset3"
                                                       : "opset1";
  std::vector<IrRef> refs;
  for (int i = 0; i < inputs + (peepholes ? 1 : 0); ++i) refs.push_back(w.In(i));
  const IrType& state = *refs[1].type;
  const int64_t hidden = w.Int("hidden_size", state.rank() > 0 ? state.dims.back() : -1);
  if (hidden <= 0) w.RefuseAttribute("hidden_size", "must be known");
  IrData data{{"hidden_size", std::to_string(hidden)}};
  if (sequence) data.emplace_back("direction", LowerCase(w.String("direction", "forward")));
  std::string functions;
  std::vector<std::string> names = w.Strings("activations");
  const std::vector<std::string_view>& usual = lstm                      ? kLstm.functions
                                               : type.starts_with("GRU") ? kGru.functions
                                                                         : kRnn.functions;
  if (names.empty()) names.assign(usual.begin(), usual.end());
  for (const std::string& name : names) functions += (functions.empty() ? "" : ", ") + LowerCase(name);
  data.emplace_back("activations", functions);
  for (const char* name : {"activations_alpha", "activations_beta"})
    if (const std::vector<float> values = w.Floats(name); !values.empty()) data.emplace_back(name, IrText(values));
  if (const float clip = w.Float("clip", 0); clip > 0 && std::isfinite(clip)) data.emplace_back("clip", IrText(clip));
  if (w.Int("linear_before_reset", 0) != 0) data.emplace_back("linear_before_reset", "true");
  if (legacy) data.emplace_back("weights_format", format);
  if (input_forget) data.emplace_back("input_forget", "true");
  w.Finish(type, version, refs, data, (lstm ? 2 : 1) + (sequence ? 1 : 0));
}

}  // namespace ONNX_LIGHT_NAMESPACE
