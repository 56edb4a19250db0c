// SPDX-License-Identifier: Apache-2.0
// What options set, and what is written into models.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/shapes.h"
#include "ops/declared_types.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::InferShapesModel;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

ModelProto Model(const std::string& text) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]>\n" + text);
}

std::vector<std::string> Problems(const InferredShapes& shapes) {
  std::vector<std::string> texts;
  for (const ShapeProblem& problem : shapes.problems)
    texts.push_back((problem.is_error ? "error: " : "warning: ") + problem.message);
  return texts;
}

TEST(InferShapesOptions, SetDimsAndShapes) {
  const ModelProto model = Model("g (float[N, M, 3] x) => (y) { y = Identity(x) }");
  const auto shape = [&](const ShapeOptions& options) {
    return InferShapes(model, options).graphs[0].values.at("y").ToString();
  };
  EXPECT_EQ(shape({}), "tensor(float)[N,M,3]");
  EXPECT_EQ(shape({.dims = {{"N", 4}}, .shapes = {}}), "tensor(float)[4,M,3]");
  EXPECT_EQ(shape({.dims = {}, .shapes = {{"x", {"1", "2*K", "3"}}}}), "tensor(float)[1,2*K,3]");
}

TEST(InferShapesOptions, ReportWhatDoesNotFit) {
  const ModelProto model = Model("g (float[N, 3] x, seq(float[2]) s) => (y) { y = Identity(x) }");
  EXPECT_THAT(
      Problems(
          InferShapes(model, {.dims = {{"K", 4}, {"N", -1}}, .shapes = {{"q", {"1"}}, {"s", {"1"}}, {"x", {"1"}}}})),
      ElementsAre("warning: dim 'K': no input of the model has it", "error: dim 'N': has a negative size, -1",
                  "error: shape of \"q\": the model has no such input", "error: shape of \"s\": the input is no tensor",
                  "error: shape of \"x\": has 1 dims, declared tensor(float)[N,3]"));
}

TEST(WriteShapes, WritesWhatTheOptionsSetAndWhatFollows) {
  const std::string text =
      "g (float[N, M, 3] x, seq(float[N]) s) => (float[N, \"N+M\"] y, z) <float[M] v> {"
      " z = Identity(x) u = Identity(x) v = F(x) y = F(x) }";
  const auto written = [&](const ShapeOptions& options) {
    ModelProto model = Model(text);
    WriteShapes(model, options);
    const GraphProto& graph = model.graph();
    std::map<std::string, std::string> types;
    for (const auto* infos : {&std::as_const(graph).input(), &graph.output(), &graph.value_info()})
      for (const ValueInfoProto& info : *infos) types[info.name()] = DescribeType(info.type());
    return types;
  };
  auto types = written({});
  EXPECT_EQ(types.at("u"), "tensor(float)[N,M,3]");
  EXPECT_EQ(types.at("z"), "tensor(float)[N,M,3]");
  types = written({.dims = {{"N", 4}}, .shapes = {}});
  EXPECT_EQ(types.at("x"), "tensor(float)[4,M,3]");
  EXPECT_EQ(types.at("s"), "seq(tensor(float)[4])");
  EXPECT_EQ(types.at("y"), "tensor(float)[4,M+4]");
  EXPECT_EQ(types.at("u"), "tensor(float)[4,M,3]");
  types = written({.dims = {}, .shapes = {{"x", {"1", "2*K", "3"}}}});
  EXPECT_EQ(types.at("x"), "tensor(float)[1,2*K,3]");
  EXPECT_EQ(types.at("s"), "seq(tensor(float)[1])");
  EXPECT_EQ(types.at("v"), "tensor(float)[2*K]");
  EXPECT_EQ(types.at("y"), "tensor(float)[1,2*K+1]");
  EXPECT_EQ(types.at("u"), "tensor(float)[1,2*K,3]");
  types = written({.dims = {}, .shapes = {{"x", {"?", "M", "3"}}}});
  EXPECT_EQ(types.at("x"), "tensor(float)[?,M,3]");
}

TEST(WriteShapes, ForgetsWhatDeclaredNumbersLedTo) {
  const ModelProto given = Model(
      "g (float[2, 3] x, bool c) => (float[2, 3] y) <float[2, 3] u> {"
      " u = Neg(x) y = If(c) <then_branch = t () => (float[2, 3] a) { a = Neg(u) },"
      " else_branch = e () => (float[2, 3] b) { b = Abs(u) }> }");
  const ShapeOptions options{.dims = {}, .shapes = {{"x", {"N", "5"}}}};
  EXPECT_THAT(Problems(InferShapes(given, options)), IsEmpty());
  EXPECT_EQ(InferShapes(given, options).graphs[0].values.at("y").ToString(), "tensor(float)[N,5]");
  ModelProto model = given;
  WriteShapes(model, options);
  const GraphProto& graph = std::as_const(model).graph();
  EXPECT_EQ(DescribeType(graph.output(0).type()), "tensor(float)[N,5]");
  EXPECT_EQ(DescribeType(graph.value_info(0).type()), "tensor(float)[N,5]");
  EXPECT_EQ(DescribeType(graph.node(1).attribute(0).g().output(0).type()), "tensor(float)[N,5]");
}

TEST(InferShapesOptions, GivenDimsSetTheNamesTheyReplace) {
  const ModelProto model = Model("g (float[N, 3] x, float[N] w) => (y) { y = Identity(w) }");
  const InferredShapes inferred = InferShapes(model, {.dims = {}, .shapes = {{"x", {"T", "3"}}}});
  EXPECT_EQ(inferred.graphs[0].values.at("y").ToString(), "tensor(float)[T]");
}

TEST(InferShapesModel, FunctionsGetTheTypesAllCallsAgreeOn) {
  const std::string text = R"(<ir_version: 10, opset_import: ["" : 17, "my" : 1]>
    g (float[N, 3] x, float[3, N] w) => (y, z) { y = my.f(x) z = my.f(w) }
    <opset_import: ["" : 17], domain: "my"> f (a) => (c) { b = Shape(a) d = Neg(a) c = Reshape(d, b) })";
  ModelProto model = ParseModelText(text);
  InferShapesModel(model);
  std::map<std::string, std::string> types;
  for (const ValueInfoProto& info : std::as_const(model).functions(0).value_info())
    types[info.name()] = DescribeType(info.type());
  EXPECT_THAT(types, ElementsAre(Pair("a", "tensor(float)[?,?]"), Pair("b", "tensor(int64)[2]"),
                                 Pair("c", "tensor(float)[?,?]"), Pair("d", "tensor(float)[?,?]")));
  model = ParseModelText(text);
  model.set_ir_version(9);
  InferShapesModel(model);
  EXPECT_TRUE(std::as_const(model).functions(0).value_info().empty());
}

// Bodies in functions, and in bodies there, and the bodies of a function that a function calls.
TEST(InferShapesModel, BodiesInFunctionsToo) {
  const std::string text = R"(<ir_version: 9, opset_import: ["" : 17, "my" : 1]>
    g (float[N, 3] x, float[M, 3] w, bool c) => (y, z) { y = my.f(x, c) z = my.f(w, c) }
    <opset_import: ["" : 17, "my" : 1], domain: "my"> f (a, c) => (d) {
      d = If<then_branch = t () => (float[Rows, ?] p) { q = Neg(a) r = Shape(q) p = my.h(q, c) },
             else_branch = e () => (s) {
               [inner] s = If<then_branch = t () => (u) { u = Abs(a) }, else_branch = e () => (v) { v = Neg(a) }>(c)
             }>(c)
    }
    <opset_import: ["" : 17], domain: "my"> h (a, c) => (d) {
      d = If<then_branch = t () => (i) { j = Neg(a) i = Neg(j) }, else_branch = e () => (k) { k = Abs(a) }>(c)
    })";
  ModelProto model = ParseModelText(text);
  InferShapesModel(model);
  const auto body = [&](const RepeatedMessages<NodeProto>& nodes, size_t attribute) -> const GraphProto& {
    return nodes[0].attribute(attribute).g();
  };
  const auto type = [](const ValueInfoProto& info) {
    return info.name().as_string() + ": " + DescribeType(info.type());
  };
  const auto& functions = std::as_const(model).functions();
  const GraphProto& then = body(functions[0].node(), 0);
  EXPECT_EQ(type(then.output(0)), "p: tensor(float)[Rows,3]") << "what the author named stays";
  ASSERT_EQ(then.value_info_size(), 2);
  EXPECT_EQ(type(then.value_info(0)), "q: tensor(float)[?,3]");
  EXPECT_EQ(type(then.value_info(1)), "r: tensor(int64)[2]");
  const GraphProto& otherwise = body(functions[0].node(), 1);
  EXPECT_EQ(type(otherwise.output(0)), "s: tensor(float)[?,3]");
  EXPECT_EQ(type(body(otherwise.node(), 0).output(0)), "u: tensor(float)[?,3]");
  EXPECT_EQ(type(body(functions[1].node(), 0).value_info(0)), "j: tensor(float)[?,3]");
  EXPECT_TRUE(functions[0].value_info().empty()) << "they have none in this version";

  WriteShapes(model, {.dims = {}, .shapes = {{"x", {"N", "5"}}, {"w", {"N", "5"}}}});
  EXPECT_EQ(type(body(functions[0].node(), 0).output(0)), "p: tensor(float)[N,5]");
  EXPECT_EQ(type(body(functions[0].node(), 0).value_info(0)), "q: tensor(float)[N,5]");
}

TEST(WriteShapes, RefusesWhatDoesNotFit) {
  const auto error = [](const ShapeOptions& options) {
    ModelProto model = Model("g (float[N, 3] x, seq(float[2]) s) => (y) { y = Identity(x) }");
    return TextOf<std::invalid_argument>([&] { WriteShapes(model, options); });
  };
  EXPECT_EQ(error({.dims = {{"N", -1}}, .shapes = {}}), "dim 'N': has a negative size, -1");
  EXPECT_EQ(error({.dims = {}, .shapes = {{"q", {"1"}}}}), "shape of \"q\": the model has no such input");
  EXPECT_EQ(error({.dims = {}, .shapes = {{"s", {"1"}}}}), "shape of \"s\": the input is no tensor");
  EXPECT_EQ(error({.dims = {}, .shapes = {{"x", {"1"}}}}), "shape of \"x\": has 1 dims, declared tensor(float)[N,3]");
  ModelProto none;
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { WriteShapes(none); }), "the model has no graph");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
