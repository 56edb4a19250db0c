// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "onnxseq/custom_op.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

// y = x times attribute `by`.
void Scale(CustomOpContext& ctx) {
  const Tensor& x = ctx.input(0).tensor();
  float by = 1;
  for (const AttributeProto& attribute : ctx.node().attribute())
    if (attribute.name() == "by") by = attribute.f();
  Tensor y(x.dtype(), x.shape());
  for (int64_t i = 0; i < x.NumElements(); ++i)
    y.MutableView<float>()[static_cast<size_t>(i)] = by * x.View<float>()[static_cast<size_t>(i)];
  ctx.SetOutput(0, std::move(y));
}

SessionOptions With(std::function<void(CustomOpContext&)> run, std::string domain = "my") {
  SessionOptions options;
  options.threads = 2;
  options.custom_ops.push_back({.domain = std::move(domain), .type = "Scale", .run = std::move(run), .shape = {}});
  return options;
}

constexpr const char* kGraph = "g (float[N] x) => (float[N] y) { [n] t = my.Scale <by: float = 3.0>(x) y = Neg(t) }";

TEST(CustomOpsTest, RunsAmongTheOthers) {
  EXPECT_THAT(Floats(FromText(kGraph, With(Scale)).Run({{"x", Vec({1, -2})}}).at("y")), ElementsAre(-3, 6));
}

TEST(CustomOpsTest, RunsInBodiesAndIsNeverFolded) {
  int calls = 0;
  const Session session = FromText(R"(
    g (seq(float[N]) s) => (seq(float[N]) t) {
      c = Constant <value = float[1] {10}>()
      d = my.Scale <by: float = 2.0>(c)
      t = SequenceMap <body = b (float[N] e) => (float[N] r) { q = my.Scale <by: float = 3.0>(e) r = Add(q, d) }>(s)
    })",
                                   With([&](CustomOpContext& ctx) {
                                     ++calls;
                                     Scale(ctx);
                                   }));
  EXPECT_EQ(calls, 0);
  const ValueMap out = session.Run({{"s", Sequence({Vec({1}).tensor(), Vec({2}).tensor()})}});
  EXPECT_THAT(out.at("t").sequence()[1].View<float>(), ElementsAre(26));
  EXPECT_EQ(calls, 3);
}

TEST(CustomOpsTest, WithoutItTheOperatorIsUnsupported) {
  EXPECT_EQ(ThrownBy<Unsupported>([] { FromText(kGraph); }), "1 operator cannot run: Scale of my 1 (node \"n\")");
  EXPECT_EQ(ThrownBy<Unsupported>([] { FromText(kGraph, With(Scale, "other")); }),
            "1 operator cannot run: Scale of my 1 (node \"n\")");
}

TEST(CustomOpsTest, WhatItThrowsNamesTheNode) {
  const auto thrown = [](std::function<void(CustomOpContext&)> run) {
    const Session session = FromText(kGraph, With(std::move(run)));
    return ThrownBy<Error>([&] { session.Run({{"x", Vec({1})}}); });
  };
  EXPECT_EQ(thrown([](CustomOpContext&) { throw std::runtime_error("no luck"); }), "Scale node \"n\": no luck");
  EXPECT_EQ(thrown([](CustomOpContext&) { throw 7; }), "Scale node \"n\": an exception of an unknown kind");
  EXPECT_EQ(thrown([](CustomOpContext&) {}), "Scale node \"n\", output 0 (\"t\"): was not set");
  EXPECT_EQ(thrown([](CustomOpContext& ctx) { ctx.SetOutput(0, Tensor()); }),
            "Scale node \"n\", output 0 (\"t\"): was set to an undefined tensor");
  EXPECT_EQ(thrown([](CustomOpContext& ctx) { ctx.SetOutput(1, Value()); }),
            "Scale node \"n\", output 1: the node has 1 outputs");
  EXPECT_EQ(thrown([](CustomOpContext& ctx) { static_cast<void>(ctx.input(-1)); }),
            "Scale node \"n\", input -1: the node has 1 inputs");
}

TEST(CustomOpsTest, WrongDefinitionsAreRefused) {
  const auto thrown = [](CustomOp op) {
    SessionOptions options;
    options.custom_ops.push_back(std::move(op));
    options.custom_ops.push_back({.domain = "my", .type = "Scale", .run = Scale, .shape = {}});
    return ThrownBy<InvalidArgument>([&] { FromText(kGraph, options); });
  };
  EXPECT_EQ(thrown({.domain = "my", .type = "", .run = Scale, .shape = {}}), "custom operator  of my: has no type");
  EXPECT_EQ(thrown({.domain = "my", .type = "A", .run = {}, .shape = {}}),
            "custom operator A of my: has no run function");
  EXPECT_EQ(thrown({.domain = "ai.onnx", .type = "Neg", .run = Scale, .shape = {}}),
            "custom operator Neg of ai.onnx: is an operator of this build");
  EXPECT_EQ(thrown({.domain = "my", .type = "Scale", .run = Scale, .shape = {}}),
            "custom operator Scale of my: is given twice");
}

TEST(CustomOpsTest, ItsShapeFunctionIsAsked) {
  SessionOptions options = With(Scale);
  options.custom_ops[0].shape = [](onnx_optim::shapes::ShapesContext& ctx, const NodeProto& node) {
    ctx.SetValue(node.output(0), ctx.GetValue(node.input(0)));
  };
  options.on_warning = [](const std::string& text) { ADD_FAILURE() << text; };
  constexpr const char* kOpen = "g (float[N,3] x) => (y) { [n] y = my.Scale(x) }";
  SessionOptions silent = With(Scale);
  silent.on_warning = options.on_warning;
  EXPECT_EQ(FromText(kOpen, silent).outputs()[0].type, "unknown");
  const Session session = FromText(kOpen, options);
  EXPECT_EQ(session.outputs()[0].type, "tensor(float)");
  EXPECT_THAT(Dims(session.outputs()[0]), ElementsAre("N", "3"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
