// SPDX-License-Identifier: Apache-2.0
// Random graphs of recurrent layers that run at the same time, stacked or side by side: to the bit what they give one
// by one, on any number of threads. ONNXSEQ_RNN_SEEDS=FIRST:COUNT in the environment runs other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "onnxseq/session.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class StackMaker {
 public:
  explicit StackMaker(uint32_t seed) : engine_(seed) {
    for (const auto& [domain, version] : {std::pair<const char*, int64_t>{"", 17}, {"org.openvinotoolkit", 1}}) {
      OperatorSetIdProto& opset = *model_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    model_.set_ir_version(9);
    graph().set_name("g");
    is_double_ = Chance(0.25);
    const int64_t chains = Int(1, 3);
    for (int64_t chain = 0; chain < chains; ++chain) Chain(std::string(1, static_cast<char>('a' + chain)), chains == 1);
  }

  ModelProto model_;
  ValueMap feeds;
  int64_t stacked = 0;  // layers that may follow another one step by step

 private:
  enum class Form : uint8_t { kTimeMajor, kBatchMajor, kOpenVino };

  int64_t Int(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(engine_); }
  GraphProto& graph() { return *model_.mutable_graph(); }

  template <class T>
  Tensor Reals(const Shape& shape, double bound) {
    Tensor tensor(kTensorTypeOf<T>, shape);
    std::uniform_real_distribution<double> distribution(-bound, bound);
    for (T& value : tensor.MutableView<T>()) value = static_cast<T>(distribution(engine_));
    return tensor;
  }
  Tensor Random(const Shape& shape, double bound) {
    return is_double_ ? Reals<double>(shape, bound) : Reals<float>(shape, bound);
  }

  std::string Constant(const std::string& name, const Tensor& tensor) {
    *graph().add_initializer() = TensorToProto(tensor, name);
    return name;
  }
  // With its sizes, or names for those.
  std::string Input(const std::string& name, Tensor tensor, const std::vector<std::string>& dims) {
    ValueInfoProto& input = *graph().add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int32_t>(tensor.dtype()));
    for (size_t i = 0; i < dims.size(); ++i) {
      TensorShapeProto_Dimension& dim = *type.mutable_shape()->add_dim();
      if (dims[i].empty())
        dim.set_dim_value(tensor.dim(static_cast<int>(i)));
      else
        dim.set_dim_param(dims[i]);
    }
    feeds[name] = std::move(tensor);
    return name;
  }
  void Output(const std::string& name) { graph().add_output()->set_name(name); }
  NodeProto& Node(const std::string& type, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
    NodeProto& node = *graph().add_node();
    node.set_op_type(type);
    node.set_name(outputs[0].empty() ? "node_" + outputs[1] : "node_" + outputs[0]);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  static AttributeProto& Attribute(NodeProto& node, const char* name, AttributeProto::AttributeType type) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  // Layers of one form and direction, each reading the one before, or with another direction, which it can only read
  // when that is done.
  void Chain(const std::string& name, bool several) {
    const auto form = static_cast<Form>(Int(0, 2));
    const bool time_major = form == Form::kTimeMajor, symbolic = Chance(0.6);
    rows_ = Int(1, 9);
    steps_ = Int(1, 40);
    int64_t inputs = Int(1, 20);
    const std::string t = symbolic ? "T" + name : "", n = symbolic ? "N" + name : "";
    std::string x =
        Input("x" + name, Random(time_major ? Shape{steps_, rows_, inputs} : Shape{rows_, steps_, inputs}, 1),
              time_major ? std::vector<std::string>{t, n, ""} : std::vector<std::string>{n, t, ""});
    lengths_.clear();
    if (form == Form::kOpenVino || Chance(0.5)) lengths_ = Lengths("lengths" + name, n);
    bool reverse = Chance(0.4);
    const int64_t layers = Int(several ? 2 : 1, 4);
    for (int64_t layer = 0; layer < layers; ++layer) {
      const bool other_lengths = form != Form::kOpenVino && Chance(0.2);
      if (other_lengths) lengths_ = Chance(0.5) ? "" : Lengths("lengths" + name + std::to_string(layer), n);
      bool follows = layer > 0;
      if (Chance(0.1)) {
        reverse = !reverse;
        follows = false;
      }
      if (follows) ++stacked;
      const std::string id = name + std::to_string(layer);
      const int64_t hidden = Int(1, 40);
      const bool last = layer + 1 == layers;
      Layer(id, form, x, inputs, hidden, n, reverse, last);
      if (!last) x = Between(id, form);
      inputs = hidden;
    }
  }

  std::string Lengths(const std::string& name, const std::string& n) {
    Tensor lengths(TensorType::kInt32, Shape{rows_});
    for (int32_t& length : lengths.MutableView<int32_t>()) length = static_cast<int32_t>(Int(0, steps_));
    return Input(name, std::move(lengths), {n});
  }

  void Layer(const std::string& id, Form form, const std::string& x, int64_t inputs, int64_t hidden,
             const std::string& n, bool reverse, bool last) {
    const std::string kind = std::vector<std::string>{"LSTM", "GRU", "RNN"}[static_cast<size_t>(Int(0, 2))];
    const bool lstm = kind == "LSTM", openvino = form == Form::kOpenVino;
    const int64_t gates = lstm ? 4 : kind == "GRU" ? 3 : 1;
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    const std::string w = Constant("w" + id, Random({1, gates * hidden, inputs}, bound)),
                      r = Constant("r" + id, Random({1, gates * hidden, hidden}, bound));
    std::string b, h0, c0, p;
    if (openvino || Chance(0.7)) b = Constant("b" + id, Random({1, (openvino ? 1 : 2) * gates * hidden}, 0.5));
    const bool time_major = form == Form::kTimeMajor;
    const auto state = [&](const std::string& name) {
      return Input(name, Random(time_major ? Shape{1, rows_, hidden} : Shape{rows_, 1, hidden}, 1),
                   time_major ? std::vector<std::string>{"", n, ""} : std::vector<std::string>{n, "", ""});
    };
    if (openvino || Chance(0.5)) h0 = state("h" + id);
    if (lstm && (openvino || Chance(0.5))) c0 = state("c" + id);
    if (lstm && !openvino && Chance(0.3)) p = Constant("p" + id, Random({1, 3 * hidden}, 0.5));
    std::vector<std::string> given;
    if (openvino) {
      given = lstm ? std::vector<std::string>{x, h0, c0, lengths_, w, r, b}
                   : std::vector<std::string>{x, h0, lengths_, w, r, b};
    } else {
      given = {x, w, r, b, lengths_, h0};
      if (lstm) given.insert(given.end(), {c0, p});
    }
    // Some outputs that nobody wants, some that others want, too.
    const bool final_h = last || Chance(0.3), final_c = lstm && Chance(0.3), y = !last || Chance(0.7);
    std::vector<std::string> outputs{y ? "y" + id : "", final_h ? "hn" + id : "", final_c ? "cn" + id : ""};
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].empty() && (i > 0 || last || Chance(0.2))) Output(outputs[i]);
    while (outputs.back().empty()) outputs.pop_back();
    NodeProto& node = Node(kind + (openvino ? "Sequence" : ""), given, outputs);
    if (openvino) node.set_domain("org.openvinotoolkit");
    Attribute(node, "hidden_size", AttributeProto::INT).set_i(hidden);
    Attribute(node, "direction", AttributeProto::STRING).set_s(reverse ? "reverse" : "forward");
    if (form == Form::kBatchMajor) Attribute(node, "layout", AttributeProto::INT).set_i(1);
    if (kind == "GRU" && !openvino && Chance(0.5)) Attribute(node, "linear_before_reset", AttributeProto::INT).set_i(1);
    if (Chance(0.2)) Attribute(node, "clip", AttributeProto::FLOAT).set_f(0.5f);
  }

  // What exporters write between two layers, all of it moving nothing.
  std::string Between(const std::string& id, Form form) {
    const std::string y = "y" + id, s = "s" + id, m = "m" + id;
    const int64_t axis = form == Form::kBatchMajor ? 2 : 1;
    const auto ints = [&](const std::string& name, std::vector<int64_t> values) {
      return Constant(name, Tensor::Of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values));
    };
    switch (Int(0, 2)) {
      case 0:
        Node("Squeeze", {y, ints("i" + id, {axis})}, {s});
        break;
      case 1: {
        // The axis of directions goes to the last but one place, and from there into the last one.
        std::vector<int64_t> perm{0, 1, 2, 3};
        perm.erase(perm.begin() + axis);
        perm.insert(perm.begin() + 2, axis);
        Attribute(Node("Transpose", {y}, {m}), "perm", AttributeProto::INTS).mutable_ints()->extend(perm);
        Node("Reshape", {m, ints("i" + id, {0, 0, -1})}, {s});
        break;
      }
      default:
        Node("Unsqueeze", {y, ints("i" + id, {0})}, {m});
        Node("Squeeze", {m, ints("j" + id, {0, axis + 1})}, {s});
    }
    if (Chance(0.15)) Output(s);
    return s;
  }

  std::mt19937 engine_;
  bool is_double_ = false;
  int64_t rows_ = 1, steps_ = 1;
  std::string lengths_;
};

void ExpectSameBits(const ValueMap& got, const ValueMap& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, value] : expected) {
    const Tensor &a = got.at(name).tensor(), &b = value.tensor();
    ASSERT_EQ(a.shape(), b.shape()) << name;
    ASSERT_EQ(a.dtype(), b.dtype()) << name;
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(b.ByteSize())), 0) << name;
  }
}

TEST(RecurrentStacks, GiveTheBitsOfTheirNodes) {
  uint32_t first = 1, count = 150, grouped = 0;
  if (const char* text = std::getenv("ONNXSEQ_RNN_SEEDS"); text != nullptr) {
    EXPECT_EQ(std::sscanf(text, "%u:%u", &first, &count), 2) << text;
  }
  int64_t stacked = 0, behind = 0;
  setenv("ONNXSEQ_GROUP_FROM", "0", 1);  // the sizes here are small
  for (uint32_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    StackMaker stack(seed);
    SessionOptions options;
    options.weights = seed % 5 == 0   ? WeightStorage::kBf16
                      : seed % 5 == 1 ? WeightStorage::kInt8
                                      : WeightStorage::kFull;
    options.optimize = false;
    options.threads = 1;
    const ValueMap expected = Session::FromModel(stack.model_, options).Run(stack.feeds);
    options.optimize = true;
    for (const int threads : {1, 2, 3, 4}) {
      options.threads = threads;
      const Session session = Session::FromModel(stack.model_, options);
      for (int repeat = 0; repeat < 2; ++repeat) ExpectSameBits(session.Run(stack.feeds), expected);
      const std::string explained = session.Explain();
      const bool is_grouped = explained.find("group recurrent nodes: ") != std::string::npos;
      EXPECT_FALSE(is_grouped && threads == 1);
      if (threads != 2) continue;
      if (is_grouped) ++grouped;
      for (size_t at = 0; (at = explained.find(" behind ", at)) != std::string::npos; ++at) ++behind;
    }
    stacked += stack.stacked;
    if (testing::Test::HasFailure()) break;
  }
  unsetenv("ONNXSEQ_GROUP_FROM");
  EXPECT_GE(grouped, count * 3 / 4);
  EXPECT_EQ(behind, stacked);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
