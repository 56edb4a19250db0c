// SPDX-License-Identifier: Apache-2.0
// What must hold between runs of LSTM whatever the numbers: attributes matter, layouts are transposes of one another,
// reverse is the reversed input, a sequence may be cut, the batch does not matter.
#include <cmath>
#include <random>

#include "onnx_io/text_parser.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kT = 5, kN = 3, kI = 4, kH = 6;

Tensor Random(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.75f, 0.75f);
  Tensor tensor(TensorType::kFloat, std::move(shape));
  for (float& x : tensor.MutableView<float>()) x = uniform(random);
  return tensor;
}

Tensor Transposed01(const Tensor& from) {  // [a,b,c...] -> [b,a,c...]
  Shape shape(from.shape());
  std::swap(shape[0], shape[1]);
  Tensor to(TensorType::kFloat, shape);
  const int64_t a = from.dim(0), b = from.dim(1), rest = from.NumElements() / std::max<int64_t>(1, a * b);
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      std::copy_n(from.View<float>().data() + (i * b + j) * rest, rest,
                  to.MutableView<float>().data() + (j * a + i) * rest);
    }
  }
  return to;
}

struct LstmRun {
  std::string attributes = {};
  int64_t directions = 1;
  bool batch_first = false;
  std::optional<Tensor> x = {}, h0 = {}, c0 = {}, lens = {};
  bool peepholes = false;

  ValueMap operator()() const {
    const std::string graph =
        "g (float[?,?,?] x, float[?,?,?] w, float[?,?,?] r, float[?,?] b, int32[?] lens, float[?,?,?] h0, "
        "float[?,?,?] c0, float[?,?] p) => (y, yh, yc) { y, yh, yc = LSTM<" +
        attributes + std::string(attributes.empty() ? "" : ", ") + "hidden_size = 6>(x, w, r, b, " +
        (lens ? "lens" : "") + ", h0, c0, " + (peepholes ? "p" : "") + ") }";
    const int64_t d = directions;
    ValueMap feeds{{"x", x ? *x : Random(batch_first ? Shape{kN, kT, kI} : Shape{kT, kN, kI}, 1)},
                   {"w", Random(Shape{d, 4 * kH, kI}, 2)},
                   {"r", Random(Shape{d, 4 * kH, kH}, 3)},
                   {"b", Random(Shape{d, 8 * kH}, 4)},
                   {"lens", lens ? *lens : Tensor::Of<int32_t>(Shape{1}, {1})},
                   {"h0", h0 ? *h0 : Random(batch_first ? Shape{kN, d, kH} : Shape{d, kN, kH}, 5)},
                   {"c0", c0 ? *c0 : Random(batch_first ? Shape{kN, d, kH} : Shape{d, kN, kH}, 6)},
                   {"p", Random(Shape{d, 3 * kH}, 7)}};
    return Session::FromModel(ParseModelText("<ir_version: 8, opset_import: [\"\" : 14]>\n" + graph)).Run(feeds);
  }
};

double Distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double most = 0;
  for (int64_t i = 0; i < a.NumElements(); ++i)
    most = std::max(most, std::abs(double{a.View<float>()[i]} - double{b.View<float>()[i]}));
  return most;
}
double Distance(const ValueMap& a, const ValueMap& b, const char* name) {
  return Distance(a.at(name).tensor(), b.at(name).tensor());
}

TEST(LstmRelations, EveryAttributeMatters) {
  const ValueMap plain = LstmRun{}();
  const std::vector<std::pair<std::string, LstmRun>> others = {
      {"clip", {.attributes = "clip = 0.25"}},
      {"input_forget", {.attributes = "input_forget = 1"}},
      {"direction", {.attributes = "direction = \"reverse\""}},
      {"f", {.attributes = "activations = [\"HardSigmoid\", \"Tanh\", \"Tanh\"]"}},
      {"g", {.attributes = "activations = [\"Sigmoid\", \"Softsign\", \"Tanh\"]"}},
      {"h", {.attributes = "activations = [\"Sigmoid\", \"Tanh\", \"Relu\"]"}},
      {"P", {.peepholes = true}},
      {"lens", {.lens = Tensor::Of<int32_t>(Shape{kN}, {2, 5, 1})}},
  };
  for (const auto& [name, other] : others) EXPECT_GT(Distance(plain, other(), "y"), 1e-3) << name;
  const auto affine = [](const std::string& attributes) {
    return LstmRun{.attributes = "activations = [\"Sigmoid\", \"ScaledTanh\", \"Tanh\"]" + attributes}();
  };
  EXPECT_GT(Distance(affine(""), affine(", activation_alpha = [2.0]"), "y"), 1e-3);
  EXPECT_GT(Distance(affine(""), affine(", activation_beta = [2.0]"), "y"), 1e-3);
}

TEST(LstmRelations, Layout1IsTheTranspose) {
  for (const auto& [direction, d] :
       {std::pair<const char*, int64_t>{"forward", 1}, {"reverse", 1}, {"bidirectional", 2}}) {
    SCOPED_TRACE(direction);
    const std::string attributes = std::string("direction = \"") + direction + "\"";
    const Tensor lens = Tensor::Of<int32_t>(Shape{kN}, {2, 5, 0});
    const ValueMap first = LstmRun{.attributes = attributes, .directions = d, .lens = lens, .peepholes = true}();
    LstmRun other{.attributes = attributes + ", layout = 1",
                  .directions = d,
                  .batch_first = true,
                  .lens = lens,
                  .peepholes = true};
    other.x = Transposed01(Random(Shape{kT, kN, kI}, 1));
    other.h0 = Transposed01(Random(Shape{d, kN, kH}, 5));
    other.c0 = Transposed01(Random(Shape{d, kN, kH}, 6));
    const ValueMap second = other();
    EXPECT_EQ(Distance(Transposed01(first.at("yh").tensor()), second.at("yh").tensor()), 0);
    EXPECT_EQ(Distance(Transposed01(first.at("yc").tensor()), second.at("yc").tensor()), 0);
    // [T,D,N,H] against [N,T,D,H].
    const auto y = first.at("y").tensor().View<float>(), z = second.at("y").tensor().View<float>();
    for (int64_t t = 0; t < kT; ++t)
      for (int64_t k = 0; k < d; ++k)
        for (int64_t n = 0; n < kN; ++n)
          for (int64_t h = 0; h < kH; ++h)
            ASSERT_EQ(y[((t * d + k) * kN + n) * kH + h], z[((n * kT + t) * d + k) * kH + h]);
  }
}

// The rows' valid parts turned round by hand.
TEST(LstmRelations, ReverseIsForwardOfTheReversedPrefix) {
  const std::vector<int32_t> lengths{2, 5, 3};
  const Tensor lens = Tensor::Of<int32_t>(Shape{kN}, lengths), x = Random(Shape{kT, kN, kI}, 1);
  Tensor turned = Random(Shape{kT, kN, kI}, 1);
  for (int64_t n = 0; n < kN; ++n) {
    for (int64_t t = 0; t < lengths[n]; ++t) {
      std::copy_n(x.View<float>().data() + ((lengths[n] - 1 - t) * kN + n) * kI, kI,
                  turned.MutableView<float>().data() + (t * kN + n) * kI);
    }
  }
  const ValueMap reverse = LstmRun{.attributes = "direction = \"reverse\"", .x = x, .lens = lens}(),
                 forward = LstmRun{.x = turned, .lens = lens}();
  EXPECT_EQ(Distance(reverse, forward, "yh"), 0);
  EXPECT_EQ(Distance(reverse, forward, "yc"), 0);
  const auto y = reverse.at("y").tensor().View<float>(), z = forward.at("y").tensor().View<float>();
  for (int64_t n = 0; n < kN; ++n) {
    for (int64_t t = 0; t < kT; ++t) {
      const int64_t from = t < lengths[n] ? lengths[n] - 1 - t : t;
      for (int64_t h = 0; h < kH; ++h)
        ASSERT_EQ(y[(t * kN + n) * kH + h], z[(from * kN + n) * kH + h]) << n << " " << t;
    }
  }
}

TEST(LstmRelations, ASequenceMayBeCut) {
  const Tensor x = Random(Shape{kT, kN, kI}, 1);
  const ValueMap whole = LstmRun{.x = x}();
  const ValueMap head = LstmRun{.x = x.Part(0, Shape{2, kN, kI})}();
  const ValueMap tail = LstmRun{
      .x = x.Part(2 * kN * kI, Shape{kT - 2, kN, kI}), .h0 = head.at("yh").tensor(), .c0 = head.at("yc").tensor()}();
  EXPECT_EQ(Distance(whole, tail, "yh"), 0);
  EXPECT_EQ(Distance(whole, tail, "yc"), 0);
  EXPECT_EQ(Distance(whole.at("y").tensor().Part(2 * kN * kH, Shape{kT - 2, 1, kN, kH}), tail.at("y").tensor()), 0);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
