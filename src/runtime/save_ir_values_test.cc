// SPDX-License-Identifier: Apache-2.0
// Operators as OpenVINO IR and read again: which layers they become, and that these give the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/save_ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Case {
  int opset;
  std::string graph;
  std::vector<std::string> layers;
};

// Numbers between -1 and 1 that do not repeat soon, whole ones between 0 and 6; dims that are not known are 3.
Value FeedFor(const ValueDescription& input, int seed) {
  Shape shape;
  for (const ValueDescription::Dim& dim : input.shape.value()) shape.push_back(dim.size.value_or(3));
  const auto filled = [&]<class T>(T) {
    Tensor tensor(kTensorTypeOf<T>, shape);
    for (int64_t i = 0; i < tensor.NumElements(); ++i)
      tensor.MutableView<T>()[static_cast<size_t>(i)] =
          std::is_floating_point_v<T> ? static_cast<T>(std::sin(1.7 * static_cast<double>(i) + seed))
                                      : static_cast<T>((i * 5 + seed) % 7 % (std::is_same_v<T, bool> ? 2 : 7));
    return Value(tensor);
  };
  if (input.type == "tensor(int64)") return filled(int64_t());
  if (input.type == "tensor(uint8)") return filled(uint8_t());
  if (input.type == "tensor(double)") return filled(double());
  if (input.type == "tensor(bool)") return filled(bool());
  return filled(float());
}

std::vector<double> Numbers(const Value& value) {
  const Tensor& tensor = value.tensor();
  const auto widened = [&](const auto& view) { return std::vector<double>(view.begin(), view.end()); };
  if (tensor.dtype() == TensorType::kInt64) return widened(tensor.View<int64_t>());
  if (tensor.dtype() == TensorType::kUint8) return widened(tensor.View<uint8_t>());
  if (tensor.dtype() == TensorType::kDouble) return widened(tensor.View<double>());
  return widened(tensor.View<float>());
}

// Both give the same.
void CheckSame(const ModelProto& model, const ModelProto& other) {
  const Session before = Session::FromModel(model), after = Session::FromModel(other);
  ValueMap feeds;
  for (const ValueDescription& input : before.inputs())
    feeds[input.name] = FeedFor(input, static_cast<int>(feeds.size()));
  const ValueMap expected = before.Run(feeds), got = after.Run(feeds);
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(got.at(name).TypeString(), value.TypeString()) << name;
    EXPECT_THAT(Numbers(got.at(name)), testing::Pointwise(testing::DoubleNear(1e-5), Numbers(value))) << name;
  }
}

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.graph);
    const ModelProto model = FromGraphText(c.graph, c.opset);
    const IrFiles files = ToIr(model);
    EXPECT_THAT(Layers(files.xml), testing::ElementsAreArray(c.layers));
    CheckSame(model, Read(files));
  }
}

TEST(SaveIrValues, FourierTransforms) {
  Check({{17, "g (float[2,5,2] x) => (float[2,5,2] y) { y = DFT(x) }", {"DFT"}},
         {20, "g (float[2,5,2] x, int64 n) => (float[2,5,2] y) <int64 a = {-3}> { y = DFT(x, \"\", a) }", {"DFT"}},
         {17, "g (float[2,5,2] x) => (float[2,7,2] y) <int64 n = {7}> { y = DFT<inverse = 1>(x, n) }", {"IDFT"}},
         {17,
          "g (float[2,5,2] x, float[N] s) => (float[2,N,2] y) { n = Size(s) y = DFT(x, n) }",
          {"ShapeOf", "ReduceProd", "Reshape", "DFT"}},
         {17, "g (float[2,5,1] x) => (float[2,3,2] y) { y = DFT<onesided = 1>(x) }", {"Squeeze", "RDFT"}},
         {17,
          "g (double[2,5,1] x) => (double[2,3,2] y) <int64 n = {4}> { y = DFT<onesided = 1>(x, n) }",
          {"Squeeze", "RDFT"}},
         {17, "g (float[2,5,1] x) => (float[2,5,2] y) { y = DFT(x) }", {"Pad", "DFT"}},
         {17,
          "g (float[6,4] w, float[2,20,1] x) => (float[2,N,3,2] y) <int64 s = {2}, float[4] v = {1, 2, 3, 4}> "
          "{ y = STFT(x, s, v) }",
          {"Reshape", "ShapeOf", "Squeeze", "Reshape", "STFT"}},
         {17,
          "g (float[2,20,1] x) => (float[2,N,3,2] y) <int64 s = {2}, int64 l = {4}> { y = STFT(x, s, \"\", l) }",
          {"Reshape", "Reshape", "Reshape", "Broadcast", "Squeeze", "STFT"}}});
}

// What is given besides pads: sizes of the output, or that it is as large as the strides make it.
TEST(SaveIrValues, ConvTransposeCut) {
  const auto graph = [](const std::string& attributes) {
    return "g (float[1,2,5] x, float[2,3,4] w) => (float[1,3,N] y) { y = ConvTranspose<" + attributes + ">(x, w) }";
  };
  const std::vector<std::string> layers = {"ConvolutionBackpropData"};
  Check({{17, graph("strides = [2], output_shape = [9]"), layers},
         {17, graph("strides = [2], output_shape = [9], auto_pad = \"SAME_UPPER\""), layers},
         {17, graph("strides = [2], output_shape = [9], auto_pad = \"SAME_LOWER\""), layers},
         {17, graph("strides = [2], output_shape = [9], output_padding = [1]"), layers},
         {17, graph("strides = [3], auto_pad = \"SAME_UPPER\""), layers},
         {17, graph("strides = [3], auto_pad = \"SAME_LOWER\", dilations = [2], output_padding = [1]"), layers}});
}

TEST(SaveIrValues, PadOfSomeAxes) {
  Check({{18,
          "g (float[2,3,4] x) => (float[2,N,M] y) <int64[4] p = {1, 0, 2, -1}, int64[2] a = {-1, 1}> { y = Pad(x, p, "
          "\"\", a) }",
          {"Pad"}},
         {18,
          "g (float[2,3,4] x, float[N] s) => (float[2,3,M] y) <int64[1] a = {-1}> { n = Shape(s) p = Concat<axis = "
          "0>(n, n) y = Pad(x, p, \"\", a) }",
          {"ShapeOf", "Concat", "Split", "ScatterUpdate", "ScatterUpdate", "Pad"}}});
}

TEST(SaveIrValues, Normalizations) {
  Check({{21,
          "g (float[2,4,3] x, float[4] s, float[4] b) => (float[2,4,3] y) { y = GroupNormalization<num_groups = 2>(x, "
          "s, b) }",
          {"GroupNormalization"}},
         {17,
          "g (float[2,3,4] x, float[3,4] s) => (float[2,3,4] y, float[2,1,1] m, float[2,1,1] d) { y, m, d = "
          "LayerNormalization<axis = 1>(x, s) }",
          {"MVN", "Multiply", "ReduceMean", "ReduceMean", "Subtract", "Multiply", "ReduceMean", "Add", "Sqrt",
           "Divide"}}});
}

// Heads as an axis and side by side, fewer of keys, a cache, masks, windows, and queries that see nothing.
TEST(SaveIrValues, Attention) {
  const auto check = [](const std::string& graph) {
    SCOPED_TRACE(graph);
    const ModelProto model = FromGraphText(graph, 25);
    const IrFiles files = ToIr(model);
    EXPECT_THAT(Layers(files.xml), testing::Not(testing::Contains("Attention")));
    CheckSame(model, Read(files));
  };
  check("g (float[2,4,3,5] q, float[2,2,4,5] k, float[2,2,4,6] v) => (float[2,4,3,6] y) { y = Attention(q, k, v) }");
  check(
      "g (float[2,3,8] q, float[2,4,4] k, float[2,4,6] v, bool[2,1,3,4] m) => (float[2,3,12] y, float[2,4,3,4] s) { y, "
      "\"\", \"\", s = Attention<q_num_heads = 4, kv_num_heads = 2, softcap = 0.7, qk_matmul_output_mode = 3>(q, k, v, "
      "m) }");
  check(
      "g (float[2,2,3,4] q, float[2,2,3,4] k, float[2,2,3,4] v, float[3,4] m, float[2,2,2,4] a, float[2,2,2,4] b) => "
      "(float[2,2,3,4] y, float[2,2,5,4] c, float[2,2,5,4] d) { y, c, d = Attention<is_causal = 1, scale = 0.3>(q, k, "
      "v, m, a, b) }");
  check(
      "g (float[2,1,5,2] q, float[2,1,6,2] k, float[2,1,6,2] v, int64[2] n) => (float[2,1,5,2] y) { y = "
      "Attention<left_window_size = 1, right_window_size = 0>(q, k, v, \"\", \"\", \"\", n) }");
  check(
      "g (double[1,2,3,4] q, double[1,2,3,4] k, double[1,2,3,4] v) => (double[1,2,3,4] y, double[1,2,3,3] s) { y, "
      "\"\", \"\", s = Attention<qk_matmul_output_mode = 1, softcap = 2.0>(q, k, v) }");
}

TEST(SaveIrValues, ImagesAndBoxes) {
  Check(
      {{16, "g (float[1,2,4,5] x, float[1,3,3,2] g) => (float[1,2,3,3] y) { y = GridSample(x, g) }", {"GridSample"}},
       {20,
        "g (float[1,2,4,5] x, float[1,3,3,2] g) => (float[1,2,3,3] y) { y = GridSample<mode = \"cubic\", padding_mode "
        "= \"reflection\", align_corners = 1>(x, g) }",
        {"GridSample"}},
       {16,
        "g (float[1,2,8,8] x, float[2,4] r) => (float[2,2,2,3] y) <int64[2] b = {0, 0}> { y = RoiAlign<output_height "
        "= 2, output_width = 3, spatial_scale = 0.5>(x, r, b) }",
        {"ROIAlign"}},
       {10,
        "g (float[1,2,8,8] x, float[2,4] r) => (float[2,2,1,1] y) <int64[2] b = {0, 0}> { y = RoiAlign<sampling_ratio "
        "= 2>(x, r, b) }",
        {"ROIAlign"}},
       {18,
        "g (float[1,1,4,4] x) => (float[1,1,2,3] y) <int64[4] s = {1, 1, 2, 3}> { y = Resize<antialias = 1, "
        "exclude_outside = 1, mode = \"linear\">(x, \"\", \"\", s) }",
        {"Interpolate"}},
       {18,
        "g (float[1,12,6] x) => (float[1,3,4,5] y) <int64[2] s = {4, 5}, int64[2] b = {2, 2}> { y = "
        "Col2Im<strides = [2, 2], pads = [0, 1, 0, 0]>(x, s, b) }",
        {"Col2Im"}}});
}

// Scores below 0 are chosen too where no threshold is given.
TEST(SaveIrValues, NonMaxSuppression) {
  const IrFiles files = ToIr(FromGraphText(
      "g (float[1,3,4] b, float[1,1,3] s) => (int64[N,3] y) <int64 m = {3}> { y = NonMaxSuppression(b, s, m) }", 11));
  EXPECT_THAT(Layers(files.xml), testing::Contains("NonMaxSuppression"));
  const ValueMap got = Session::FromModel(Read(files))
                           .Run({{"b", Tensor::Of<float>(Shape{1, 3, 4}, {0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 2.9F})},
                                 {"s", Tensor::Of<float>(Shape{1, 1, 3}, {-1, 0.5F, 0.25F})}});
  EXPECT_THAT(Numbers(got.at("y")), testing::ElementsAre(0, 0, 1, 0, 0, 0));
}

TEST(SaveIrValues, WholeNumbers) {
  const std::vector<std::string> held = {"Less", "Minimum", "BitwiseLeftShift", "Select"};
  Check({{17, "g (uint8[4] x, uint8[4] b) => (uint8[4] y) { y = BitShift<direction = \"LEFT\">(x, b) }", held},
         {17, "g (uint8[4] x) => (uint8[4] y) <uint8[4] b = {0, 7, 8, 9}> { y = BitShift<direction = \"LEFT\">(x, b) }",
          held},
         {17,
          "g (uint8[4] x) => (uint8[4] y) <uint8 b = {2}> { y = BitShift<direction = \"RIGHT\">(x, b) }",
          {"BitwiseRightShift"}},
         {17,
          "g (int64[9] x) => (int64[N] y, int64[N] i, int64[9] j, int64[N] c) { y, i, j, c = Unique(x) }",
          {"Unique"}},
         {17,
          "g (int64[3,4] x) => (int64[3,N] y, int64[4] j) { y, \"\", j = Unique<axis = 1, sorted = 0>(x) }",
          {"Unique"}}});
}

TEST(SaveIrValues, Arithmetic) {
  const std::vector<std::string> log_sum = {"ReduceMax", "IsFinite", "Select", "Subtract", "Exp", "ReduceSum", "Log"};
  std::vector<std::string> kept = log_sum, squeezed = log_sum;
  kept.push_back("Add");
  squeezed.insert(squeezed.end(), {"Add", "Squeeze"});
  Check(
      {{24, "g (float[3,4] x) => (float[3,4] y) { y = Swish<alpha = 0.5>(x) }", {"Swish"}},
       {17,
        "g (float[3,4] x) => (float[3,4] y) { y = Celu<alpha = 0.5>(x) }",
        {"ReLU", "Minimum", "Divide", "Elu", "Multiply", "Add"}},
       {13,
        "g (float[3,4,2] x) => (float[3,4,2] y) { y = Hardmax<axis = 1>(x) }",
        {"TopK", "Squeeze", "ShapeOf", "Gather", "OneHot"}},
       {23,
        "g (float[3,4,2] x, float[4,2] s) => (float[3,4,2] y) { y = RMSNormalization<axis = 1>(x, s) }",
        {"Multiply", "ReduceMean", "Add", "Sqrt", "Divide", "Multiply"}},
       {18, "g (float[3,4,2] x) => (float[3,1,2] y) <int64[1] a = {1}> { y = ReduceLogSumExp(x, a) }", kept},
       {13, "g (float[3,4,2] x) => (float[4] y) { y = ReduceLogSumExp<axes = [0, -1], keepdims = 0>(x) }", squeezed}});
}

// Sums that would be too large, and of nothing but infinities.
TEST(SaveIrValues, ReduceLogSumExpOfWhatIsNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const ModelProto model = Read(
      ToIr(FromGraphText("g (float[4,2] x) => (float[4] y) { y = ReduceLogSumExp<axes = [1], keepdims = 0>(x) }")));
  const Value y = Session::FromModel(model)
                      .Run({{"x", Tensor::Of<float>(Shape{4, 2}, {100, 100, -kInf, -kInf, kInf, 0, NAN, 0})}})
                      .at("y");
  EXPECT_NEAR(Floats(y)[0], 100 + std::log(2.0), 1e-5);
  EXPECT_EQ(Floats(y)[1], -kInf);
  EXPECT_EQ(Floats(y)[2], kInf);
  EXPECT_TRUE(std::isnan(Floats(y)[3]));
}

TEST(SaveIrValues, WholeNumbersWithScale) {
  Check({{13,
          "g (float[2,3] x) => (uint8[2,3] y) <float s = {0.01}, uint8 z = {100}> { y = QuantizeLinear(x, s, z) }",
          {"Divide", "Round", "Convert", "Add", "Clamp", "Convert"}},
         {13,
          "g (float[2,3] x) => (uint8[2,3] y) <float[3] s = {0.01, 0.2, 0.001}, uint8[3] z = {0, 7, 255}> { y = "
          "QuantizeLinear<axis = -1>(x, s, z) }",
          {"Reshape", "Divide", "Round", "Convert", "Reshape", "Add", "Clamp", "Convert"}},
         {13,
          "g (uint8[2,3] x) => (float[2,3] y) <float[2] s = {0.1, 0.2}, uint8[2] z = {3, 0}> { y = "
          "DequantizeLinear<axis = 0>(x, s, z) }",
          {"Convert", "Convert", "Reshape", "Subtract", "Reshape", "Multiply"}},
         {10, "g (uint8[2,3] x, float s) => (float[2,3] y) { y = DequantizeLinear(x, s) }", {"Convert", "Multiply"}}});
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
