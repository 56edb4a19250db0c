// SPDX-License-Identifier: Apache-2.0
// Bodies in general, with SequenceMap as the operator that runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

Value Seq(std::initializer_list<std::initializer_list<float>> elements) {
  std::vector<Tensor> tensors;
  for (const auto& element : elements) tensors.push_back(Vec(element).tensor());
  return Sequence(TensorType::kFloat, std::move(tensors));
}
std::vector<std::vector<float>> Lists(const Value& value) {
  std::vector<std::vector<float>> lists;
  for (const Tensor& t : value.sequence().elements())
    lists.emplace_back(t.View<float>().begin(), t.View<float>().end());
  return lists;
}

TEST(BodiesTest, SeeOuterInputsInitializersConstantsAndNodes) {
  const Session session = FromText(R"(
    g (seq(float[N]) s, float[1] x) => (seq(float[N]) t) <float[1] w = {100}> {
      c = Constant <value = float[1] {1000}>()
      n = Neg(x)
      t = SequenceMap <body = b (float[N] e) => (float[N] r) { p = Add(e, x) q = Add(p, w) u = Add(q, c) r = Add(u, n) }>(s)
    })");
  const ValueMap out = session.Run({{"s", Seq({{1}, {2, 3}})}, {"x", Vec({5})}});
  EXPECT_THAT(Lists(out.at("t")), ElementsAre(std::vector<float>{1101}, std::vector<float>{1102, 1103}));
}

TEST(BodiesTest, BodiesInBodies) {
  const Session session = FromText(R"(
    g (seq(float[N]) s, seq(float[M]) r, float[1] x) => (seq(float[N]) t) {
      t = SequenceMap <body = outer (float[N] e) => (float[N] y) {
        m = SequenceMap <body = inner (float[M] f) => (float[N] z) { a = Add(e, f) z = Mul(a, x) }>(r)
        at = Constant <value_int: int = 1>()
        y = SequenceAt(m, at)
      }>(s)
    })");
  const ValueMap out = session.Run({{"s", Seq({{1}, {2, 3}})}, {"r", Seq({{7}, {10}})}, {"x", Vec({2})}});
  EXPECT_THAT(Lists(out.at("t")), ElementsAre(std::vector<float>{22}, std::vector<float>{24, 26}));
}

TEST(BodiesTest, OutputsThatAreInputsOuterValuesOrConstants) {
  const Session session = FromText(R"(
    g (seq(float[N]) s, float[1] x) => (seq(float[N]) a, seq(float[1]) b, seq(float[1]) c, seq(float[N]) d) {
      a, b, c, d = SequenceMap <body = f (float[N] e) => (float[N] e, float[1] x, float[1] w, float[N] e) <float[1] w = {9}> { }>(s)
    })");
  const ValueMap out = session.Run({{"s", Seq({{1}, {2, 3}})}, {"x", Vec({5})}});
  EXPECT_THAT(Lists(out.at("a")), ElementsAre(std::vector<float>{1}, std::vector<float>{2, 3}));
  EXPECT_THAT(Lists(out.at("b")), ElementsAre(std::vector<float>{5}, std::vector<float>{5}));
  EXPECT_THAT(Lists(out.at("c")), ElementsAre(std::vector<float>{9}, std::vector<float>{9}));
  EXPECT_THAT(Lists(out.at("d")), ElementsAre(std::vector<float>{1}, std::vector<float>{2, 3}));
}

TEST(BodiesTest, EmptyInputsTakeTheBodysElementType) {
  const Session session = FromText(
      "g (seq(float[N]) s) => (seq(int64[K]) t) { t = SequenceMap <body = b (float[N] e) => (int64[1] r) "
      "{ r = Constant <value = int64[1] {4}>() }>(s) }");
  EXPECT_EQ(session.Run({{"s", Sequence()}}).at("t").TypeString(), "seq(tensor(int64)), 0 elements");
}

TEST(BodiesTest, ErrorsSayWhichElementOfWhichBody) {
  const Session session = FromText(
      "g (seq(float[N]) s, float[2] x) => (seq(float[N]) t) { [map0] t = SequenceMap <body = b (float[N] e) => "
      "(float[N] r) "
      "{ [sum] r = Add(e, x) }>(s) }");
  const std::string message =
      ThrownBy<InvalidArgument>([&] { session.Run({{"s", Seq({{1}, {1, 2}, {1, 2, 3}})}, {"x", Vec({1, 2})}}); });
  EXPECT_THAT(message, testing::StartsWith("Add node \"sum\""));
  EXPECT_THAT(message, testing::EndsWith("in body 'b' of SequenceMap \"map0\", element 2"));
}

TEST(BodiesTest, PlanningErrorsSayWhichBody) {
  EXPECT_EQ(
      ThrownBy<InvalidArgument>([] {
        FromText(
            "g (seq(float[N]) s) => (seq(float[N]) t) { [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) "
            "{ [n] r = Neg <k: int = 1>(e) }>(s) }");
      }),
      "Neg node \"n\", attribute 'k': is not known to this operator in body 'b' of SequenceMap \"map0\"");
  EXPECT_EQ(
      ThrownBy<InvalidArgument>([] {
        FromText(
            "g (seq(float[N]) s) => (seq(float[N]) t) { [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) "
            "{ r = Neg(q) }>(s) }");
      }),
      "SequenceMap node \"map0\", attribute 'body': uses \"q\", which is not produced by any node, input or "
      "initializer");
  EXPECT_EQ(ThrownBy<Unsupported>([] {
              FromText(
                  "g (seq(float[N]) s) => (seq(float[N]) t) { t = SequenceMap <body = b (float[N] e) => (float[N] r) "
                  "{ [x] r = Nothing(e) }>(s) }");
            }),
            "1 operator cannot run: Nothing of ai.onnx 17 (node \"x\")");
}

TEST(BodiesTest, FunctionsInsideBodiesAreWrittenOut) {
  const Session session = FromText(R"(
    g (seq(float[N]) s, float[1] x) => (seq(float[N]) t) {
      t = SequenceMap <body = b (float[N] e) => (float[N] r) { q = my.f(e) r = Add(q, x) }>(s)
    }
    <domain: "my", opset_import: ["" : 17]>
    f (x) => (y) { e = Neg(x) y = Add(e, e) }
  )");
  EXPECT_THAT(Lists(session.Run({{"s", Seq({{1}, {2}})}, {"x", Vec({100})}}).at("t")),
              ElementsAre(std::vector<float>{98}, std::vector<float>{96}));
}

TEST(BodiesTest, ManyElementsOnAnyNumberOfThreadsGiveTheSame) {
  std::vector<Tensor> elements;
  for (int i = 0; i < 500; ++i)
    elements.push_back(Tensor::Of<float>(
        Shape{1 + i % 7},
        std::span<const float>(std::vector<float>(static_cast<size_t>(1 + i % 7), static_cast<float>(i)))));
  const Value s = Sequence(std::move(elements));
  for (const int threads : {1, 2, 4}) {
    SessionOptions options;
    options.threads = threads;
    RunOptions limited;
    limited.memory_limit = 1 << 20;
    const Session session = FromText(
        "g (seq(float[N]) s, float[1] x) => (seq(float[N]) t) { t = SequenceMap <body = b (float[N] e) => (float[N] r) "
        "{ a = Neg(e) r = Add(a, x) }>(s) }",
        options);
    const ValueMap out = session.Run({{"s", s}, {"x", Vec({1})}}, {}, limited);
    const Sequence& t = out.at("t").sequence();
    ASSERT_EQ(t.size(), 500);
    for (int64_t i = 0; i < 500; ++i) {
      ASSERT_EQ(t[i].dim(0), 1 + i % 7);
      EXPECT_EQ(t[i].View<float>()[0], 1 - static_cast<float>(i));
    }
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
