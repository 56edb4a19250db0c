// SPDX-License-Identifier: Apache-2.0
// Of the nine documented functions those about length and single elements, in documented and in exact precision.
#include <gtest/gtest.h>

#include "ops/nine_functions_test.h"

namespace ONNX_LIGHT_NAMESPACE::nine_functions {
namespace {

// SequenceLength ----------------------------------------------------------------------------------

TEST_F(Documented, SequenceLengthIsAScalar) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim(3)));
  ComputeShapeSequenceLength(ctx, ParseNodeText("y = SequenceLength(s)"));
  EXPECT_EQ(ctx.Get("y"), Tensor(kInt64, {}));
  EXPECT_FALSE(ctx.Get("y").Shape().IsUnknown());
}

TEST_F(Exact, SequenceLengthHasAValue) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim(3)));
  ctx.SetSequence("t", OptimSequence(kFloat, OptimDim("L")));
  ComputeShapeSequenceLength(ctx, ParseNodeText("y = SequenceLength(s)"));
  EXPECT_EQ(ctx.Get("y"), Scalar(3));
  ComputeShapeSequenceLength(ctx, ParseNodeText("z = SequenceLength(t)"));
  EXPECT_EQ(ctx.Get("z").ValueAsShape(), (OptimShape{"L"}));
  EXPECT_EQ(ctx.Get("z").Shape().Rank(), 0u);
}

// SequenceEmpty -----------------------------------------------------------------------------------

TEST_P(NineFunctions, SequenceEmpty) {
  ComputeShapeSequenceEmpty(ctx, ParseNodeText("y = SequenceEmpty()"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, std::vector<OptimShape>{}));
  ComputeShapeSequenceEmpty(ctx, ParseNodeText("z = SequenceEmpty<dtype = 7>()"));
  EXPECT_EQ(ctx.GetSequence("z"), OptimSequence(kInt64, std::vector<OptimShape>{}));
  ComputeShapeSequenceEmpty(ctx, ParseNodeText("w = SequenceEmpty<dtype = 999>()"));
  EXPECT_FALSE(ctx.GetSequence("w").HasElemDtype());
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceEmpty(ctx, ParseNodeText("v = SequenceEmpty<dtype = 1.5>()")); }),
            "SequenceEmpty, attribute 'dtype': must be an int, is a float");
}

// SequenceErase -----------------------------------------------------------------------------------

TEST_F(Documented, SequenceEraseDropsTheShapes) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{3}}));
  ctx.SetSequence("empty", OptimSequence(kFloat, std::vector<OptimShape>{}));
  ctx.SetSequence("t", OptimSequence(kFloat, OptimDim("L")));
  ComputeShapeSequenceErase(ctx, ParseNodeText("y = SequenceErase(s, nowhere)"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, OptimDim(1)));
  EXPECT_FALSE(ctx.GetSequence("y").HasElemShapes());
  ComputeShapeSequenceErase(ctx, ParseNodeText("z = SequenceErase(empty)"));
  EXPECT_EQ(ctx.GetSequence("z"), OptimSequence(kFloat, OptimDim(0)));
  ComputeShapeSequenceErase(ctx, ParseNodeText("w = SequenceErase(t, \"\")"));
  EXPECT_TRUE(ctx.GetSequence("w").Length().IsExpr());
}

TEST_F(Exact, SequenceEraseAtAKnownPosition) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{3}, OptimShape{4}}));
  ctx.Set("first", Scalar(-3));
  ctx.Set("p", Scalar(3));
  ComputeShapeSequenceErase(ctx, ParseNodeText("y = SequenceErase(s)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2}, {3}}));
  ComputeShapeSequenceErase(ctx, ParseNodeText("z = SequenceErase(s, first)"));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{3}, {4}}));
  EXPECT_EQ(
      TextOf<std::invalid_argument>([&] { ComputeShapeSequenceErase(ctx, ParseNodeText("w = SequenceErase(s, p)")); }),
      "SequenceErase, input 1 'position' (\"p\"): is 3, not in [-3, 2]");
}

TEST_F(Exact, SequenceEraseAtAnUnknownPosition) {
  ctx.SetSequence("same", OptimSequence(kFloat, {OptimShape{2}, OptimShape{2}}));
  ctx.SetSequence("other", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2, 4}, OptimShape{2, 5}}));
  ctx.SetSequence("symbolic", OptimSequence(kFloat, OptimDim("L")));
  ctx.Set("p", Tensor(kInt64, {}));
  ComputeShapeSequenceErase(ctx, ParseNodeText("y = SequenceErase(same, p)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2}}));
  ComputeShapeSequenceErase(ctx, ParseNodeText("z = SequenceErase(other, p)"));
  EXPECT_FALSE(ctx.GetSequence("z").HasElemShapes());
  EXPECT_EQ(ctx.GetSequence("z").Length(), OptimDim(2));
  EXPECT_EQ(ctx.GetSequence("z").Elem().Shape()[0], OptimDim(2));
  EXPECT_TRUE(ctx.GetSequence("z").Elem().Shape()[1].IsExpr());
  ComputeShapeSequenceErase(ctx, ParseNodeText("w = SequenceErase(symbolic, p)"));
  EXPECT_EQ(ctx.GetSequence("w").Length(), OptimDim("L-1"));
}

TEST_F(Exact, SequenceEraseOfAnEmptySequenceIsInvalid) {
  ctx.SetSequence("s", OptimSequence(kFloat, std::vector<OptimShape>{}));
  EXPECT_EQ(
      TextOf<std::invalid_argument>([&] { ComputeShapeSequenceErase(ctx, ParseNodeText("y = SequenceErase(s)")); }),
      "SequenceErase, input 0 'input_sequence' (\"s\"): has no elements");
}

// SequenceAt --------------------------------------------------------------------------------------

TEST_F(Documented, SequenceAtGivesTheSharedShape) {
  ctx.SetSequence("same", OptimSequence(kFloat, {OptimShape{2, "N"}, OptimShape{2, "N"}}));
  ctx.SetSequence("other", OptimSequence(kFloat, {OptimShape{2}, OptimShape{3}}));
  ctx.SetSequence("plain", OptimSequence(kFloat, OptimDim(2)));
  ctx.Set("p", Scalar(1));
  ComputeShapeSequenceAt(ctx, ParseNodeText("y = SequenceAt(same, nowhere)"));
  EXPECT_EQ(ctx.Get("y"), Tensor(kFloat, {2, "N"}));
  ComputeShapeSequenceAt(ctx, ParseNodeText("z = SequenceAt(other, p)"));
  EXPECT_EQ(ctx.Get("z").Dtype(), kFloat);
  EXPECT_TRUE(ctx.Get("z").Shape().IsUnknown());
  ComputeShapeSequenceAt(ctx, ParseNodeText("w = SequenceAt(plain, p)"));
  EXPECT_TRUE(ctx.Get("w").Shape().IsUnknown());
}

TEST_F(Exact, SequenceAtSelects) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{3, "N"}}));
  ctx.Set("last", Scalar(-1));
  ctx.Set("p", Scalar(2));
  ComputeShapeSequenceAt(ctx, ParseNodeText("y = SequenceAt(s, last)"));
  EXPECT_EQ(ctx.Get("y"), Tensor(kFloat, {3, "N"}));
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeSequenceAt(ctx, ParseNodeText("z = SequenceAt(s, p)")); }),
            "SequenceAt, input 1 'position' (\"p\"): is 2, not in [-2, 1]");
}

TEST_F(Exact, SequenceAtAnUnknownPositionGivesTheJoin) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2, 4}}));
  ctx.SetSequence("ranks", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2}}));
  ctx.Set("p", Tensor(kInt64, {}));
  ComputeShapeSequenceAt(ctx, ParseNodeText("y = SequenceAt(s, p)"));
  ASSERT_EQ(ctx.Get("y").Shape().Rank(), 2u);
  EXPECT_EQ(ctx.Get("y").Shape()[0], OptimDim(2));
  EXPECT_TRUE(ctx.Get("y").Shape()[1].IsExpr());
  ComputeShapeSequenceAt(ctx, ParseNodeText("z = SequenceAt(ranks, p)"));
  EXPECT_TRUE(ctx.Get("z").Shape().IsUnknown());
}

// Two elements of a sequence may differ where its summary does not say more.
TEST_F(Exact, ElementsOfASummaryAreNotTakenForEqual) {
  ctx.Set("x", Tensor(kFloat, {"N"}));
  ctx.Set("two", Scalar(2));
  ctx.Set("p", Tensor(kInt64, {}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("s = SplitToSequence(x, two)"));
  ComputeShapeSequenceAt(ctx, ParseNodeText("y = SequenceAt(s, p)"));
  ComputeShapeSequenceAt(ctx, ParseNodeText("z = SequenceAt(s, p)"));
  EXPECT_NE(ctx.Get("y").Shape()[0], ctx.Get("z").Shape()[0]);
  EXPECT_TRUE(ctx.ProvablyGreaterEqual(OptimDim(2), ctx.Get("y").Shape()[0]));
}

// SequenceInsert ----------------------------------------------------------------------------------

TEST_F(Documented, SequenceInsertDropsTheShapes) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{2}}));
  ctx.SetSequence("untyped", OptimSequence());
  ctx.Set("t", Tensor(kFloat, {2}));
  ctx.Set("u", Tensor(TensorType::kUndefined, {2}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("y = SequenceInsert(s, t, nowhere)"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(kFloat, OptimDim(3)));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("z = SequenceInsert(untyped, t)"));
  EXPECT_EQ(ctx.GetSequence("z"), OptimSequence(kFloat, OptimDim(1)));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("w = SequenceInsert(s, u)"));
  EXPECT_EQ(ctx.GetSequence("w"), OptimSequence(kFloat, OptimDim(3)));
}

TEST_P(NineFunctions, SequenceInsertRefuses) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim(2)));
  ctx.SetSequence("longest", OptimSequence(kFloat, OptimDim(INT64_MAX)));
  ctx.Set("i", Tensor(kInt64, {2}));
  ctx.Set("t", Tensor(kFloat, {2}));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceInsert(ctx, ParseNodeText("[n] y = SequenceInsert(s)")); }),
            "SequenceInsert node \"n\": needs a sequence and a tensor, got 1 inputs");
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceInsert(ctx, ParseNodeText("[n] y = SequenceInsert(s, i)")); }),
            "SequenceInsert node \"n\", input 1 'tensor' (\"i\"): has elements of type int64, input 0 'input_sequence' "
            "(\"s\") of type float");
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceInsert(ctx, ParseNodeText("[n] y = SequenceInsert(longest, t)")); }),
            "SequenceInsert node \"n\", input 0 'input_sequence' (\"longest\"): has 9223372036854775807 elements, no "
            "more fit");
  EXPECT_EQ(TextOf<std::out_of_range>(
                [&] { ComputeShapeSequenceInsert(ctx, ParseNodeText("[n] y = SequenceInsert(s, gone)")); }),
            "SequenceInsert node \"n\", input 1 'tensor' (\"gone\"): is not defined");
}

TEST_F(Exact, SequenceInsertAtAKnownPosition) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2}, OptimShape{3}}));
  ctx.Set("t", Tensor(kFloat, {"N"}));
  ctx.Set("p", Scalar(-1));
  ctx.Set("n", Scalar(2));
  ctx.Set("far", Scalar(-3));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("y = SequenceInsert(s, t)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemShapes(), (std::vector<OptimShape>{{2}, {3}, {"N"}}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("z = SequenceInsert(s, t, p)"));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{2}, {"N"}, {3}}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("w = SequenceInsert(s, t, n)"));
  EXPECT_EQ(ctx.GetSequence("w").ElemShapes(), (std::vector<OptimShape>{{2}, {3}, {"N"}}));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceInsert(ctx, ParseNodeText("v = SequenceInsert(s, t, far)")); }),
            "SequenceInsert, input 2 'position' (\"far\"): is -3, not in [-2, 2]");
}

TEST_F(Exact, SequenceInsertAtAnUnknownPosition) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, 3}}));
  ctx.SetSequence("symbolic", OptimSequence(kFloat, OptimDim("L")));
  ctx.Set("t", Tensor(kFloat, {2, 4}));
  ctx.Set("same", Tensor(kFloat, {2, 3}));
  ctx.Set("p", Tensor(kInt64, {}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("y = SequenceInsert(s, t, p)"));
  EXPECT_EQ(ctx.GetSequence("y").Length(), OptimDim(2));
  EXPECT_EQ(ctx.GetSequence("y").Elem().Shape()[0], OptimDim(2));
  EXPECT_TRUE(ctx.GetSequence("y").Elem().Shape()[1].IsExpr());
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("c = ConcatFromSequence<axis = 1>(y)"));
  EXPECT_EQ(ctx.Get("c").Shape(), (OptimShape{2, 7}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("z = SequenceInsert(s, same, p)"));
  EXPECT_EQ(ctx.GetSequence("z").ElemShapes(), (std::vector<OptimShape>{{2, 3}, {2, 3}}));
  ComputeShapeSequenceInsert(ctx, ParseNodeText("w = SequenceInsert(symbolic, t)"));
  EXPECT_EQ(ctx.GetSequence("w").Length(), OptimDim("L+1"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::nine_functions
