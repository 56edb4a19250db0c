// SPDX-License-Identifier: Apache-2.0
// The nine documented functions: what all refuse, and what those that make and join sequences say in documented and in
// exact precision.
#include "ops/nine_functions_test.h"

#include <gtest/gtest.h>

namespace ONNX_LIGHT_NAMESPACE::nine_functions {
namespace {

INSTANTIATE_TEST_SUITE_P(, NineFunctions, testing::Values(Precision::kDocumented, Precision::kExact),
                         [](const auto& test) { return test.param == Precision::kExact ? "exact" : "documented"; });

using Function = void (*)(ShapesContext&, const NodeProto&);

struct Row {
  const char* op_type;
  Function function;
  const char* node;  // with inputs that are not in an empty context
  bool needs_input;
};
const Row kRows[] = {
    {"SequenceConstruct", ComputeShapeSequenceConstruct, "[n] y = SequenceConstruct(x)", false},
    {"ConcatFromSequence", ComputeShapeConcatFromSequence, "[n] y = ConcatFromSequence<axis = 0>(x)", true},
    {"SequenceLength", ComputeShapeSequenceLength, "[n] y = SequenceLength(x)", true},
    {"SequenceErase", ComputeShapeSequenceErase, "[n] y = SequenceErase(x)", true},
    {"SequenceAt", ComputeShapeSequenceAt, "[n] y = SequenceAt(x, p)", true},
    {"SequenceInsert", ComputeShapeSequenceInsert, "[n] y = SequenceInsert(x, t)", true},
    {"SequenceMap", ComputeShapeSequenceMap, "[n] y = SequenceMap<body = b (e) => (r) { r = Identity(e) }>(x)", true},
    {"SplitToSequence", ComputeShapeSplitToSequence, "[n] y = SplitToSequence(x)", true},
};

// What all nine refuse ----------------------------------------------------------------------------

TEST_P(NineFunctions, AnotherOpTypeIsInvalid) {
  for (const Row& row : kRows) {
    NodeProto node = ParseNodeText(row.node);
    node.set_op_type("Relu");
    EXPECT_EQ(TextOf<std::invalid_argument>([&] { row.function(ctx, node); }),
              std::string("Relu node \"n\": must be a ") + row.op_type + " node");
  }
  NodeProto node;
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeSequenceEmpty(ctx, node); }),
            "node without op_type: must be a SequenceEmpty node");
}

TEST_P(NineFunctions, ANodeWithoutOutputIsInvalid) {
  for (const Row& row : kRows) {
    NodeProto node = ParseNodeText(row.node);
    node.ref_output().clear();
    EXPECT_EQ(TextOf<std::invalid_argument>([&] { row.function(ctx, node); }),
              std::string(row.op_type) + " node \"n\": has no output");
  }
  NodeProto node;
  node.set_op_type("SequenceEmpty");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeSequenceEmpty(ctx, node); }),
            "SequenceEmpty: has no output");
}

TEST_P(NineFunctions, AMissingOrEmptyRequiredInputIsInvalid) {
  for (const Row& row : kRows) {
    if (!row.needs_input) continue;
    NodeProto node = ParseNodeText(row.node);
    node.ref_input()[0] = "";
    TextOf<std::invalid_argument>([&] { row.function(ctx, node); });
    node.ref_input().clear();
    TextOf<std::invalid_argument>([&] { row.function(ctx, node); });
  }
  NodeProto node = ParseNodeText("[n] y = SequenceLength()");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeSequenceLength(ctx, node); }),
            "SequenceLength node \"n\", input 0 'input_sequence': is required");
}

TEST_P(NineFunctions, ANameTheContextDoesNotHaveIsOutOfRange) {
  for (const Row& row : kRows) {
    NodeProto node = ParseNodeText(row.node);
    const std::string text = TextOf<std::out_of_range>([&] { row.function(ctx, node); });
    EXPECT_NE(text.find("(\"x\"): is not defined"), std::string::npos) << text;
    EXPECT_EQ(ctx.Size() + ctx.SequencesSize(), 0u);
  }
}

TEST_P(NineFunctions, TheOtherKindCountsAsMissing) {
  ctx.Set("tensor", Tensor(kFloat, {2, "N"}));
  ctx.SetSequence("sequence", OptimSequence(kFloat, OptimDim(2)));
  for (const Row& row : kRows) {
    NodeProto node = ParseNodeText(row.node);
    const bool takes_tensor = node.op_type() == "SequenceConstruct" || node.op_type() == "SplitToSequence";
    node.ref_input()[0] = takes_tensor ? "sequence" : "tensor";
    TextOf<std::out_of_range>([&] { row.function(ctx, node); });
  }
  NodeProto node = ParseNodeText("[\"head/len\"] y = SequenceLength(tensor)");
  node.set_name("head/len");
  EXPECT_EQ(TextOf<std::out_of_range>([&] { ComputeShapeSequenceLength(ctx, node); }),
            "SequenceLength node \"head/len\", input 0 'input_sequence' (\"tensor\"): must be a sequence, got "
            "tensor(float)[2,N]");
  node = ParseNodeText("y = SequenceInsert(sequence, sequence)");
  TextOf<std::out_of_range>([&] { ComputeShapeSequenceInsert(ctx, node); });
}

TEST_P(NineFunctions, TheContextIsUnchangedAfterAThrow) {
  ctx.Set("a", Tensor(kFloat, {"N"}));
  ctx.Set("b", Tensor(kInt64, {"M"}));
  ctx.SetSequence("s",
                  OptimSequence(kFloat, {OptimShape{2, "N"}, OptimShape{3, "M"}, OptimShape{4, 5}, OptimShape{4, 6}}));
  TextOf<std::invalid_argument>(
      [&] { ComputeShapeSequenceConstruct(ctx, ParseNodeText("a = SequenceConstruct(a, b)")); });
  TextOf<std::invalid_argument>(
      [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)")); });
  EXPECT_EQ(ctx.Size(), 2u);
  EXPECT_EQ(ctx.SequencesSize(), 1u);
  EXPECT_EQ(ctx.Get("a"), Tensor(kFloat, {"N"}));
  EXPECT_TRUE(ctx.Constraints().empty());
  EXPECT_TRUE(ctx.Problems().empty());
}

// SequenceConstruct -------------------------------------------------------------------------------

TEST_P(NineFunctions, SequenceConstructRecordsEveryShape) {
  ctx.Set("a", Tensor(kFloat, {2, "N"}));
  ctx.Set("b", Tensor(kFloat, {}));
  ctx.Set("c", Tensor(kFloat, OptimShape::Unknown()));
  ComputeShapeSequenceConstruct(ctx, ParseNodeText("y = SequenceConstruct(a, b, a, c)"));
  const OptimSequence& y = ctx.GetSequence("y");
  EXPECT_EQ(y.ElemDtype(), kFloat);
  EXPECT_EQ(y.Length(), OptimDim(4));
  ASSERT_TRUE(y.HasElemShapes());
  EXPECT_EQ(y.ElemShapes(), (std::vector<OptimShape>{{2, "N"}, {}, {2, "N"}, {}}));
  EXPECT_FALSE(y.ElemShapes()[1].IsUnknown());
  EXPECT_TRUE(y.ElemShapes()[3].IsUnknown());
}

TEST_P(NineFunctions, SequenceConstructOfNothing) {
  ComputeShapeSequenceConstruct(ctx, ParseNodeText("y = SequenceConstruct()"));
  EXPECT_EQ(ctx.GetSequence("y"), OptimSequence(TensorType::kUndefined, std::vector<OptimShape>{}));
}

TEST_P(NineFunctions, SequenceConstructOfTwoTypesIsInvalid) {
  ctx.Set("a", Tensor(kFloat, {2}));
  ctx.Set("b", Tensor(kInt64, {2}));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeSequenceConstruct(ctx, ParseNodeText("[c] y = SequenceConstruct(a, b)")); }),
            "SequenceConstruct node \"c\", input 1 'inputs' (\"b\"): has elements of type int64, input 0 'inputs' "
            "(\"a\") of type float");
}

TEST_P(NineFunctions, SequenceConstructTakesTheTypeThatIsKnown) {
  ctx.Set("a", Tensor(TensorType::kUndefined, {2}));
  ctx.Set("b", Tensor(kInt64, {2}));
  ComputeShapeSequenceConstruct(ctx, ParseNodeText("y = SequenceConstruct(a, b)"));
  EXPECT_EQ(ctx.GetSequence("y").ElemDtype(), kInt64);
}

// ConcatFromSequence ------------------------------------------------------------------------------

TEST_P(NineFunctions, ConcatSumsTheAxis) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2, 4}, OptimShape{2, 0}}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = -1>(s)"));
  EXPECT_EQ(ctx.Get("y"), Tensor(kFloat, {2, 7}));
}

TEST_P(NineFunctions, StackPutsTheLengthAtTheAxis) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, "N"}, OptimShape{2, 3}}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = -3, new_axis = 1>(s)"));
  EXPECT_EQ(ctx.Get("y"), Tensor(kFloat, {2, 2, 3}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("z = ConcatFromSequence<axis = 2, new_axis = 1>(s)"));
  EXPECT_EQ(ctx.Get("z"), Tensor(kFloat, {2, 3, 2}));
}

TEST_P(NineFunctions, ScalarsStackButDoNotConcatenate) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{}, OptimShape{}, OptimShape{}}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0, new_axis = 1>(s)"));
  EXPECT_EQ(ctx.Get("y").Shape(), (OptimShape{3}));
  EXPECT_EQ(
      TextOf<std::invalid_argument>(
          [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("z = ConcatFromSequence<axis = 0>(s)")); }),
      "ConcatFromSequence, input 0 'input_sequence' (\"s\"): has scalars, which concatenate only along a new axis");
}

TEST_P(NineFunctions, ConcatAttributesAreCheckedEvenWithoutShapes) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim("L")));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("[c] y = ConcatFromSequence(s)")); }),
            "ConcatFromSequence node \"c\", attribute 'axis': is missing");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] {
              ComputeShapeConcatFromSequence(ctx,
                                             ParseNodeText("[c] y = ConcatFromSequence<axis = 0, new_axis = 2>(s)"));
            }),
            "ConcatFromSequence node \"c\", attribute 'new_axis': 2 is not 0 or 1");
}

TEST_P(NineFunctions, ConcatAxisMustBeInRange) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{2, 3}}));
  const auto run = [&](const char* node) {
    return TextOf<std::invalid_argument>([&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText(node)); });
  };
  EXPECT_EQ(run("y = ConcatFromSequence<axis = 2>(s)"), "ConcatFromSequence, attribute 'axis': 2 is not in [-2, 1]");
  EXPECT_EQ(run("y = ConcatFromSequence<axis = -3>(s)"), "ConcatFromSequence, attribute 'axis': -3 is not in [-2, 1]");
  EXPECT_EQ(run("y = ConcatFromSequence<axis = 3, new_axis = 1>(s)"),
            "ConcatFromSequence, attribute 'axis': 3 is not in [-3, 2]");
  EXPECT_EQ(run("y = ConcatFromSequence<axis = -4, new_axis = 1>(s)"),
            "ConcatFromSequence, attribute 'axis': -4 is not in [-3, 2]");
}

TEST_P(NineFunctions, ConcatOfDifferentRanksOrDimsIsInvalid) {
  ctx.SetSequence("ranks", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2}}));
  ctx.SetSequence("dims", OptimSequence(kFloat, {OptimShape{2, 3}, OptimShape{2, 4}}));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(ranks)")); }),
            "ConcatFromSequence, input 0 'input_sequence' (\"ranks\"): element 0 is tensor(float)[2,3], element 1 is "
            "tensor(float)[2]; "
            "their ranks must be equal");
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(dims)")); }),
            "ConcatFromSequence: dim 1 of element 0 is 3, dim 1 of element 1 is 4; they must be equal");
  TextOf<std::invalid_argument>([&] {
    ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0, new_axis = 1>(dims)"));
  });
}

TEST_P(NineFunctions, ConcatOfUnknownShapesKeepsTheType) {
  ctx.SetSequence("s", OptimSequence(kFloat, OptimDim("L")));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)"));
  EXPECT_EQ(ctx.Get("y").Dtype(), kFloat);
  EXPECT_TRUE(ctx.Get("y").Shape().IsUnknown());
}

TEST_F(Documented, ConcatOfSymbols) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{"N", "A"}, OptimShape{"M", "B"}}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)"));
  const OptimShape& shape = ctx.Get("y").Shape();
  ASSERT_EQ(shape.Rank(), 2u);
  EXPECT_TRUE(shape[0].IsExpr());
  EXPECT_EQ(shape[1], OptimDim("A"));  // the first of two symbols
}

TEST_F(Exact, ConcatOfSymbols) {
  ctx.SetSequence("s", OptimSequence(kFloat, {OptimShape{"N", "A"}, OptimShape{"M", "B"}, OptimShape{"N", "B"}}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)"));
  EXPECT_EQ(ctx.Get("y").Shape(), (OptimShape{"M+2*N", "A"}));
  EXPECT_TRUE(ctx.Equal(OptimDim("A"), OptimDim("B")));
}

TEST_F(Documented, ConcatOfAnEmptyListKeepsTheType) {
  ctx.SetSequence("s", OptimSequence(kFloat, std::vector<OptimShape>{}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)"));
  EXPECT_EQ(ctx.Get("y").Dtype(), kFloat);
  EXPECT_TRUE(ctx.Get("y").Shape().IsUnknown());
}

TEST_F(Exact, ConcatOfAnEmptyListIsInvalid) {
  ctx.SetSequence("s", OptimSequence(kFloat, std::vector<OptimShape>{}));
  EXPECT_EQ(TextOf<std::invalid_argument>(
                [&] { ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)")); }),
            "ConcatFromSequence, input 0 'input_sequence' (\"s\"): has no elements to concatenate");
}

TEST_F(Exact, ConcatOfASummary) {
  ctx.Set("x", Tensor(kFloat, {"N", "C"}));
  ComputeShapeSplitToSequence(ctx, ParseNodeText("s = SplitToSequence(x)"));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0>(s)"));
  EXPECT_EQ(ctx.Get("y").Shape(), (OptimShape{"N", "C"}));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("z = ConcatFromSequence<axis = 1>(s)"));
  EXPECT_EQ(ctx.Get("z").Shape(), (OptimShape{1, "C*N"}));
}

TEST_F(Exact, ConcatOfKnownScalarsHasAValue) {
  ctx.Set("a", Scalar(3));
  ctx.Set("b", Scalar(5));
  ComputeShapeSequenceConstruct(ctx, ParseNodeText("s = SequenceConstruct(a, b)"));
  ComputeShapeConcatFromSequence(ctx, ParseNodeText("y = ConcatFromSequence<axis = 0, new_axis = 1>(s)"));
  EXPECT_EQ(ctx.Get("y"), Vector({3, 5}));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::nine_functions
