// SPDX-License-Identifier: Apache-2.0
// What --lower writes as other layers: the IR gives what the model gives.
#include <gmock/gmock.h>

#include <random>

#include "runtime/save_ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Value Numbers(Shape shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<float> values(static_cast<size_t>(shape.NumElements()));
  for (float& value : values) value = numbers(random);
  return Tensor::Of<float>(std::move(shape), values);
}

// Runs the model and its IR, which must give the same; returns the IR.
IrFiles Lowered(const ModelProto& model, const ValueMap& feeds) {
  const IrFiles files = ToIr(model, {.lower = true, .version = 11});
  const ValueMap expected = Session::FromModel(model).Run(feeds), got = Session::FromModel(Read(files)).Run(feeds);
  EXPECT_EQ(got.size(), expected.size());
  for (const auto& [name, value] : expected) {
    const auto floats = Floats(value), lowered = Floats(got.at(name));
    EXPECT_EQ(lowered.size(), floats.size()) << name;
    for (size_t i = 0; i < std::min(floats.size(), lowered.size()); ++i)
      EXPECT_NEAR(lowered[i], floats[i], 1e-5F) << name << " " << i;
  }
  return files;
}

// An LSTM with peepholes and coupled gates.
std::string Lstm(const std::string& attributes, const std::string& more = "") {
  return "g (float[5,2,3] x, float[1,8,3] w, float[1,8,2] r, float[1,6] p) => (float[T,D,N,2] y, float[D,N,2] h) { " +
         more + "[l] y, h = LSTM<" + attributes + ">(x, w, r, \"\", \"\", \"\", \"\", p) }";
}
const ValueMap kFeeds{{"x", Numbers(Shape{5, 2, 3}, 1)},
                      {"w", Numbers(Shape{1, 8, 3}, 2)},
                      {"r", Numbers(Shape{1, 8, 2}, 3)},
                      {"p", Numbers(Shape{1, 6}, 4)}};

TEST(SaveIrLower, EveryOperatorSetFrom7On) {
  for (const int opset : {7, 8, 9, 10, 12, 13, 14, 17, 22})
    EXPECT_THAT(Layers(Lowered(FromGraphText(Lstm("hidden_size = 2, input_forget = 1"), opset), kFeeds).xml),
                Contains("TensorIterator"))
        << opset;
}

TEST(SaveIrLower, TheHiddenSizeIsThatOfTheWeights) {
  const IrFiles files = Lowered(FromGraphText(Lstm("direction = \"reverse\"")), kFeeds);
  EXPECT_THAT(Layers(files.xml), Contains("TensorIterator"));
}

TEST(SaveIrLower, OfOperatorSetsThatTheLoopCannotHave) {
  const auto thrown = [](const std::string& graph, int opset) {
    return ThrownBy<Unsupported>([&] { ToIr(FromGraphText(graph, opset), {.lower = true, .version = 11}); });
  };
  EXPECT_EQ(thrown(Lstm("hidden_size = 2"), 6),
            "LSTM node \"l\": lowering writes a loop of operator set 9, in which LSTM is another than in the 6 of the "
            "model");
  EXPECT_EQ(thrown(Lstm("hidden_size = 2", "u = Upsample<scales = [1.0, 1.0, 2.0]>(x) "), 8),
            "LSTM node \"l\": lowering writes a loop of operator set 9, in which Upsample is another than in the 8 of "
            "the model");
}

TEST(SaveIrLower, AnLstmOfEachDirection) {
  const std::string text =
      "g (float[5,2,3] x, float[2,8,3] w, float[2,8,2] r) => (float[T,D,N,2] y) { y = LSTM<direction = "
      "\"bidirectional\", activations = [\"Sigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Relu\", \"Tanh\"]>(x, w, r) }";
  const IrFiles files =
      Lowered(FromGraphText(text),
              {{"x", kFeeds.at("x")}, {"w", Numbers(Shape{2, 8, 3}, 5)}, {"r", Numbers(Shape{2, 8, 2}, 6)}});
  int sequences = 0;
  for (const std::string& layer : Layers(files.xml)) sequences += layer == "LSTMSequence" ? 1 : 0;
  EXPECT_EQ(sequences, 2);
}

TEST(SaveIrLower, DefaultsBecomeConstants) {
  const ModelProto model =
      FromGraphText("g (float[2] x, float[2] c) => (float[2] y) <float[2] c = {1, 2}> { y = Add(x, c) }");
  const ModelProto again = Read(ToIr(model, {.lower = true, .version = 11}));
  ASSERT_EQ(again.graph().input_size(), 1);
  EXPECT_THAT(Floats(Session::FromModel(again).Run({{"x", Vec({10, 20})}}).at("y")), ElementsAre(11, 22));
}

// A layer of before opset5 is one without lowering, and nodes that OpenVINO reads with it.
std::string Layer(const std::string& attributes, const std::string& p) {
  return "g (float[2,5,3] x, float[2,1,2] h, float[2,1,2] c, int32[2] l, float[1,8,3] w, float[1,8,2] r, float[1,8] b, "
         "float[1,6] p) => (float[N,D,T,2] y, float[N,D,2] ho, float[N,D,2] co) { [s] y, ho, co = "
         "org.openvinotoolkit.LSTMSequence<hidden_size = 2" +
         attributes + ">(x, h, c, l, w, r, b" + p + ") }";
}
ValueMap LayerFeeds() {
  return {{"x", Numbers(Shape{2, 5, 3}, 1)},
          {"h", Numbers(Shape{2, 1, 2}, 2)},
          {"c", Numbers(Shape{2, 1, 2}, 3)},
          {"l", Tensor::Of<int32_t>(Shape{2}, {5, 3})},
          {"w", kFeeds.at("w")},
          {"r", kFeeds.at("r")},
          {"b", Numbers(Shape{1, 8}, 4)},
          {"p", kFeeds.at("p")}};
}

TEST(SaveIrLower, LegacyLstmsAreTheirLayer) {
  for (const char* attributes : {"", ", weights_format = \"ifco\"", ", input_forget = 1, weights_format = \"iofc\""}) {
    const ModelProto model = FromGraphText(Layer(attributes, ", p"), 22);
    const IrFiles files = ToIr(model);
    EXPECT_THAT(files.xml, HasSubstr("type=\"LSTMSequence\" version=\"opset1\""));
    const ValueMap expected = Session::FromModel(model).Run(LayerFeeds()),
                   got = Session::FromModel(Read(files)).Run(LayerFeeds());
    for (const auto& [name, value] : expected)
      EXPECT_THAT(Floats(got.at(name)), testing::ElementsAreArray(Floats(value))) << name;
    // Read again it is the same layer.
    EXPECT_EQ(ToIr(Read(files)).xml, files.xml);
  }
  EXPECT_THAT(ToIr(FromGraphText(Layer("", ""), 22)).xml, HasSubstr("type=\"LSTMSequence\" version=\"opset5\""));
}

TEST(SaveIrLower, LegacyLstmsBecomeWhatOpenVinoReads) {
  EXPECT_THAT(Layers(Lowered(FromGraphText(Layer("", ", p"), 22), LayerFeeds()).xml), Not(Contains("LSTMSequence")));
  const IrFiles ordered = Lowered(FromGraphText(Layer(", weights_format = \"ifco\"", ""), 22), LayerFeeds());
  EXPECT_THAT(ordered.xml, HasSubstr("type=\"LSTMSequence\" version=\"opset5\""));
  // Read from a file that had it so, too.
  const ModelProto read = ReadModelFile(ONNXSEQ_TEST_DATA "/ir/legacy_opset1_lstmsequence_7in.xml");
  EXPECT_THAT(ToIr(read).xml, HasSubstr("type=\"LSTMSequence\" version=\"opset1\""));
  EXPECT_THAT(ToIr(read, {.lower = true, .version = 11}).xml, HasSubstr("type=\"LSTMSequence\" version=\"opset5\""));
  // ai.onnx does not couple gates that way: the layer stays.
  EXPECT_THAT(Lowered(FromGraphText(Layer(", input_forget = 1", ", p"), 22), LayerFeeds()).xml,
              HasSubstr("type=\"LSTMSequence\" version=\"opset1\""));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
