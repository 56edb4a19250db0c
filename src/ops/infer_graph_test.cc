// SPDX-License-Identifier: Apache-2.0
#include "ops/infer_graph.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/shapes.h"
#include "ops/declared_types.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using namespace onnx_optim::shapes;  // NOLINT: the functions under test
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kHead = "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]>\n";
ModelProto Model(const std::string& text) { return ParseModelText(kHead + text); }

std::string Shape(const ShapesContext& ctx, const std::string& name) { return ctx.GetValue(name).ToString(); }

std::vector<std::string> Problems(const InferredShapes& shapes) {
  std::vector<std::string> texts;
  for (const ShapeProblem& problem : shapes.problems)
    texts.push_back((problem.is_error ? "error: " : "warning: ") + problem.message);
  return texts;
}

// Nodes -------------------------------------------------------------------------------------------

TEST(ComputeShapeNode, ThrowsForWhatItDoesNotKnow) {
  ShapesContext ctx;
  ctx.Set("x", OptimTensor(nullptr, TensorType::kFloat, {2}));
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeNode(ctx, ParseNodeText("[n] y = NoSuchOp(x)")); }),
            "NoSuchOp node \"n\": operator is not supported");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeNode(ctx, ParseNodeText("[n] y = far.Relu(x)")); }),
            "Relu node \"n\": operator of domain \"far\" is not supported");
  ctx.SetOpsetVersion(16);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeNode(ctx, ParseNodeText("[n] y = SequenceMap(x)")); }),
            "SequenceMap node \"n\": operator is not in operator set 16");
  EXPECT_EQ(TextOf<std::out_of_range>([&] { ComputeShapeNode(ctx, ParseNodeText("[n] y = Identity(gone)")); }),
            "Identity node \"n\", input 0 'input' (\"gone\"): is not defined");
  EXPECT_FALSE(ctx.HasValue("y"));
}

TEST(ComputeShapeNode, AsksCustomRulesFirst) {
  ShapesContext ctx;
  ctx.SetCustomShapeInferenceFunction("far", "Relu", [](ShapesContext& c, const NodeProto& node) {
    c.Set(node.output(0), OptimTensor(nullptr, TensorType::kDouble, {7}));
  });
  ComputeShapeNode(ctx, ParseNodeText("y = far.Relu(x)"));
  EXPECT_EQ(Shape(ctx, "y"), "tensor(double)[7]");
}

TEST(ComputeShapes, RunsNodesInTurn) {
  ShapesContext ctx;
  ctx.Set("x", OptimTensor(nullptr, TensorType::kFloat, {2, "N"}));
  ComputeShapes(ctx, ParseNodesText("y = SequenceConstruct(x, x)\n z = ConcatFromSequence<axis = 0>(y)"));
  EXPECT_EQ(Shape(ctx, "z"), "tensor(float)[4,N]");
  const std::vector<NodeProto> nodes{ParseNodeText("w = SequenceLength(y)")};
  ComputeShapes(ctx, nodes);
  EXPECT_EQ(Shape(ctx, "w"), "tensor(int64)[]");
}

// Graphs and models -------------------------------------------------------------------------------

TEST(ComputeShapeGraph, BindsInputsAndInitializersAndSortsNodes) {
  ShapesContext ctx;
  const GraphProto graph = ParseGraphText(R"(
    g (float[N, 2] x) => (y) <int64[2] sizes = {1, 2}> {
      y = ConcatFromSequence<axis = 0>(s)
      s = SplitToSequence<axis = 1>(x, t)
      t = Identity(ones)
      ones = Constant<value = int64[2] {1, 1}>()
    })");
  ComputeShapeGraph(ctx, graph);
  EXPECT_THAT(ProblemTexts(ctx), IsEmpty());
  EXPECT_EQ(ctx.GetValue("sizes"), ShapeValue::Int64Vector({1, 2}));
  EXPECT_TRUE(ctx.HasSequence("s"));
  EXPECT_EQ(ctx.GetPrecision(), Precision::kDocumented);
}

TEST(ComputeShapeGraph, TheContextsOwnInputsGoFirst) {
  ShapesContext ctx;
  ctx.SetPrecision(Precision::kExact);
  ctx.Set("x", OptimTensor(nullptr, TensorType::kFloat, {8, 2}));
  ComputeShapeGraph(ctx, ParseGraphText("g (float[N, 2] x) => (y) { y = Identity(x) }"));
  EXPECT_EQ(Shape(ctx, "y"), "tensor(float)[8,2]");
}

TEST(ComputeShapeModel, IsExact) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[N, 4] x, float[M, 4] w) => (y) {
      s = SequenceConstruct(x, w)
      y = ConcatFromSequence<axis = 0>(s)
    })"));
  EXPECT_THAT(ProblemTexts(ctx), IsEmpty());
  EXPECT_EQ(Shape(ctx, "y"), "tensor(float)[M+N,4]");
  EXPECT_EQ(ctx.GetPrecision(), Precision::kExact);
  EXPECT_EQ(ctx.OpsetVersion(), 17);
}

TEST(ComputeShapeModel, ThrowsOnlyWithoutAGraph) {
  ShapesContext ctx;
  ModelProto model;
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ComputeShapeModel(ctx, model); }), "the model has no graph");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ApplyInferredShapesToModel(ctx, model); }), "the model has no graph");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { InferShapesModel(model); }), "the model has no graph");
  EXPECT_THAT(Problems(InferShapes(model)), ElementsAre("error: the model has no graph"));
}

TEST(ComputeShapeModel, RecordsProblemsAndGoesOn) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[2] x, int64[2] i) => (a, b, c, d, e, gone) {
      [types] a = SequenceConstruct(x, i)
      [unknown] b = NoSuchOp(x)
      [arity] c = SequenceLength(a, a)
      [name] d = Identity(nowhere)
      e = Identity(x)
    })"));
  EXPECT_THAT(
      ProblemTexts(ctx),
      ElementsAre(
          "error: SequenceConstruct node \"types\", input 1 'inputs' (\"i\"): must have the element type of input 0 "
          "'inputs' (\"x\"), float, got int64",
          "warning: NoSuchOp node \"unknown\": operator is not supported",
          "error: SequenceLength node \"arity\": takes at most 1 inputs, got 2",
          "error: Identity node \"name\", input 0 'input' (\"nowhere\"): is not defined",
          "error: graph output \"gone\": no node produces it"));
  EXPECT_EQ(Shape(ctx, "a"), "unknown");
  EXPECT_EQ(Shape(ctx, "e"), "tensor(float)[2]");
}

TEST(ComputeShapeModel, ReportsCyclesAndDoubles) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model("g (float[2] x) => (a) { [p] a = SequenceInsert(b, x) [q] b = Identity(a) }"));
  EXPECT_THAT(ProblemTexts(ctx), testing::Contains("error: SequenceInsert node \"p\": depends on its own output"));
  ShapesContext twice;
  ComputeShapeModel(twice, Model("g (float[2] x) => (a) { [p] a = Identity(x) [q] a = Identity(x) }"));
  EXPECT_THAT(ProblemTexts(twice),
              testing::Contains("error: Identity node \"q\", output 0 (\"a\"): is defined already"));
}

TEST(ComputeShapeModel, WarnsOfUnknownAttributes) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model("g (seq(float[2]) x) => (y) { [n] y = SequenceLength<axis = 1>(x) }"));
  EXPECT_THAT(ProblemTexts(ctx),
              ElementsAre("warning: SequenceLength node \"n\", attribute 'axis': is not known to this operator"));
}

TEST(ComputeShapeModel, AnInputWithADefaultIsNoConstant) {
  ShapesContext ctx;
  ComputeShapeModel(
      ctx, Model("g (float[6] x, int64[2] sizes) => (s) <int64[2] sizes = {2, 4}> { s = SplitToSequence(x, sizes) }"));
  EXPECT_EQ(ctx.GetSequence("s").Length(), OptimDim(2));
  EXPECT_NE(ctx.GetSequence("s").ElemShapes()[0][0], OptimDim(2));
}

TEST(ComputeShapeModel, BeforeIrVersion4InitializersAreInputsAndConstant) {
  ModelProto model =
      Model("g (float[6] x, int64[2] sizes) => (s) <int64[2] sizes = {2, 4}> { s = SplitToSequence(x, sizes) }");
  model.set_ir_version(3);
  ShapesContext ctx;
  ComputeShapeModel(ctx, model);
  EXPECT_EQ(ctx.GetSequence("s").ElemShapes(), (std::vector<OptimShape>{{2}, {4}}));
}

// Declared types ----------------------------------------------------------------------------------

TEST(DeclaredTypes, ContradictionsNameBothSides) {
  ShapesContext ctx;
  ComputeShapeModel(
      ctx, Model(R"(g (float[N] x, float[2] z) => (float[3] a, int64[2] b, float[N] c, float[2, 2] d, seq(float[2]) e) {
      [a] a = Identity(z)
      [b] b = Identity(z)
      s = SequenceConstruct(x, x)
      [c] c = ConcatFromSequence<axis = 0>(s)
      [d] d = Identity(z)
      [e] e = Identity(z)
    })"));
  EXPECT_THAT(
      ProblemTexts(ctx),
      ElementsAre(
          "error: Identity node \"a\", output 0 (\"a\"): is tensor(float)[2], declared tensor(float)[3]",
          "error: Identity node \"b\", output 0 (\"b\"): is tensor(float)[2], declared tensor(int64)[2]",
          "warning: ConcatFromSequence node \"c\", output 0 (\"c\"): is tensor(float)[2*N], declared tensor(float)[N]",
          "error: Identity node \"d\", output 0 (\"d\"): is tensor(float)[2], declared tensor(float)[2,2]",
          "error: Identity node \"e\", output 0 (\"e\"): is tensor(float)[2], declared seq(tensor(float)[2])"));
  EXPECT_EQ(Shape(ctx, "c"), "tensor(float)[2*N]");
}

TEST(DeclaredTypes, ValueInfoIsCompared) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model("g (float[2] x) => (y) <float[5] t> { [n] t = Identity(x) y = Identity(t) }"));
  EXPECT_THAT(
      ProblemTexts(ctx),
      ElementsAre("error: Identity node \"n\", output 0 (\"t\"): is tensor(float)[2], declared tensor(float)[5]"));
  EXPECT_EQ(Shape(ctx, "y"), "tensor(float)[2]");
}

TEST(DeclaredTypes, ANewNameBecomesTheSpelling) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[8] x, int64[2] sizes) => (float[first] y) <int64[1] zero = {0}> {
      s = SplitToSequence(x, sizes)
      y = SequenceAt(s, zero)
    })"));
  EXPECT_THAT(ProblemTexts(ctx), IsEmpty());
  EXPECT_EQ(Shape(ctx, "y"), "tensor(float)[first]");
}

TEST(DeclaredTypes, NegativeInputDimsAreReported) {
  ModelProto model = Model("g (float[2] x) => (y) { y = Identity(x) }");
  model.ref_graph().ref_input()[0].ref_type().ref_tensor_type().ref_shape().ref_dim()[0].set_dim_value(-3);
  EXPECT_THAT(Problems(InferShapes(model)), ElementsAre("error: graph input \"x\": has a negative dim, -3"));
}

// Functions ---------------------------------------------------------------------------------------

TEST(LocalFunctions, AreEntered) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[N, 2] x) => (y) { y = my.twice<axis = 1>(x) }
    <domain: "my", opset_import: ["" : 17]>
    twice <axis> (t, missing) => (r) { s = SequenceConstruct(t, t)  r = ConcatFromSequence<axis: int = @axis>(s) })"));
  EXPECT_THAT(ProblemTexts(ctx), IsEmpty());
  EXPECT_EQ(Shape(ctx, "y"), "tensor(float)[N,4]");
  EXPECT_FALSE(ctx.HasValue("r"));
}

TEST(LocalFunctions, ProblemsSayWhere) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[N, 2] x) => (y) { [call] y = my.f(x) }
    <domain: "my", opset_import: ["" : 17]>
    f (t) => (r) { [inner] r = ConcatFromSequence<axis = 0>(t) })"));
  EXPECT_THAT(ProblemTexts(ctx),
              ElementsAre("error: ConcatFromSequence node \"inner\", input 0 'input_sequence' (\"t\"): must be a "
                          "sequence, got tensor(float)[N,2] in function f called by \"call\""));
}

TEST(LocalFunctions, RecursionEnds) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (float[2] x) => (y) { y = my.f(x) }
    <domain: "my", opset_import: ["" : 17, "my" : 1]>
    f (t) => (r) { r = my.f(t) })"));
  ASSERT_EQ(ctx.Problems().size(), 1u);
  EXPECT_EQ(ctx.Problems()[0].message.rfind("f: bodies and functions are nested more than 64 deep in function f", 0),
            0u)
      << ctx.Problems()[0].message;
}

// Each function calls the next one twice: 2^40 calls in all.
TEST(LocalFunctions, CallsThatDoubleEnd) {
  std::string text = "g (float[2] x) => (y) { y = my.f0(x) }\n";
  const std::string head = "<domain: \"my\", opset_import: [\"\" : 17, \"my\" : 1]> f";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "my.f" + std::to_string(i + 1);
    text += head + std::to_string(i) + " (a) => (b) { c = " + next + "(a) b = " + next + "(c) }\n";
  }
  text += head + "40 (a) => (b) { b = Identity(a) }\n";
  const InferredShapes shapes = InferShapes(Model(text));
  ASSERT_FALSE(shapes.problems.empty());
  EXPECT_NE(shapes.problems[0].message.find("bodies and functions hold more than 200000 nodes in all"),
            std::string::npos)
      << shapes.problems[0].message;
  EXPECT_LE(shapes.graphs.size(), 20001u);
}

// Bodies ------------------------------------------------------------------------------------------

TEST(Bodies, AreRecordedByPath) {
  const InferredShapes shapes = InferShapes(Model(R"(g (float[N] x, float[M] w) => (y) {
      s = SequenceConstruct(x, w)
      [map0] y = SequenceMap<body = b (e) => (r) { t = Identity(e)  r = Identity(t) }>(s)
      u = SequenceMap<body = c (e) => (r) { r = Shape(e) }>(s)
    })"));
  EXPECT_THAT(Problems(shapes), IsEmpty());
  ASSERT_EQ(shapes.graphs.size(), 3u);
  EXPECT_EQ(shapes.graphs[0].path, "");
  EXPECT_EQ(shapes.graphs[0].values.at("y").SequenceOf().elements->at(1).ToString(), "tensor(float)[M]");
  EXPECT_EQ(shapes.graphs[1].path, "/map0/body");
  EXPECT_EQ(shapes.graphs[2].path, "/SequenceMap_2/body");
  // True for both elements.
  EXPECT_TRUE(shapes.graphs[1].values.at("t").Shape()[0].IsExpr());
  EXPECT_NE(shapes.graphs[1].values.at("t").ToString(), "tensor(float)[N]");
  EXPECT_NE(shapes.graphs[1].values.at("t").ToString(), "tensor(float)[M]");
}

TEST(Bodies, ProblemsSayWhereAndInferenceGoesOn) {
  ShapesContext ctx;
  ComputeShapeModel(ctx, Model(R"(g (seq(float[2]) x) => (y, z) {
      [map0] y, z = SequenceMap<body = b (e) => (p, q) { [bad] p = SequenceLength(e)  q = Identity(e) }>(x)
    })"));
  EXPECT_THAT(
      ProblemTexts(ctx),
      ElementsAre("error: SequenceLength node \"bad\", input 0 'input_sequence' (\"e\"): must be a sequence, got "
                  "tensor(float)[2] in body 'b' of SequenceMap \"map0\""));
  EXPECT_EQ(ctx.GetSequence("z").Elem().Shape(), (OptimShape{2}));
}

// Writing back ------------------------------------------------------------------------------------

TEST(ApplyInferredShapes, FillsWhatIsOpen) {
  ModelProto model = Model(R"(g (float[N] x, float[M] w) => (y, float[declared] z) <float[?] t> {
      s = SequenceConstruct(x, w)
      t = ConcatFromSequence<axis = 0>(s)
      u = Identity(t)
      n = NoSuchOp(t)
      y = Identity(x)
      z = Identity(t)
    })");
  InferShapesModel(model);
  const GraphProto& graph = std::as_const(model).graph();
  std::map<std::string, std::string> types;
  for (const auto* list : {&graph.value_info(), &graph.output()}) {
    for (const ValueInfoProto& info : *list) {
      ShapesContext ctx;
      types[info.name()] = FromTypeProto(info.type(), ctx).ToString();
    }
  }
  EXPECT_EQ(types.at("t"), "tensor(float)[M+N]");
  EXPECT_EQ(types.at("u"), "tensor(float)[M+N]");
  EXPECT_EQ(types.at("y"), "tensor(float)[N]");
  EXPECT_EQ(types.at("z"), "tensor(float)[declared]");
  EXPECT_EQ(types.count("n"), 0u);
  EXPECT_EQ(types.count("x"), 0u);
  EXPECT_EQ(types.count("s"), 1u);
}

TEST(InferGraph, BodyMayReuseOuterNames) {
  const ModelProto model = Model(R"(g (seq(float[2]) x) => (ys, t) {
      ys = SequenceMap<body = b (x) => (ys) { t = Neg(x)  ys = Neg(t) }>(x)
      t = SequenceLength(ys)
    })");
  const InferredShapes shapes = InferShapes(model);
  EXPECT_THAT(Problems(shapes), testing::IsEmpty());
  EXPECT_EQ(shapes.graphs[0].values.at("t").ToString(), "tensor(int64)[]");
}

TEST(ApplyInferredShapes, WritesIntoBodies) {
  ModelProto model = Model(R"(g (seq(float[2]) x) => (y) {
      y = SequenceMap<body = b (e) => (r) { t = Identity(e)  r = Identity(t) }>(x)
    })");
  InferShapesModel(model);
  const GraphProto& body = std::as_const(model).graph().node(0).attribute(0).g();
  ASSERT_EQ(body.value_info_size(), 1);
  EXPECT_EQ(body.value_info(0).name(), "t");
  EXPECT_EQ(body.value_info(0).type().tensor_type().shape().dim(0).dim_value(), 2);
  EXPECT_EQ(body.output(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

TEST(ComputeShapeModel, LongValuesAreKeptWithinLimits) {
  std::string text =
      "g () => (v2000) { n = Constant <value_ints = [1024]> () "
      "v0 = ConstantOfShape <value = int64[1] {1}> (n)";
  for (int i = 0; i < 2000; ++i) text += " v" + std::to_string(i + 1) + " = Add (v" + std::to_string(i) + ", v0)";
  const InferredShapes inferred = InferShapes(Model(text + " }"));
  const auto& values = inferred.graphs[0].values;
  EXPECT_EQ(values.at("v900").Elements()->front(), OptimDim(901));
  EXPECT_EQ(values.at("v2000").ToString(), "tensor(int64)[1024]");
  EXPECT_EQ(values.at("v2000").Elements(), nullptr);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
