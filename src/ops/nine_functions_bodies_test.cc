// SPDX-License-Identifier: Apache-2.0
// Of the nine documented functions SequenceMap and SplitToSequence, in documented and in exact precision.
#include <gtest/gtest.h>

#include "ops/nine_functions_test.h"

namespace ONNX_LIGHT_NAMESPACE::nine_functions {
namespace {

// SequenceMap -------------------------------------------------------------------------------------

TEST_F(Documented, SequenceMapRecordsTypeAndLength) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, "N"}, OptimShape{2, "N"}}));
  ctx.SetSequence("t", OptimSequence(kFloat, OptimDim("L")));
  ComputeShapeSequenceMap(
      ctx, ParseNodeText("y, z = SequenceMap<body = b (e) => (r, q) { r = Identity(e) q = Shape(e) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, OptimDim(2)));
  EXPECT_EQ(ctx.GetSequence("z"), OptimSequence(kInt64, OptimDim(2)));
  EXPECT_FALSE(ctx.GetSequence("y").HasElemShapes());
  ComputeShapeSequenceMap(ctx, ParseNodeText("w = SequenceMap<body = b (e) => (r) { r = Identity(e) }>(t)"));
  EXPECT_EQ(ctx.GetSequence("w"), OptimSequence(kFloat, OptimDim("L")));
  EXPECT_FALSE(ctx.Has("r"));
}

TEST_P(NineFunctions, SequenceMapSkipsEmptyOutputNames) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim(2)));
  NodeProto node = ParseNodeText("a, z = SequenceMap<body = b (e) => (r, q) { r = Identity(e) q = Shape(e) }>(s)");
  node.ref_output()[0] = "";
  ComputeShapeSequenceMap(ctx, node);
  EXPECT_EQ(ctx.SequencesSize(), 2u);
  EXPECT_EQ(ctx.GetSequence("z").ElemDtype(), kInt64);
}

TEST_P(NineFunctions, SequenceMapBodySeesOuterNames) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}}));
  ctx.Set("outer", Tensor(kInt64, {7}));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (e) => (r) { r = Identity(outer) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kInt64);
}

TEST_P(NineFunctions, SequenceMapExtraTensorsBindWholeAndSequencesByElement) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{2}}));
  ctx.SetSequence("i", OptimSequence(kInt64, {OptimShape{3}, OptimShape{3}}));
  ctx.Set("t", Tensor(TensorType::kBool, {4}));
  ComputeShapeSequenceMap(ctx, ParseNodeText("x, y, z = SequenceMap<body = b (e, f, g) => (p, q, r) {"
                                             " p = Identity(e) q = Identity(f) r = Identity(g) }>(s, i, t)"));
  EXPECT_EQ(ctx.GetSequence("x").ElemDtype(), kFloat);
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kInt64);
  EXPECT_EQ(ctx.GetSequence("z").ElemDtype(), TensorType::kBool);
}

// The text hands the whole sequence to the body: it stays readable there under the same name.
TEST_P(NineFunctions, SequenceMapExtraSequenceStaysVisible) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{2}}));
  ctx.SetSequence("i", OptimSequence(kInt64, {OptimShape{3}, OptimShape{3}}));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y, z = SequenceMap<body = b (e, f) => (q, r) {"
                                             " q = Identity(f) r = SequenceLength(f) }>(s, i)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kInt64);
  EXPECT_EQ(ctx.GetSequence("z").ElemDtype(), kInt64);
}

TEST_P(NineFunctions, SequenceMapRefuses) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}}));
  const auto run = [&](const std::string& node) {
    return TextOf<std::invalid_argument>([&] { ComputeShapeSequenceMap(ctx, ParseNodeText(node)); });
  };
  EXPECT_EQ(run("[m] y = SequenceMap(s)"), "SequenceMap node \"m\", attribute 'body': is missing");
  EXPECT_EQ(run("[m] y = SequenceMap<body = b (e, f) => (r) { r = Identity(e) }>(s)"),
            "SequenceMap node \"m\", attribute 'body': takes 2 inputs, the node has 1");
  EXPECT_EQ(run("[m] y = SequenceMap<body = b (e) => (r, q) { r = Identity(e) q = Identity(e) }>(s)"),
            "SequenceMap node \"m\", attribute 'body': gives 2 outputs, the node has 1");
  EXPECT_EQ(run("[m] y = SequenceMap<body = b (e) => (gone) { r = Identity(e) }>(s)"),
            "SequenceMap node \"m\", body output 0 (\"gone\"): is not produced in body 'b' of SequenceMap \"m\"");
  EXPECT_EQ(run("[m] y = SequenceMap<body = b (e) => (r) { r = SequenceConstruct(e) }>(s)"),
            "SequenceMap node \"m\", body output 0 (\"r\"): must be a tensor, got seq(tensor(float)[2], length 1)");
  EXPECT_EQ(run("[m] y = SequenceMap<body = b (e) => (r) { [no] r = NoSuchOp(e) }>(s)"),
            "NoSuchOp node \"no\": operator is not supported in body 'b' of SequenceMap \"m\"");
  EXPECT_EQ(TextOf<std::out_of_range>([&] {
              ComputeShapeSequenceMap(
                  ctx, ParseNodeText("[m] y = SequenceMap<body = b (e) => (r) { [id] r = Identity(gone) }>(s)"));
            }),
            "Identity node \"id\", input 0 'input' (\"gone\"): is not defined in body 'b' of SequenceMap \"m\"");
  EXPECT_EQ(TextOf<std::out_of_range>([&] {
              ComputeShapeSequenceMap(
                  ctx, ParseNodeText("[m] y = SequenceMap<body = b (e, f) => (r) { r = Identity(e) }>(s, gone)"));
            }),
            "SequenceMap node \"m\", input 1 'additional_inputs' (\"gone\"): is not defined");
}

TEST_F(Exact, SequenceMapRecordsEveryShape) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, "N"}, OptimShape{3, "M"}, OptimShape{2, "N"}}));
  ComputeShapeSequenceMap(
      ctx, ParseNodeText("y, z = SequenceMap<body = b (e) => (r, q) { r = Identity(e) q = Shape(e) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2, "N"}, {3, "M"}, {2, "N"}}));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{2}, {2}, {2}}));
  ctx.Set("p", Scalar(1));
  ComputeShapeSequenceAt(ctx, ParseNodeText("w = SequenceAt(z, p)"));
  EXPECT_EQ(ctx.Get("w").ValueAsShape(), (OptimShape{3, "M"}));
}

// What the body makes anew is another number in each step, though it is walked once.
TEST_F(Exact, SequenceMapStepsDoNotShareFreshDims) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{5}, OptimShape{5}}));
  ctx.Set("k", Tensor(kInt64, {}));
  ComputeShapeSequenceMap(
      ctx, ParseNodeText("y = SequenceMap<body = b (e) => (r) { p = SplitToSequence(e, k) r = SequenceAt(p, k) }>(s)"));
  const std::vector<OptimShape>& shapes = ctx.GetSequence("y").ElemShapes();
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_TRUE(shapes[0][0].IsExpr());
  EXPECT_NE(shapes[0][0], shapes[1][0]);
}

TEST_F(Exact, SequenceMapOfASummaryKeepsSums) {
  ctx.Set("x", Tensor(kFloat, {"N", 4}));
  ctx.Set("size", Scalar(3));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("s = SplitToSequence(x, size)"));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (e) => (r) { r = Identity(e) }>(s)"));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("z = ConcatFromSequence<axis = 0>(y)"));
  EXPECT_EQ(ctx.Get("z").Shape(), (OptimShape{"N", 4}));
}

TEST_F(Exact, SequenceMapUnifiesLengths) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim("L")));
  ctx.SetSequence("t", OptimSequence(kFloat, OptimDim(3)));
  ctx.SetSequence("u", OptimSequence(kFloat, OptimDim(2)));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (e, f) => (r) { r = Identity(e) }>(s, t)"));
  EXPECT_EQ(ctx.GetSequence("y").Length(), OptimDim(3));
  EXPECT_TRUE(ctx.Equal(OptimDim("L"), OptimDim(3)));
  EXPECT_EQ(TextOf<std::invalid_argument>([&] {
              ComputeShapeSequenceMap(
                  ctx, ParseNodeText("[name] z = SequenceMap<body = b (e, f) => (r) { r = Identity(e) }>(t, u)"));
            }),
            "SequenceMap node \"name\", input 1 'additional_inputs' (\"u\"): has 2 elements, input 0 has 3");
}

TEST_F(Exact, SequenceMapOfAnEmptySequenceHasTheBodysType) {
  ctx.SetSequence("s", OptimSequence(kFloat, std::vector<OptimShape>{}));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (e) => (r) { r = Shape(e) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kInt64);
  EXPECT_EQ(ctx.GetSequence("y").Length(), OptimDim(0));
}

TEST_F(Exact, SequenceMapWarnsWhenTheBodyDeclaresAnotherType) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}}));
  ComputeShapeSequenceMap(ctx,
                          ParseNodeText("[m] y = SequenceMap<body = b (int64[3] e) => (r) { r = Identity(e) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2}}));
  EXPECT_EQ(ProblemTexts(ctx), std::vector<std::string>{"warning: body input 0 (\"e\"): is tensor(float)[2], declared "
                                                        "tensor(int64)[3] in body 'b' of SequenceMap \"m\""});
}

TEST_F(Documented, SequenceMapIgnoresWhatTheBodyDeclares) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}}));
  ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (int64[3] e) => (r) { r = Identity(e) }>(s)"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, OptimDim(1)));
  EXPECT_TRUE(ctx.Problems().empty());
}

// A body name hides an outer one of either kind.
TEST_P(NineFunctions, BodyNamesHideOuterOnes) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}}));
  ctx.SetSequence("e", OptimSequence(kInt64, OptimDim(1)));
  TextOf<std::out_of_range>([&] {
    ComputeShapeSequenceMap(ctx, ParseNodeText("y = SequenceMap<body = b (e) => (r) { r = SequenceLength(e) }>(s)"));
  });
}

// SplitToSequence ---------------------------------------------------------------------------------

TEST_P(NineFunctions, SplitIntoUnitPieces) {
  ctx.Set("x", Tensor(kFloat, {2, 3}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence<axis = -1>(x)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2, 1}, {2, 1}, {2, 1}}));
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kFloat);
  ComputeShapeSplitToSequence(ctx, ParseNodeText("z = SplitToSequence<axis = 1, keepdims = 0>(x, \"\")"));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{2}, {2}, {2}}));
}

TEST_P(NineFunctions, SplitByEntriesAndBySize) {
  ctx.Set("x", Tensor(kFloat, {5, "N"}));
  ctx.Set("entries", Vector({1, 0, 4}));
  ctx.Set("size", Scalar(2));
  ctx.Set("one", Vector({5}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence<keepdims = 0>(x, entries)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{1, "N"}, {0, "N"}, {4, "N"}}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("z = SplitToSequence<keepdims = 0>(x, size)"));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{2, "N"}, {2, "N"}, {1, "N"}}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("w = SplitToSequence(x, one)"));
  EXPECT_EQ(ctx.GetSequence("w").ElemShapes(), (std::vector<OptimShape>{{5, "N"}}));
}

TEST_P(NineFunctions, SplitOfAnAxisOfSize0IsEmpty) {
  ctx.Set("x", Tensor(kFloat, {0, 2}));
  ctx.Set("size", Scalar(2));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x)"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, std::vector<OptimShape>{}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("z = SplitToSequence(x, size)"));
  EXPECT_EQ(ctx.GetSequence("z"), OptimSequence(kFloat, std::vector<OptimShape>{}));
}

TEST_P(NineFunctions, SplitRefuses) {
  ctx.Set("x", Tensor(kFloat, {5}));
  ctx.Set("symbolic", Tensor(kFloat, {"N"}));
  ctx.Set("zero", Scalar(0));
  ctx.Set("negative", Vector({6, -1}));
  ctx.Set("four", Vector({1, 3}));
  ctx.Set("matrix", Tensor(kInt64, {1, 2}));
  const auto run = [&](const char* node) {
    return TextOf<std::invalid_argument>([&] { ComputeShapeSplitToSequence(ctx, ParseNodeText(node)); });
  };
  EXPECT_EQ(run("y = SplitToSequence(x, zero)"),
            "SplitToSequence, input 1 'split' (\"zero\"): must be positive, got 0");
  EXPECT_EQ(run("y = SplitToSequence(symbolic, zero)"),
            "SplitToSequence, input 1 'split' (\"zero\"): must be positive, got 0");
  EXPECT_EQ(run("y = SplitToSequence(x, negative)"),
            "SplitToSequence, input 1 'split' (\"negative\"): must not be negative, got -1");
  EXPECT_EQ(run("y = SplitToSequence(x, four)"),
            "SplitToSequence: dim 0 of input 0 'input' (\"x\") is 5, the sum of input 1 'split' (\"four\") is 4; they "
            "must be equal");
  EXPECT_EQ(run("y = SplitToSequence<axis = 1>(x)"), "SplitToSequence, attribute 'axis': 1 is not in [-1, 0]");
  EXPECT_EQ(run("y = SplitToSequence<axis = -2>(symbolic)"), "SplitToSequence, attribute 'axis': -2 is not in [-1, 0]");
  EXPECT_EQ(run("y = SplitToSequence(x, matrix)"),
            "SplitToSequence, input 1 'split' (\"matrix\"): must be a scalar or have one dim, got tensor(int64)[1,2]");
  EXPECT_EQ(TextOf<std::out_of_range>(
                [&] { ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x, gone)")); }),
            "SplitToSequence, input 1 'split' (\"gone\"): is not defined");
}

TEST_P(NineFunctions, SplitOfAScalarOrUnknownRankKeepsTheType) {
  ctx.Set("scalar", Tensor(kFloat, {}));
  ctx.Set("unknown", Tensor(kFloat, OptimShape::Unknown()));
  for (const char* node : {"y = SplitToSequence<axis = 9>(scalar)", "y = SplitToSequence<axis = 9>(unknown)"}) {
    ComputeShapeSplitToSequence(ctx, ParseNodeText(node));
    EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kFloat);
    EXPECT_FALSE(ctx.GetSequence("y").HasElemShapes());
    EXPECT_TRUE(ctx.GetSequence("y").Length().IsExpr());
  }
}

TEST_F(Documented, SplitOfASymbolicAxisOrByAnUnknownValueKeepsTheType) {
  ctx.Set("x", Tensor(kFloat, {"N"}));
  ctx.Set("y", Tensor(kFloat, {5}));
  ctx.Set("size", Scalar(2));
  ctx.Set("entries", Vector({2, 3}));
  ctx.Set("runtime", Tensor(kInt64, {2}));
  for (const char* node : {"z = SplitToSequence(x)", "z = SplitToSequence(x, size)", "z = SplitToSequence(x, entries)",
                           "z = SplitToSequence(y, runtime)"}) {
    ComputeShapeSplitToSequence(ctx, ParseNodeText(node));
    EXPECT_EQ(ctx.GetSequence("z").ElemDtype(), kFloat) << node;
    EXPECT_FALSE(ctx.GetSequence("z").HasElemShapes()) << node;
    EXPECT_TRUE(ctx.GetSequence("z").Length().IsExpr()) << node;
    EXPECT_FALSE(ctx.GetSequence("z").HasElem()) << node;
  }
}

TEST_F(Exact, SplitOfASymbolicAxis) {
  ctx.Set("x", Tensor(kFloat, {"N", "C"}));
  ctx.Set("size", Scalar(3));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x)"));
  EXPECT_EQ(ctx.GetSequence("y").Length(), OptimDim("N"));
  EXPECT_EQ(ctx.GetSequence("y").Elem().Shape(), (OptimShape{1, "C"}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("z = SplitToSequence<keepdims = 0>(x)"));
  EXPECT_EQ(ctx.GetSequence("z").Elem().Shape(), (OptimShape{"C"}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("w = SplitToSequence(x, size)"));
  EXPECT_EQ(ctx.GetSequence("w").Length(), OptimDim("(N+2)//3"));
  EXPECT_EQ(ctx.GetSequence("w").Elem().Shape()[1], OptimDim("C"));
  ctx.Set("first", Scalar(0));
  ctx.Set("last", Scalar(-1));
  ctx.Set("before", Scalar(-2));
  ComputeShapeSequenceAt(ctx, ParseNodeText("a = SequenceAt(w, first)"));
  EXPECT_EQ(ctx.Get("a").Shape(), (OptimShape{"min(N,3)", "C"}));
  ComputeShapeSequenceAt(ctx, ParseNodeText("b = SequenceAt(w, last)"));
  EXPECT_EQ(ctx.Get("b").Shape(), (OptimShape{"N-3*((N+2)//3)+3", "C"}));
  ComputeShapeSequenceAt(ctx, ParseNodeText("c = SequenceAt(w, before)"));
  EXPECT_EQ(ctx.Get("c").Shape(), (OptimShape{3, "C"}));
}

TEST_F(Exact, SplitOfASymbolicAxisByEntries) {
  ctx.Set("x", Tensor(kFloat, {"N"}));
  ctx.Set("entries", Vector({2, 3}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x, entries)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2}, {3}}));
  EXPECT_TRUE(ctx.Equal(OptimDim("N"), OptimDim(5)));
}

TEST_F(Exact, SplitByUnknownEntries) {
  ctx.Set("x", Tensor(kFloat, {"N", 2}));
  ctx.Set("entries", Tensor(kInt64, {3}));
  ctx.Set("many", Tensor(kInt64, {"K"}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x, entries)"));
  ASSERT_EQ(ctx.GetSequence("y").ElemShapes().size(), 3u);
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes()[2][1], OptimDim(2));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("z = ConcatFromSequence<axis = 0>(y)"));
  EXPECT_EQ(ctx.Get("z").Shape(), (OptimShape{"N", 2}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("w = SplitToSequence(x, many)"));
  EXPECT_EQ(ctx.GetSequence("w").Length(), OptimDim("K"));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("v = ConcatFromSequence<axis = 0>(w)"));
  EXPECT_EQ(ctx.Get("v").Shape(), (OptimShape{"N", 2}));
}

TEST_F(Exact, SplitOfAKnownVectorKeepsValues) {
  ctx.Set("x", Vector({4, 5, 6}));
  ctx.Set("p", Scalar(1));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence<keepdims = 0>(x)"));
  ComputeShapeSequenceAt(ctx, ParseNodeText("z = SequenceAt(y, p)"));
  EXPECT_EQ(ctx.Get("z"), Scalar(5));
}

TEST_P(NineFunctions, AVeryLongAxisIsNotListed) {
  ctx.Set("x", Tensor(kFloat, {int64_t{1} << 40}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("y = SplitToSequence(x)"));
  EXPECT_EQ(ctx.GetSequence("y").Length(), OptimDim(int64_t{1} << 40));
  EXPECT_FALSE(ctx.GetSequence("y").HasElemShapes());
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::nine_functions
