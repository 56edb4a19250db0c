// SPDX-License-Identifier: Apache-2.0
// Random graphs, with passes and without: the same to the bit.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "onnx_io/text_parser.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  // Two floats and what nodes make of them; the last values are outputs, and some in between.
  std::string Text() {
    values_ = {"x", "z"};
    const std::string nodes = Nodes("v", 4 + Below(20), true);
    std::string outputs;
    for (size_t i = 2; i < values_.size(); ++i) {
      if (i + 1 < values_.size() && Below(6) != 0) continue;
      outputs += fmt::format("{}float[A{},B{}] {}", outputs.empty() ? "" : ", ", i, i, values_[i]);
    }
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[N,3] x, float[N,1] z, bool c) => ({}) <float[3] k = {{1, -2, 0.5}}, float one = {{1}}, float[3,3] w "
        "= {{1, 2, -1, 0, 0.5, 1, 3, -2, "
        "0.25}}> {{\n{}}}",
        outputs, nodes);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string Any() { return values_[static_cast<size_t>(Below(static_cast<int>(values_.size())))]; }
  // Often the last one, so that there are chains.
  std::string Near() { return Below(2) == 0 ? values_.back() : Any(); }

  std::string Nodes(const std::string& prefix, int count, bool bodies) {
    static const char* const kUnary[] = {"Neg",      "Abs", "Relu",    "Tanh", "Sigmoid",
                                         "Identity", "Exp", "Dropout", "Sum",  "Floor"};
    static const char* const kBinary[] = {"Add", "Sub", "Mul", "Div", "Max"};
    std::string text;
    for (int i = 0; i < count; ++i) {
      const std::string name = prefix + std::to_string(i);
      switch (Below(bodies ? 10 : 9)) {
        case 0:
        case 1:
        case 2:
          text += fmt::format("  {} = {}({})\n", name, kUnary[Below(10)], Near());
          break;
        case 3:
        case 4:
          text += fmt::format("  {} = {}({}, {})\n", name, kBinary[Below(5)], Near(), Any());
          break;
        case 5:
          text += fmt::format("  {} = {}({}, {})\n", name, kBinary[Below(5)], Near(), Below(2) == 0 ? "k" : "one");
          break;
        case 6:
          text += fmt::format("  {0}_c = Less({1}, {2})\n  {0} = Where({0}_c, {2}, {3})\n", name, Near(), Any(), Any());
          break;
        case 7:
          text += fmt::format("  {0}_t = Transpose({1})\n  {0} = Transpose <perm = [1, 0]> ({0}_t)\n", name, Near());
          break;
        case 8:
          text += fmt::format("  {0}_f = Add({1}, x)\n  {0} = {2}({0}_f, w)\n", name, Near(),
                              Below(2) == 0 ? "MatMul" : "Gemm");
          break;
        default: {
          const std::vector<std::string> outer = values_;
          std::string branches;
          for (const char* branch : {"then", "else"}) {
            const std::string nodes = Nodes(fmt::format("{}_{}_", name, branch), 1 + Below(5), false);
            branches += fmt::format("{}{}_branch = b () => (float[P,Q] {}) {{\n{}}}", branches.empty() ? "" : ", ",
                                    branch, values_.back(), nodes);
            values_ = outer;
          }
          text += fmt::format("  {} = If <{}> (c)\n", name, branches);
        }
      }
      values_.push_back(name);
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> values_;
};

void ExpectSame(const ValueMap& got, const ValueMap& expected, const std::string& mode) {
  for (const auto& [name, value] : expected) {
    const Tensor &a = got.at(name).tensor(), &b = value.tensor();
    ASSERT_EQ(a.shape(), b.shape()) << mode << name;
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.ByteSize()), 0) << mode << name;
  }
}

TEST(OptimizeRandom, GivesTheSameToTheBit) {
  int fused = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    // Fused chains go together, or do so for the largest of the sizes below alone.
    setenv("ONNXSEQ_FUSE_FROM", seed % 2 == 0 ? "1" : "1000", 1);
    const std::string text = RandomGraph(seed).Text();
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}\n{}", seed, text));
    const ModelProto model = ParseModelText(text);
    SessionOptions options;
    options.threads = 1;
    const Session optimized = Session::FromModel(model, options);
    fused += optimized.Explain().find("fuse elementwise") != std::string::npos ? 1 : 0;
    options.optimize = false;
    const Session plain = Session::FromModel(model, options), saved = Session::FromModel(OptimizeModel(model), options);
    for (const int64_t n : {1, 3, 3000}) {
      Tensor x(TensorType::kFloat, Shape{n, 3}), z(TensorType::kFloat, Shape{n, 1});
      std::mt19937 random(seed);
      for (Tensor* t : {&x, &z})
        for (float& element : t->MutableView<float>()) element = static_cast<float>(random() % 2001) / 500 - 2;
      const ValueMap feeds = {{"x", x}, {"z", z}, {"c", Tensor::Of<bool>({}, {seed % 2 == 0})}};
      const ValueMap expected = plain.Run(feeds);
      ExpectSame(optimized.Run(feeds), expected, "optimised: ");
      ExpectSame(saved.Run(feeds), expected, "saved: ");
    }
    if (HasFailure()) break;
  }
  unsetenv("ONNXSEQ_FUSE_FROM");
  EXPECT_GT(fused, 100);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
