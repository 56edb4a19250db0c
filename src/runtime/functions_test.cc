// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/inline_functions.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

TEST(FunctionsTest, CallsWithAttributesAndNestedCalls) {
  const Session session = FromText(R"(
    g (float[N] x) => (float[N] y) { t = my.twice(x) y = my.plus <by: float = 3>(t) }
    <domain: "my", opset_import: ["" : 17, "my" : 1]>
    twice (a) => (b) { c = my.pass(a) b = Add(c, c) }
    <domain: "my", opset_import: ["" : 17]>
    pass (t) => (u) { u = Identity(t) }
    <domain: "my", opset_import: ["" : 17]>
    plus <by> (x) => (y) { t = Constant <value_float: float = @by>() y = Add(x, t) }
  )");
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1, 2})}}).at("y")), ElementsAre(5, 7));
  EXPECT_EQ(session.model().functions().size(), 3u) << "the model is as it was loaded";
}

TEST(FunctionsTest, SameFunctionTwiceKeepsItsValuesApart) {
  const Session session = FromText(R"(
    g (float[N] x, float[N] z) => (float[N] y) { a = my.f(x) b = my.f(z) y = Add(a, b) }
    <domain: "my", opset_import: ["" : 17]>
    f (x) => (y) { t = Add(x, x) y = Neg(t) }
  )");
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1})}, {"z", Vec({10})}}).at("y")), ElementsAre(-22));
}

TEST(FunctionsTest, OutputsThatAreInputsAndOutputsLeftOut) {
  const Session session = FromText(R"(
    g (float[N] x) => (float[N] y, float[N] z) { y, z = my.f(x) w = my.f(x) }
    <domain: "my", opset_import: ["" : 17]>
    f (a) => (a, b) { b = Neg(a) }
  )");
  const ValueMap out = session.Run({{"x", Vec({1})}});
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(1));
  EXPECT_THAT(Floats(out.at("z")), ElementsAre(-1));
}

TEST(FunctionsTest, ErrorsInsideNameTheCaller) {
  const Session session = FromText(R"(
    g (float[N] x, float[M] z) => (float[K] y) { [call] y = my.f(x, z) }
    <domain: "my", opset_import: ["" : 17]>
    f (a, b) => (c) { [inner] c = Add(a, b) }
  )");
  EXPECT_THAT(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1, 2})}, {"z", Vec({1, 2, 3})}}); }),
              testing::StartsWith("Add node \"call/inner\""));
}

TEST(FunctionsTest, Recursion) {
  EXPECT_EQ(ThrownBy<InvalidArgument>([] {
              FromText(R"(g (float[N] x) => (float[N] y) { y = my.f(x) }
                <domain: "my", opset_import: ["my" : 1]> f (a) => (b) { b = my.h(a) }
                <domain: "my", opset_import: ["my" : 1]> h (a) => (b) { b = my.f(a) })");
            }),
            "function my.f calls itself");
}

// f0 is a node, each next one calls the one before `width` times.
ModelProto Chain(int length, int width) {
  ModelProto model = ParseModelText(
      "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]> g (float[N] x) => (float[N] y) { y = my.f" +
      std::to_string(length) + "(x) }");
  for (int i = 0; i <= length; ++i) {
    std::string body = "<domain: \"my\", opset_import: [\"\" : 17, \"my\" : 1]> f" + std::to_string(i) + " (v0) => (v" +
                       std::to_string(i == 0 ? 1 : width) + ") {";
    if (i == 0) body += "v1 = Neg(v0)";
    for (int j = 0; i > 0 && j < width; ++j)
      body += " v" + std::to_string(j + 1) + " = my.f" + std::to_string(i - 1) + "(v" + std::to_string(j) + ")";
    *model.add_functions() = ParseFunctionText(body + "}");
  }
  return model;
}

TEST(FunctionsTest, LongChainsAreFineAndDoublingOnesAreCountedFirst) {
  EXPECT_THAT(Floats(Session::FromModel(Chain(3000, 1)).Run({{"x", Vec({1})}}).at("y")), ElementsAre(-1));
  EXPECT_THAT(Floats(Session::FromModel(Chain(10, 2)).Run({{"x", Vec({1})}}).at("y")), ElementsAre(1));
  EXPECT_EQ(ThrownBy<InvalidArgument>([] { Session::FromModel(Chain(30, 2)); }),
            "the model has more than 200000 nodes once its functions are written out");
}

TEST(FunctionsTest, OtherOperatorSets) {
  const auto load = [](int opset) {
    return ThrownBy<Unsupported>([&] {
      FromText("g (float[N] x) => (float[N] y) { y = my.f(x) } <domain: \"my\", opset_import: [\"\" : " +
               std::to_string(opset) + "]> f (a) => (b) { b = Add(a, a) }");
    });
  };
  EXPECT_EQ(load(16), "nothing thrown");
  EXPECT_EQ(load(5), "function my.f imports ai.onnx 5, the model 17, and Add differs between them");
}

TEST(FunctionsTest, TooManyArguments) {
  EXPECT_EQ(ThrownBy<InvalidArgument>([] {
              FromText(R"(g (float[N] x) => (float[N] y) { [c] y = my.f(x, x) }
                <domain: "my", opset_import: ["" : 17]> f (a) => (b) { b = Neg(a) })");
            }),
            "f node \"c\": takes at most 1 inputs, got 2");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
