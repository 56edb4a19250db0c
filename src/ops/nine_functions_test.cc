// SPDX-License-Identifier: Apache-2.0
// The nine documented functions: what each says in documented and in exact precision, and what each refuses.
#include <cstdint>
#include <stdexcept>

#include "onnx_optim/shapes/sequence/shape_sequence.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::OptimDim;
using onnx_optim::OptimSequence;
using onnx_optim::OptimShape;
using onnx_optim::OptimTensor;
using onnx_optim::shapes::Precision;
using onnx_optim::shapes::ShapesContext;
using namespace onnx_optim::shapes::sequence;  // NOLINT: the functions under test

using Function = void (*)(ShapesContext&, const NodeProto&);
constexpr TensorType kFloat = TensorType::kFloat;
constexpr TensorType kInt64 = TensorType::kInt64;

OptimTensor Tensor(TensorType dtype, OptimShape shape) { return OptimTensor(nullptr, dtype, std::move(shape)); }
OptimTensor Vector(std::vector<int64_t> values) {
  OptimTensor tensor(nullptr, kInt64, OptimShape{OptimDim(values.size())});
  tensor.SetValueAsShape(OptimShape(values));
  return tensor;
}
OptimTensor Scalar(int64_t value) {
  OptimTensor tensor(nullptr, kInt64, OptimShape{});
  tensor.SetValueAsShape(OptimShape{OptimDim(value)});
  return tensor;
}

// Both precisions, where they say the same.
class NineFunctions : public testing::TestWithParam<Precision> {
 protected:
  NineFunctions() { ctx.SetPrecision(GetParam()); }
  ShapesContext ctx;
};
INSTANTIATE_TEST_SUITE_P(, NineFunctions, testing::Values(Precision::kDocumented, Precision::kExact),
                         [](const auto& test) { return test.param == Precision::kExact ? "exact" : "documented"; });

class Documented : public testing::Test {
 protected:
  ShapesContext ctx;
};
class Exact : public testing::Test {
 protected:
  Exact() { ctx.SetPrecision(Precision::kExact); }
  ShapesContext ctx;
};

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
}  // namespace ONNX_LIGHT_NAMESPACE
