// SPDX-License-Identifier: Apache-2.0
// Sessions with and without passes: the same results, errors and inner values.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>

#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;

ModelProto Model(const std::string& graph) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph);
}
Session Loaded(const std::string& graph, bool optimize = true) {
  SessionOptions options;
  options.threads = 1;
  options.optimize = optimize;
  return Session::FromModel(Model(graph), options);
}
std::vector<float> Floats(const Value& value) {
  const std::span<const float> view = value.tensor().View<float>();
  return {view.begin(), view.end()};
}

constexpr const char* kChain = R"(g (float[N] x) => (float[N] y) <float two = {2}> {
  i = Identity(x)
  [scale] s = Mul(i, two)
  [shift] t = Add(s, two)
  y = Relu(t)
})";

TEST(Optimize, ExplainsWhatItDid) {
  EXPECT_EQ(Loaded(kChain).Explain(), "4 nodes, 1 after the passes\nremove no-ops: 1\nfuse elementwise: 1\n");
  const std::string small = std::regex_replace(std::string(kChain), std::regex("\\[N\\]"), "[8]");
  EXPECT_EQ(Loaded(small).Explain(), "4 nodes, 3 after the passes\nremove no-ops: 1\n");
  EXPECT_EQ(Loaded(kChain, false).Explain(), "the nodes run as they are\n");
}

TEST(Optimize, GivesTheSame) {
  const ValueMap feeds = {{"x", Tensor::Of<float>({3}, {1, -2, 3})}};
  EXPECT_THAT(Floats(Loaded(kChain).Run(feeds).at("y")), ElementsAre(4, 0, 8));
  EXPECT_THAT(Floats(Loaded(kChain, false).Run(feeds).at("y")), ElementsAre(4, 0, 8));
}

// Both ways of a fused node, in place or not: the chain's own input, a value that stays, one that is used twice.
TEST(Optimize, FusedNodesGiveTheSameSmallAndLarge) {
  constexpr const char* kGraph = R"(g (float[N] x, float[N] z) => (float[N] y, float[N] w) {
    a = Neg(x)
    b = Mul(a, z)
    c = Add(b, a)
    d = Sub(c, x)
    y = Mul(d, d)
    e = Abs(z)
    w = Add(e, x)
  })";
  setenv("ONNXSEQ_FUSE_FROM", "10000", 1);
  const Session plain = Loaded(kGraph, false), optimized = Loaded(kGraph);
  unsetenv("ONNXSEQ_FUSE_FROM");
  EXPECT_EQ(optimized.Explain(), "7 nodes, 2 after the passes\nfuse elementwise: 2\n");
  for (const int64_t n : {0, 1, 5, 9999, 10000, 40000}) {
    std::vector<float> x(static_cast<size_t>(n)), z = x;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 17) - 8;
      z[i] = static_cast<float>(i % 11) / 4 - 1;
    }
    const ValueMap feeds = {{"x", Tensor::Of<float>({n}, x)}, {"z", Tensor::Of<float>({n}, z)}};
    for (const char* name : {"y", "w"})
      EXPECT_EQ(Floats(optimized.Run(feeds).at(name)), Floats(plain.Run(feeds).at(name))) << name << " of " << n;
  }
}

TEST(Optimize, InnerValuesAreStillThere) {
  const ValueMap feeds = {{"x", Tensor::Of<float>({2}, {1, -2})}};
  const std::vector<std::string> wanted = {"i", "s", "t", "y"};
  const ValueMap values = Loaded(kChain).Run(feeds, wanted);
  EXPECT_THAT(Floats(values.at("i")), ElementsAre(1, -2));
  EXPECT_THAT(Floats(values.at("s")), ElementsAre(2, -4));
  EXPECT_THAT(Floats(values.at("t")), ElementsAre(4, -2));
  EXPECT_THAT(Floats(values.at("y")), ElementsAre(4, 0));
}

class Names : public RunObserver {
 public:
  void OnNode(const NodeEvent& event) override { names.push_back(event.node.name()); }
  std::vector<std::string> names;
};

TEST(Optimize, FusedNodesAreCalledByTheirParts) {
  Names names;
  RunOptions options;
  options.observer = &names;
  const Session session = Loaded(kChain);
  session.Run({{"x", Tensor::Of<float>({1}, {1})}}, {}, options);
  EXPECT_THAT(names.names, ElementsAre("scale+shift"));
}

TEST(Optimize, DefaultsCanStillBeFed) {
  const Session session = Loaded(R"(g (float[N] x, float a) => (float[N] y) <float a = {2}> {
    b = Neg(a)
    y = Mul(x, b)
  })");
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  EXPECT_THAT(Floats(session.Run({{"x", x}}).at("y")), ElementsAre(-2, -4));
  EXPECT_THAT(Floats(session.Run({{"x", x}, {"a", Tensor::Scalar(3.0f)}}).at("y")), ElementsAre(-3, -6));
  EXPECT_THAT(Floats(session.Run({{"x", x}}).at("y")), ElementsAre(-2, -4));
}

TEST(Optimize, ErrorsNameTheNodesOfTheModel) {
  for (const bool optimize : {true, false}) {
    const Session session = Loaded(R"(g (float[N] x, float[M] z) => (float[K] y) {
      [neg] n = Neg(x)
      [sum] s = Add(n, z)
      y = Abs(s)
    })",
                                   optimize);
    try {
      session.Run({{"x", Tensor::Of<float>({2}, {1, 2})}, {"z", Tensor::Of<float>({3}, {1, 2, 3})}});
      ADD_FAILURE() << "runs";
    } catch (const InvalidArgument& e) {
      EXPECT_STREQ(e.what(), "Add node \"sum\", input 1 'B' (\"z\"): shape [3] does not broadcast with [2]");
    }
  }
}

TEST(Optimize, ErrorsOfAConvAreItsOwn) {
  for (const bool optimize : {true, false}) {
    const Session session = Loaded(R"(g (float[N,C,T] x) => (float y) <float[1,2,2] w = {1, 2, 3, 4}> {
      [conv] c = Conv(x, w)
      [relu] y = Relu(c)
    })",
                                   optimize);
    EXPECT_THAT(Floats(session.Run({{"x", Tensor::Of<float>({1, 2, 2}, {1, 0, 0, -1})}}).at("y")), ElementsAre(0));
    try {
      session.Run({{"x", Tensor::Of<float>({1, 2, 1}, {1, 2})}});
      ADD_FAILURE() << "runs";
    } catch (const InvalidArgument& e) {
      EXPECT_STREQ(e.what(),
                   "Conv node \"conv\", input 0 'X' (\"x\"): a window of 2 does not fit in the 1 elements, "
                   "padding included, of axis 2");
    }
  }
}

TEST(Optimize, OutputsMayBeInputsAndOneAnother) {
  const ValueMap results = Loaded(R"(g (float[N] x) => (float[N] a, float[N] b, float[N] c) {
    n = Neg(x)
    a = Identity(n)
    b = Identity(n)
    c = Identity(x)
  })")
                               .Run({{"x", Tensor::Of<float>({1}, {5})}});
  EXPECT_THAT(Floats(results.at("a")), ElementsAre(-5));
  EXPECT_THAT(Floats(results.at("b")), ElementsAre(-5));
  EXPECT_THAT(Floats(results.at("c")), ElementsAre(5));
}

TEST(Optimize, NodesOfBodiesThatStayTheSameAreComputedOnce) {
  for (const bool optimize : {true, false}) {
    const Session session = Loaded(R"(g (int64 n, float[K] w, float[K] x) => (float[K] y) {
      y = Loop <body = b (int64 i, bool c, float[K] v) => (bool d, float[K] u) {
        d = Identity(c)
        a = Abs(w)
        e = Neg(a)
        f = Add(v, e)
        u = Relu(f)
      }> (n, "", x)
    })",
                                   optimize);
    EXPECT_THAT(Floats(session
                           .Run({{"n", Tensor::Scalar(int64_t{3})},
                                 {"w", Tensor::Of<float>({2}, {1, -1})},
                                 {"x", Tensor::Of<float>({2}, {10, 2})}})
                           .at("y")),
                ElementsAre(7, 0));
  }
}

class RandomNumbers {
 public:
  Tensor operator()(const Shape& shape, float least = -1) {
    Tensor t(TensorType::kFloat, shape);
    for (float& x : t.MutableView<float>()) x = least + static_cast<float>(random_() % 2001) / 1000;
    return t;
  }
  void Add(ModelProto& model, const char* name, const Shape& shape, float least = -1) {
    TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor = TensorToProto((*this)(shape, least));
    tensor.set_name(name);
  }

 private:
  std::mt19937 random_{1};
};

// More rows, columns and depth than the kernel takes at once, none of them whole panels.
TEST(Optimize, ProductsFinishTheirRows) {
  RandomNumbers numbers;
  ModelProto model = Model(R"(g (float[N,M,1100] x) => (float[N,M,90] y, float[K,90] z) {
    p = MatMul(x, w)
    s = Add(p, b)
    y = Relu(s)
    f = Flatten <axis = 2> (x)
    q = Gemm(f, w, b)
    z = Relu(q)
  })");
  numbers.Add(model, "w", {1100, 90});
  numbers.Add(model, "b", {90});
  const ValueMap feeds = {{"x", numbers({5, 51, 1100})}};
  SessionOptions options;
  options.optimize = false;
  const ValueMap expected = Session::FromModel(model, options).Run(feeds);
  options.optimize = true;
  for (const int threads : {1, 3}) {
    options.threads = threads;
    const Session session = Session::FromModel(model, options);
    EXPECT_EQ(session.Explain(), "6 nodes, 3 after the passes\nfuse products: 2\n");
    const ValueMap got = session.Run(feeds);
    for (const char* name : {"y", "z"}) EXPECT_EQ(Floats(got.at(name)), Floats(expected.at(name)));
  }
}

TEST(Optimize, BatchNormalizationInWeightsGivesTheSame) {
  RandomNumbers numbers;
  ModelProto model = Model(R"(g (float[N,6,H,W] x) => (float[N,8,P,Q] y) {
    c = Conv <group = 2, pads = [1, 0, 0, 1], strides = [2, 1]> (x, w, b)
    y = BatchNormalization(c, scale, shift, mean, variance)
  })");
  numbers.Add(model, "w", {8, 3, 3, 2});
  for (const char* name : {"b", "scale", "shift", "mean"}) numbers.Add(model, name, {8});
  numbers.Add(model, "variance", {8}, 0.01f);
  const ValueMap feeds = {{"x", numbers({2, 6, 11, 7})}};
  SessionOptions options;
  options.optimize = false;
  const std::vector<float> expected = Floats(Session::FromModel(model, options).Run(feeds).at("y"));
  options.optimize = true;
  const Session optimised = Session::FromModel(model, options),
                saved = Session::FromModel(OptimizeModel(model), options);
  EXPECT_EQ(optimised.Explain(), "2 nodes, 1 after the passes\nfold BatchNormalization: 1\n");
  float largest = 1;
  for (const float value : expected) largest = std::max(largest, std::abs(value));
  for (const Session* session : {&optimised, &saved})
    EXPECT_THAT(Floats(session->Run(feeds).at("y")),
                ::testing::Pointwise(::testing::FloatNear(1e-5f * largest), expected));
}

TEST(OptimizeModel, IsStandardAndGivesTheSame) {
  const ModelProto saved = OptimizeModel(Model(kChain));
  EXPECT_EQ(saved.opset_import_size(), 1);
  EXPECT_EQ(saved.graph().node_size(), 3);
  EXPECT_THAT(Floats(Session::FromModel(saved).Run({{"x", Tensor::Of<float>({3}, {1, -2, 3})}}).at("y")),
              ElementsAre(4, 0, 8));
}

TEST(OptimizeModel, LeavesWrongModelsAsTheyAre) {
  const ModelProto wrong = Model("g (float[N] x) => (float[N] y) { a = Identity(x) y = Abs(b) }");
  EXPECT_TRUE(OptimizeModel(wrong) == wrong);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
