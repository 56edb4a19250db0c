// SPDX-License-Identifier: Apache-2.0
// A check that finds nothing would prove nothing: what is inferred is changed, and the change is found.
#include "runtime/shape_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::SequenceInfo;
using onnx_optim::shapes::ShapeValue;
using testing::ElementsAre;
using testing::IsEmpty;
using Strings = std::vector<std::string>;

ShapeValue Float(const OptimShape& shape) { return ShapeValue::Tensor(TensorType::kFloat, shape); }

Strings Run(const Session& session, const ValueMap& feeds, ShapeCheck check) {
  RunOptions options;
  options.observer = &check;
  static_cast<void>(session.Run(feeds, {}, options));
  return check.contradictions();
}

// Replaces what is inferred of one value.
Strings RunWith(std::string_view graph, const ValueMap& feeds, const std::string& path, const std::string& name,
                const ShapeValue& value) {
  const Session session = FromText(graph);
  InferredShapes inferred = InferShapes(session.model());
  for (InferredGraph& inner : inferred.graphs) {
    if (inner.path == path) inner.values.at(name) = value;
  }
  return Run(session, feeds, ShapeCheck(session.model(), std::move(inferred)));
}

constexpr const char* kDouble = "g (float[N] x) => (float[M] y) { t = Neg(x) y = Concat<axis = 0>(x, t) }";

TEST(ShapeCheckTest, MainGraph) {
  const ValueMap feeds{{"x", Vec({1, 2})}};
  const auto with = [&](const ShapeValue& t) { return RunWith(kDouble, feeds, "", "t", t); };
  EXPECT_THAT(with(Float({"N"})), IsEmpty());
  EXPECT_THAT(with(Float({3})), ElementsAre("axis 0 of \"t\" is 2, inferred 3"));
  EXPECT_THAT(with(Float({"N+1"})), ElementsAre("axis 0 of \"t\" is 2, inferred N+1 = 3"));
  EXPECT_THAT(with(Float({"N", 1})), ElementsAre("\"t\" is tensor(float)[2], inferred tensor(float)[N,1]"));
  EXPECT_THAT(with(ShapeValue::Tensor(TensorType::kDouble, {"N"})),
              ElementsAre("\"t\" is tensor(float)[2], inferred tensor(double)[N]"));
  EXPECT_THAT(with(ShapeValue::Map(TensorType::kInt64, ShapeValue())),
              ElementsAre("\"t\" is tensor(float)[2], inferred map(int64,unknown)"));
  EXPECT_THAT(with(ShapeValue::Optional(Float({"N"}), false)),
              ElementsAre("\"t\" is tensor(float)[2], inferred absent"));
  EXPECT_THAT(RunWith(kDouble, feeds, "", "y", Float({"N"})),
              ElementsAre("axis 0 of \"y\" is 4, but its symbol N is 2 elsewhere"));
  EXPECT_THAT(with(Float({"Q"})), IsEmpty()) << "a symbol of its own";
}

TEST(ShapeCheckTest, KnownElements) {
  constexpr const char* graph =
      "g (float[N] x) => (int64[1] s, float[1] f) { s = Shape(x) f = Constant<value_floats = [2.5]>() }";
  const ValueMap feeds{{"x", Vec({1, 2})}};
  EXPECT_THAT(RunWith(graph, feeds, "", "s", ShapeValue::Int64Vector({OptimDim("N")})), IsEmpty());
  EXPECT_THAT(RunWith(graph, feeds, "", "s", ShapeValue::Int64Vector({OptimDim(7)})),
              ElementsAre("element 0 of \"s\" is 2, inferred 7"));
  const auto known = [](double value) {
    return Float({1}).WithFloats({onnx_optim::shapes::KnownFloat{.factor = value}});
  };
  EXPECT_THAT(RunWith(graph, feeds, "", "f", known(2.5)), IsEmpty());
  EXPECT_THAT(RunWith(graph, feeds, "", "f", known(2)), ElementsAre("element 0 of \"f\" is 2.5, inferred 2"));
}

TEST(ShapeCheckTest, Sequences) {
  constexpr const char* graph =
      "g (seq(float[N]) s) => (seq(float[N]) t, float[N] y) { t = Identity(s) y = Identity(x) "
      "i = Constant<value_int = 0>() x = SequenceAt(s, i) }";
  const ValueMap ragged{{"s", Sequence({Vec({1}).tensor(), Vec({2, 3}).tensor()})}};
  const ValueMap even{{"s", Sequence({Vec({1}).tensor(), Vec({2}).tensor()})}};
  const auto with = [&](const ValueMap& feeds, const OptimDim& length, const OptimDim& dim,
                        std::vector<std::string> varying) {
    return RunWith(graph, feeds, "", "t",
                   ShapeValue::Sequence(SequenceInfo::Summary(length, Float({dim}), std::move(varying))));
  };
  EXPECT_THAT(with(even, "L", "N", {}), IsEmpty());
  EXPECT_THAT(with(even, 3, "N", {}), ElementsAre("the length of \"t\" is 2, inferred 3"));
  EXPECT_THAT(with(even, 2, 4, {}), ElementsAre("axis 0 of element 0 of \"t\" is 1, inferred 4",
                                                "axis 0 of element 1 of \"t\" is 1, inferred 4"));
  EXPECT_THAT(with(ragged, 2, "M", {}),
              ElementsAre("axis 0 of element 1 of \"t\" is 2, but its symbol M is 1 elsewhere"));
  EXPECT_THAT(with(ragged, 2, "M", {"M"}), IsEmpty()) << "it varies";
  EXPECT_THAT(with(ragged, 2, "N", {}), IsEmpty()) << "fed so, whatever was declared";
}

constexpr const char* kLoop = R"(
  g (float[N] x, int64 n) => (float[N] y, float[T,N] all) {
    [l] y, all = Loop<body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w, float[N] s) {
      d = Identity(c) w = Neg(v) q = Range(z, i, o) s = Add(v, w)
    }>(n, , x)
    z = Constant<value_int = 0>()  o = Constant<value_int = 1>()
  })";

TEST(ShapeCheckTest, SymbolsOfABodyAreThoseOfOneRun) {
  const ValueMap feeds{{"x", Vec({1, 2})}, {"n", Tensor::Of<int64_t>({}, {3})}};
  const auto with = [&](const std::string& name, const ShapeValue& value) {
    return RunWith(kLoop, feeds, "/l/body", name, value);
  };
  const auto range = [](const OptimDim& dim) { return ShapeValue::Tensor(TensorType::kInt64, {dim}); };
  EXPECT_THAT(with("q", range("Q")), IsEmpty()) << "another number in each iteration";
  EXPECT_THAT(with("q", range("N")), ElementsAre("axis 0 of \"q\" in /l/body is 0, but its symbol N is 2 elsewhere",
                                                 "axis 0 of \"q\" in /l/body is 1, but its symbol N is 2 elsewhere"));
  EXPECT_THAT(with("w", Float({"N+1"})), ElementsAre("axis 0 of \"w\" in /l/body is 2, inferred N+1 = 3"));
  EXPECT_THAT(with("v", Float({5})), ElementsAre("axis 0 of \"v\" in /l/body is 2, inferred 5")) << "an input";
}

TEST(ShapeCheckTest, Functions) {
  constexpr const char* graph = R"(
    g (float[N] x, bool c) => (float[M] y) { u = my.twice(x) y = my.twice(u) }
    <domain: "my", opset_import: ["" : 17]>
    twice (x) => (y) {
      t = Neg(x)
      c = Constant<value = bool {1}>()
      y = If<then_branch = p () => (r) { r = Concat<axis = 0>(t, x) }, else_branch = q () => (r) { r = Neg(x) }>(c)
    })";
  const ValueMap feeds{{"x", Vec({1, 2})}, {"c", Tensor::Of<bool>({}, {true})}};
  const auto with = [&](const std::string& path, const std::string& name, const OptimDim& dim) {
    return RunWith(graph, feeds, path, name, Float({dim}));
  };
  EXPECT_THAT(with("/twice_0", "t", "N"), IsEmpty());
  EXPECT_THAT(with("/twice_0", "t", 3), ElementsAre("axis 0 of \"twice__1/t\" is 2, inferred 3"));
  EXPECT_THAT(with("/twice_1", "t", 3), ElementsAre("axis 0 of \"twice__2/t\" is 4, inferred 3"));
  EXPECT_THAT(with("/twice_1/If_2/then_branch", "r", 3),
              ElementsAre("axis 0 of \"twice__2/r\" in /twice_1/If_2/then_branch is 8, inferred 3"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
