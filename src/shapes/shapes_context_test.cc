// SPDX-License-Identifier: Apache-2.0
// ShapesContext: names, scopes, functions, facts.
#include "onnx_optim/shapes/shapes_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

OptimTensor Float(OptimShape shape) { return OptimTensor(nullptr, TensorType::kFloat, std::move(shape)); }

template <class Fn>
std::string Missing(Fn&& fn) {
  try {
    fn();
  } catch (const std::out_of_range& e) {
    EXPECT_NE(dynamic_cast<const Error*>(&e), nullptr);
    return e.what();
  }
  return "nothing thrown";
}

std::vector<std::string> Messages(const ShapesContext& ctx) {
  std::vector<std::string> messages;
  for (const Problem& problem : ctx.Problems()) messages.push_back(problem.message);
  return messages;
}

TEST(ShapesContext, TensorsAndSequencesAreApart) {
  ShapesContext ctx;
  ctx.Set("x", Float({2, "N"}));
  ctx.SetSequence("s", OptimSequence(TensorType::kFloat, "L"));
  EXPECT_TRUE(ctx.Has("x"));
  EXPECT_FALSE(ctx.Has("s"));
  EXPECT_TRUE(ctx.HasSequence("s"));
  EXPECT_FALSE(ctx.HasSequence("x"));
  EXPECT_EQ(ctx.Size(), 1u);
  EXPECT_EQ(ctx.SequencesSize(), 1u);
  EXPECT_EQ(ctx.Get("x"), Float({2, "N"}));
  EXPECT_EQ(ctx.GetSequence("s").Length(), "L");
  EXPECT_EQ(ctx.Tensors().at("x"), Float({2, "N"}));
  EXPECT_EQ(ctx.Sequences().at("s").Length(), "L");
  // One name may be both.
  ctx.Set("s", Float({1}));
  EXPECT_TRUE(ctx.Has("s"));
  EXPECT_TRUE(ctx.HasSequence("s"));
  EXPECT_TRUE(ctx.GetValue("s").IsTensor());
  EXPECT_TRUE(ctx.FindSequence("s")->IsSequence());
  EXPECT_THAT(ctx.Names(), ElementsAre("s", "x"));
  const std::string name = "x";
  ctx.Set(name, Float({5}));
  EXPECT_EQ(ctx.Get(name).Shape(), OptimShape{5});
  EXPECT_EQ(ctx.Size(), 2u);
}

TEST(ShapesContext, MissingNames) {
  ShapesContext ctx;
  ctx.Set("x", Float({2, "N"}));
  ctx.SetSequence("s", OptimSequence(TensorType::kFloat, 3));
  EXPECT_THAT(Missing([&] { (void)ctx.Get("y"); }), StrEq("no tensor named \"y\" is known"));
  EXPECT_THAT(Missing([&] { (void)ctx.GetSequence("y"); }), StrEq("no sequence named \"y\" is known"));
  EXPECT_THAT(Missing([&] { (void)ctx.GetValue("y"); }), StrEq("no value named \"y\" is known"));
  EXPECT_THAT(Missing([&] { (void)ctx.Get("s"); }),
              StrEq("no tensor named \"s\" is known, it is seq(tensor(float), length 3)"));
  EXPECT_THAT(Missing([&] { (void)ctx.GetSequence("x"); }),
              StrEq("no sequence named \"x\" is known, it is tensor(float)[2,N]"));
  EXPECT_EQ(ctx.Find("y"), nullptr);
}

TEST(ShapesContext, ValuesOfAnyKind) {
  ShapesContext ctx;
  ctx.Set("v", Float({2}));
  ctx.SetValue("v", ShapeValue::Sequence(SequenceInfo::Summary("L", ShapeValue::Tensor(TensorType::kFloat, {"N"}))));
  EXPECT_FALSE(ctx.Has("v"));
  EXPECT_EQ(ctx.GetSequence("v").Length(), "L");
  EXPECT_EQ(ctx.GetSequence("v").Elem().Shape(), OptimShape{"N"});
  ctx.SetValue("v", ShapeValue::Int64Vector({1, "N"}));
  EXPECT_FALSE(ctx.HasSequence("v"));
  EXPECT_EQ(ctx.Get("v").ValueAsShape(), (OptimShape{1, "N"}));
  ctx.SetValue("v", ShapeValue::Optional(ShapeValue::Tensor(TensorType::kFloat, {2}), std::nullopt));
  EXPECT_FALSE(ctx.Has("v"));
  EXPECT_FALSE(ctx.HasSequence("v"));
  EXPECT_TRUE(ctx.HasValue("v"));
  EXPECT_THAT(Missing([&] { (void)ctx.Get("v"); }),
              StrEq("no tensor named \"v\" is known, it is optional(tensor(float)[2])"));
  ctx.SetValue("v", ShapeValue());
  EXPECT_TRUE(ctx.GetValue("v").IsUnknown());
  ctx.Remove("v");
  EXPECT_FALSE(ctx.HasValue("v"));
}

TEST(ShapesContext, CopiesAreApart) {
  ShapesContext ctx;
  ctx.Set("x", Float({2}));
  ShapesContext copy = ctx;
  copy.Set("x", Float({3}));
  copy.Set("y", Float({4}));
  EXPECT_EQ(ctx.Get("x").Shape(), OptimShape{2});
  EXPECT_FALSE(ctx.Has("y"));
  EXPECT_NE(ctx.FreshDim(), copy.FreshDim());
  FunctionProto function;
  function.set_domain("d");
  function.set_name("F");
  copy.SetLocalFunction(function);
  EXPECT_EQ(ctx.GetLocalFunction("d", "F"), nullptr);
  EXPECT_NE(copy.GetLocalFunction("d", "F"), nullptr);
}

TEST(ShapesContext, ClearForgetsEverything) {
  ShapesContext ctx;
  ctx.Set("x", Float({2}));
  ctx.SetSequence("s", OptimSequence());
  ctx.SetPrecision(Precision::kExact);
  ctx.SetOpsetVersion("", 17);
  ctx.AddConstraint("N", 3);
  ctx.AddProblem(Problem::Level::kWarning, "w");
  ctx.Clear();
  EXPECT_EQ(ctx.Size(), 0u);
  EXPECT_EQ(ctx.SequencesSize(), 0u);
  EXPECT_FALSE(ctx.HasValue("x"));
  EXPECT_EQ(ctx.GetPrecision(), Precision::kDocumented);
  EXPECT_EQ(ctx.OpsetVersion(), 0);
  EXPECT_EQ(ctx.Simplify(OptimDim("N")), "N");
  EXPECT_TRUE(ctx.Problems().empty());
}

TEST(ShapesContext, FunctionsOpsetsAndRules) {
  ShapesContext ctx;
  ctx.SetOpsetVersion("ai.onnx", 17);
  ctx.SetOpsetVersion("d", 2);
  EXPECT_EQ(ctx.OpsetVersion(), 17);
  EXPECT_EQ(ctx.OpsetVersion(""), 17);
  EXPECT_EQ(ctx.OpsetVersion("d"), 2);
  EXPECT_EQ(ctx.OpsetVersion("e"), 0);
  ctx.SetOpsetVersion(18);
  EXPECT_EQ(ctx.OpsetVersion("ai.onnx"), 18);
  FunctionProto function;
  function.set_domain("d");
  function.set_name("F");
  function.set_overload("o");
  ctx.SetLocalFunction(function);
  ctx.SetLocalFunction("d", "G", FunctionProto());
  EXPECT_EQ(ctx.GetLocalFunction("d", "F"), nullptr);
  ASSERT_NE(ctx.GetLocalFunction("d", "F", "o"), nullptr);
  EXPECT_EQ(ctx.GetLocalFunction("d", "F", "o")->name(), "F");
  EXPECT_NE(ctx.GetLocalFunction("d", "G"), nullptr);
  ctx.SetCustomShapeInferenceFunction("d", "Op", [](ShapesContext& c, const NodeProto&) { c.Set("y", Float({7})); });
  const CustomShapeInferenceFunction* rule = ctx.GetCustomShapeInferenceFunction("d", "Op");
  ASSERT_NE(rule, nullptr);
  (*rule)(ctx, NodeProto());
  EXPECT_EQ(ctx.Get("y").Shape(), OptimShape{7});
  EXPECT_EQ(ctx.GetCustomShapeInferenceFunction("d", "Other"), nullptr);
  const ShapesContext child = ctx.ChildScope();
  EXPECT_EQ(child.OpsetVersion("d"), 2);
  EXPECT_NE(child.GetLocalFunction("d", "G"), nullptr);
  EXPECT_NE(child.GetCustomShapeInferenceFunction("d", "Op"), nullptr);
}

TEST(ShapesContext, ChildScopes) {
  ShapesContext ctx;
  ctx.SetPrecision(Precision::kExact);
  ctx.Set("x", Float({2}));
  ctx.SetSequence("s", OptimSequence(TensorType::kFloat, 3));
  ctx.DeclareSymbol("N");
  ctx.AddConstraint("N", 4);
  ShapesContext child = ctx.ChildScope();
  EXPECT_EQ(child.Parent(), &ctx);
  EXPECT_TRUE(child.IsExact());
  EXPECT_TRUE(child.Has("x"));
  EXPECT_TRUE(child.HasSequence("s"));
  EXPECT_EQ(child.Size(), 0u);
  EXPECT_EQ(child.Get("x").Shape(), OptimShape{2});
  EXPECT_EQ(child.GetSequence("s").Length(), 3);
  EXPECT_TRUE(child.IsKnownSymbol("N"));
  EXPECT_EQ(child.Simplify(OptimDim("N") + 1), 5);
  // What is bound here hides the outer value of either kind.
  child.Set("s", Float({7}));
  EXPECT_TRUE(child.Has("s"));
  EXPECT_FALSE(child.HasSequence("s"));
  EXPECT_THROW((void)child.GetSequence("s"), std::out_of_range);
  child.SetSequence("x", OptimSequence(TensorType::kFloat, 1));
  EXPECT_FALSE(child.Has("x"));
  EXPECT_EQ(child.FindTensor("x"), nullptr);
  EXPECT_THROW((void)child.Get("x"), std::out_of_range);
  EXPECT_TRUE(ctx.Has("x"));
  child.Remove("x");
  EXPECT_TRUE(child.Has("x"));
  // Facts and problems of the child stay in it.
  child.AddConstraint("M", 6);
  EXPECT_EQ(child.Simplify(OptimDim("M")), 6);
  EXPECT_EQ(ctx.Simplify(OptimDim("M")), "M");
  child.AddProblem(Problem::Level::kError, "e");
  EXPECT_TRUE(ctx.Problems().empty());
  EXPECT_EQ(child.TakeProblems().size(), 1u);
  EXPECT_TRUE(child.Problems().empty());
  EXPECT_NE(child.FreshDim(), ctx.FreshDim());
}

TEST(ShapesContext, FreshDims) {
  ShapesContext ctx;
  ctx.DeclareSymbol("unk__1");
  EXPECT_EQ(ctx.FreshDim(), "unk__0");
  EXPECT_EQ(ctx.FreshDim(), "unk__2");
  EXPECT_EQ(ctx.FreshDim("nnz"), "unk__nnz_3");
  EXPECT_EQ(ctx.FreshDim("a b\"/c"), "unk__abc_4");
  const OptimDim bounded = ctx.FreshDim("k", 1, 2 * OptimDim("N"));
  EXPECT_EQ(ctx.Bounds(bounded).lower, 1);
  EXPECT_TRUE(ctx.ProvablyGreaterEqual(2 * OptimDim("N"), bounded));
  EXPECT_FALSE(ctx.ProvablyGreaterEqual(OptimDim("N"), bounded));
  EXPECT_EQ(ctx.Bounds(ctx.FreshDim("b", Interval{-5, 9})), (Interval{0, 9}));
  EXPECT_EQ(ctx.DimFromParam("unk__1+1").AsExpr(), "unk__1+1");
  EXPECT_EQ(ctx.DimFromParam("q+1"), OptimDim::Symbol("q+1"));
}

TEST(Facts, EqualSidesAreSubstituted) {
  ShapesContext ctx;
  EXPECT_TRUE(ctx.AddConstraint("N", "M"));
  EXPECT_EQ(ctx.Simplify(OptimDim("M") + 1), OptimDim("N") + 1);
  EXPECT_TRUE(ctx.Equal("N", "M"));
  EXPECT_TRUE(ctx.AddConstraint("S", "P+1"));
  EXPECT_EQ(ctx.Simplify(OptimDim("S")), OptimDim("P+1"));
  EXPECT_TRUE(ctx.AddConstraint("N", 3));
  EXPECT_EQ(ctx.Simplify(OptimDim("M")), 3);
  EXPECT_EQ(ctx.Simplify(OptimShape{"M", "S"}), (OptimShape{3, "P+1"}));
  EXPECT_TRUE(ctx.AddConstraint("2*K+1", 7));
  EXPECT_EQ(ctx.Simplify(OptimDim("K")), 3);
  // Chains end, whatever the order.
  for (int i = 0; i < 100; ++i) ctx.AddConstraint("c" + std::to_string(i + 1), "c" + std::to_string(i));
  ctx.AddConstraint("c0", 9);
  EXPECT_EQ(ctx.Simplify(OptimDim("c100") + OptimDim("c50")), 18);
  EXPECT_TRUE(ctx.Problems().empty());
  // An author's name stays, a fresh one goes.
  const OptimDim fresh = ctx.FreshDim();
  EXPECT_TRUE(ctx.AddConstraint(fresh, "nnz"));
  EXPECT_EQ(ctx.Simplify(fresh), "nnz");
  EXPECT_TRUE(ctx.AddConstraint("N", "N"));
}

TEST(Facts, WhatCannotBeSubstitutedIsStillKnown) {
  ShapesContext ctx;
  EXPECT_TRUE(ctx.AddConstraint("3*A", "2*B"));
  EXPECT_TRUE(ctx.Equal("3*A", "2*B"));
  EXPECT_TRUE(ctx.Equal("3*A+1", "2*B+1"));
  EXPECT_FALSE(ctx.Equal("3*A", "2*B+1"));
  EXPECT_EQ(ctx.Constraints().size(), 1u);
  EXPECT_TRUE(ctx.AddLessEqualConstraint("A", "C"));
  EXPECT_TRUE(ctx.ProvablyGreaterEqual("C+1", "A"));
  EXPECT_FALSE(ctx.ProvablyGreaterEqual("A", "C"));
  EXPECT_TRUE(ctx.ProvablyGreaterEqual("3*A+5", "2*B"));
}

TEST(Facts, Bounds) {
  ShapesContext ctx;
  EXPECT_TRUE(ctx.AddLessEqualConstraint("N", 10, "TopK"));
  EXPECT_TRUE(ctx.AddLessEqualConstraint(2, "N", "Slice"));
  EXPECT_EQ(ctx.Bounds("N"), (Interval{2, 10}));
  EXPECT_EQ(ctx.Bounds(OptimDim("N") * 2 + 1), (Interval{5, 21}));
  EXPECT_TRUE(ctx.ProvablyDifferent("N", 11));
  EXPECT_TRUE(ctx.ProvablyDifferent("N", "N+1"));
  EXPECT_FALSE(ctx.ProvablyDifferent("N", "M"));
  EXPECT_TRUE(ctx.ProvablyGreaterEqual("N", 2));
  // Bounds go over to the symbol that replaces it.
  EXPECT_TRUE(ctx.AddConstraint("M", "N"));
  EXPECT_EQ(ctx.Bounds("M"), (Interval{2, 10}));
  EXPECT_EQ(ctx.Bounds("N"), (Interval{2, 10}));
  EXPECT_TRUE(ctx.AddLessEqualConstraint("Q", OptimDim("N") * 3));
  EXPECT_EQ(ctx.Bounds("Q"), (Interval{0, 30}));
  EXPECT_TRUE(ctx.AddLessEqualConstraint(3, 4));
}

TEST(Facts, BoundsOfOneSymbolFollowFromInequalities) {
  ShapesContext ctx;
  EXPECT_EQ(ctx.Simplify(OptimDim("max(N-3,0)")), "max(N-3,0)");
  EXPECT_TRUE(ctx.AddLessEqualConstraint(0, "2*N-7"));
  EXPECT_EQ(ctx.Bounds("N").lower, 4);
  EXPECT_EQ(ctx.Simplify(OptimDim("max(N-3,0)")), "N-3");
  EXPECT_EQ(ctx.Simplify(OptimDim("max(N-5,0)")), "max(N-5,0)");
  EXPECT_EQ(ctx.Simplify(OptimDim("min(N,M,3)*2+max((N-3)//2,0)")), "2*min(M,3)+(N-3)//2");
  EXPECT_TRUE(ctx.AddLessEqualConstraint("3*M", 20));
  EXPECT_EQ(ctx.Bounds("M").upper, 6);
  EXPECT_TRUE(ctx.AddLessEqualConstraint(1, "1-P"));
  EXPECT_EQ(ctx.Bounds("P").upper, 0);
  EXPECT_FALSE(ctx.AddLessEqualConstraint("N", 3, "Slice"));
  ASSERT_EQ(ctx.Problems().size(), 1u);
  EXPECT_EQ(ctx.Problems()[0].message, "N cannot be at most 3, as Slice says; N is at least 4");
}

TEST(Facts, ContradictionsNameBothSides) {
  ShapesContext ctx;
  EXPECT_FALSE(ctx.AddConstraint(2, 3, "MatMul node \"m\""));
  EXPECT_TRUE(ctx.AddConstraint("N", 3, "Concat node \"c\""));
  EXPECT_FALSE(ctx.AddConstraint("N", 4, "Add node \"a\""));
  EXPECT_FALSE(ctx.AddConstraint("K", "K+1"));
  EXPECT_FALSE(ctx.AddConstraint("2*J", 7));
  EXPECT_TRUE(ctx.AddLessEqualConstraint("T", 5, "Slice node \"s\""));
  EXPECT_FALSE(ctx.AddConstraint("T", 6));
  EXPECT_FALSE(ctx.AddLessEqualConstraint(9, "T"));
  EXPECT_FALSE(ctx.AddLessEqualConstraint(5, 4));
  EXPECT_FALSE(ctx.AddConstraint("R", -1));
  EXPECT_THAT(Messages(ctx),
              ElementsAre("2 and 3 cannot be equal, as MatMul node \"m\" says",
                          "N and 4 cannot be equal, as Add node \"a\" says; N is 3, as Concat node \"c\" says",
                          "K and K+1 cannot be equal", "2*J and 7 cannot be equal",
                          "T and 6 cannot be equal; T is at least 0 and at most 5, as Slice node \"s\" says",
                          "9 cannot be at most T; T is at least 0 and at most 5, as Slice node \"s\" says",
                          "5 cannot be at most 4", "R and -1 cannot be equal"));
  for (const Problem& problem : ctx.Problems()) EXPECT_EQ(problem.level, Problem::Level::kError);
  // Nothing of it was taken.
  EXPECT_EQ(ctx.Simplify(OptimDim("N")), 3);
  EXPECT_EQ(ctx.Simplify(OptimDim("K")), "K");
}

TEST(Facts, OnlyZeroIsADoubt) {
  ShapesContext ctx;
  EXPECT_TRUE(ctx.AddConstraint("2*N", "N", "graph output \"y\""));
  ASSERT_EQ(ctx.Problems().size(), 1u);
  EXPECT_EQ(ctx.Problems()[0].level, Problem::Level::kWarning);
  EXPECT_EQ(ctx.Problems()[0].message, "2*N and N are equal only if N is 0, as graph output \"y\" says they are");
  EXPECT_EQ(ctx.Simplify(OptimDim("N")), "N");
  EXPECT_TRUE(ctx.AddConstraint("Z", 0));
  EXPECT_EQ(ctx.Simplify(OptimDim("Z")), 0);
  EXPECT_EQ(ctx.Problems().size(), 1u);
}

TEST(ShapesContext, ManyNamesAreCheap) {
  ShapesContext ctx;
  for (int i = 0; i < 50000; ++i)
    ctx.SetValue("v" + std::to_string(i), ShapeValue::Tensor(TensorType::kFloat, {"B", "S", 64}));
  EXPECT_EQ(ctx.Size(), 50000u);
  ShapesContext child = ctx.ChildScope();
  for (int i = 0; i < 50000; ++i) ASSERT_NE(child.Find("v" + std::to_string(i)), nullptr);
}

}  // namespace
}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
