// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "graph/graph_test_util.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string ErrorOfGraph(const GraphProto& graph, bool is_body = false) {
  try {
    const Captures captures(graph);
    const GraphIndex index(graph, captures, is_body);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "no error";
}

TEST(GraphIndexTest, NumbersProducersAndUses) {
  GraphProto graph = Ends({"x"}, {"y"});
  graph.add_initializer()->set_name("w");
  AddNode(graph, "Add", "a", {"x", "w"}, {"t"});
  AddNode(graph, "Clip", "b", {"t", "", "w"}, {"y", "", "z"});
  const Captures captures(graph);
  const GraphIndex index(graph, captures, false);
  const int x = index.Find("x"), w = index.Find("w"), t = index.Find("t"), y = index.Find("y"), z = index.Find("z");
  EXPECT_EQ(index.value_size(), 5);
  EXPECT_EQ(index.Find("nothing"), GraphIndex::kAbsent);
  EXPECT_EQ(index.Find(""), GraphIndex::kAbsent);
  EXPECT_EQ(index.name(t), "t");
  EXPECT_EQ(index.source(x), GraphIndex::Source::kInput);
  EXPECT_EQ(index.source(w), GraphIndex::Source::kInitializer);
  EXPECT_EQ(index.producer(w), GraphIndex::kAbsent);
  EXPECT_EQ(index.producer(z), 1);
  EXPECT_THAT(index.inputs(1), ElementsAre(t, GraphIndex::kAbsent, w));
  EXPECT_THAT(index.outputs(1), ElementsAre(y, GraphIndex::kAbsent, z));
  EXPECT_THAT(index.uses(w), ElementsAre(0, 1));
  EXPECT_THAT(index.uses(y), IsEmpty());
  EXPECT_THAT(index.graph_outputs(), ElementsAre(y));
  EXPECT_THAT(index.order(), ElementsAre(0, 1));
}

TEST(GraphIndexTest, InitializerOfAnInputIsTheInput) {
  GraphProto graph = Ends({"w"}, {"w"});
  graph.add_initializer()->set_name("w");
  const Captures captures(graph);
  const GraphIndex index(graph, captures, false);
  EXPECT_EQ(index.value_size(), 1);
  EXPECT_EQ(index.source(0), GraphIndex::Source::kInput);
}

TEST(GraphIndexTest, UnsortedNodesAreSortedKeepingTheFileOrderWherePossible) {
  GraphProto graph = Ends({"x"}, {"d"});
  AddNode(graph, "Add", "", {"b", "c"}, {"d"});
  AddNode(graph, "Relu", "", {"a"}, {"c"});
  AddNode(graph, "Relu", "", {"x"}, {"a"});
  AddNode(graph, "Add", "", {"a", "a"}, {"b"});
  const Captures captures(graph);
  EXPECT_THAT(GraphIndex(graph, captures, false).order(), ElementsAre(2, 1, 3, 0));
}

TEST(GraphIndexTest, BodiesDependOnWhatTheyCapture) {
  GraphProto then_branch = Ends({}, {"made_later"});
  GraphProto else_branch = Ends({}, {"e"});
  AddNode(else_branch, "Add", "", {"made_later", "x"}, {"e"});
  GraphProto graph = Ends({"x", "c"}, {"y"});
  NodeProto& node = AddNode(graph, "If", "", {"c"}, {"y"});
  AddBody(node, "then_branch", std::move(then_branch));
  AddBody(node, "else_branch", std::move(else_branch));
  AddNode(graph, "Relu", "", {"x"}, {"made_later"});
  const Captures captures(graph);
  const GraphIndex index(graph, captures, false);
  EXPECT_THAT(index.order(), ElementsAre(1, 0));
  EXPECT_THAT(index.captured(0), ElementsAre(index.Find("made_later"), index.Find("x")));
  EXPECT_THAT(index.uses(index.Find("x")), ElementsAre(0, 1));
  const GraphProto& else_in_place = graph.node(0).attribute(1).g();
  const GraphIndex body(else_in_place, captures, true);
  EXPECT_THAT(body.outer(), ElementsAre(body.Find("made_later"), body.Find("x")));
  EXPECT_EQ(body.source(body.Find("x")), GraphIndex::Source::kOuter);
  EXPECT_THAT(GraphIndex(graph.node(0).attribute(0).g(), captures, true).graph_outputs(), ElementsAre(0));
}

TEST(GraphIndexTest, Cycles) {
  GraphProto graph = Ends({"x"}, {"y"});
  AddNode(graph, "Relu", "start", {"x"}, {"s"});
  AddNode(graph, "Add", "a", {"s", "b_out"}, {"a_out"});
  AddNode(graph, "Relu", "", {"a_out"}, {"b_out"});
  AddNode(graph, "Relu", "after", {"b_out"}, {"y"});
  EXPECT_EQ(ErrorOfGraph(graph),
            "the graph has a cycle: Relu node of \"b_out\" -> Add node \"a\" -> Relu node of \"b_out\"");

  GraphProto self = Ends({}, {"y"});
  AddNode(self, "Relu", "a", {"y"}, {"y"});
  EXPECT_EQ(ErrorOfGraph(self), "the graph has a cycle: Relu node \"a\" -> Relu node \"a\"");

  GraphProto ring = Ends({}, {"v0"});
  for (int i = 0; i < 100; ++i)
    AddNode(ring, "Relu", "", {("v" + std::to_string((i + 1) % 100)).c_str()}, {("v" + std::to_string(i)).c_str()});
  EXPECT_THAT(ErrorOfGraph(ring), testing::HasSubstr("... -> "));
}

TEST(GraphIndexTest, NamesDefinedTwice) {
  GraphProto graph = Ends({"x"}, {"y"});
  AddNode(graph, "Relu", "a", {"x"}, {"y"});
  AddNode(graph, "Neg", "b", {"x"}, {"y"});
  EXPECT_EQ(ErrorOfGraph(graph), "Neg node \"b\", output 0 (\"y\"): is produced by Relu node \"a\" already");

  graph = Ends({"x"}, {"x"});
  AddNode(graph, "Split", "a", {"x"}, {"t", "t"});
  EXPECT_EQ(ErrorOfGraph(graph), "Split node \"a\", output 1 (\"t\"): is produced twice by this node");

  graph = Ends({"x"}, {"x"});
  AddNode(graph, "Relu", "a", {"x"}, {"x"});
  EXPECT_EQ(ErrorOfGraph(graph), "Relu node \"a\", output 0 (\"x\"): has the name of a graph input");

  graph = Ends({"x"}, {"w"});
  graph.add_initializer()->set_name("w");
  AddNode(graph, "Relu", "a", {"x"}, {"w"});
  EXPECT_EQ(ErrorOfGraph(graph), "Relu node \"a\", output 0 (\"w\"): has the name of an initializer");

  EXPECT_EQ(ErrorOfGraph(Ends({"x", "x"}, {"x"})), "graph input \"x\": is declared twice");
  EXPECT_EQ(ErrorOfGraph(Ends({"x"}, {"x", "x"})), "graph output \"x\": is declared twice");
  EXPECT_EQ(ErrorOfGraph(Ends({"x"}, {"x", "x"}), true), "no error");
  graph = Ends({}, {"w"});
  graph.add_initializer()->set_name("w");
  graph.add_sparse_initializer()->mutable_values()->set_name("w");
  EXPECT_EQ(ErrorOfGraph(graph), "initializer \"w\": is given twice");
}

TEST(GraphIndexTest, MissingNames) {
  EXPECT_EQ(ErrorOfGraph(Ends({""}, {})), "graph input 0: has no name");
  EXPECT_EQ(ErrorOfGraph(Ends({"x"}, {"x", ""})), "graph output 1: has no name");
  GraphProto graph;
  graph.add_initializer();
  EXPECT_EQ(ErrorOfGraph(graph), "initializer 0: has no name");
  EXPECT_EQ(ErrorOfGraph(Ends({}, {"y"})), "graph output \"y\": is not produced");
}

TEST(GraphIndexTest, UndefinedInputs) {
  GraphProto graph = Ends({"x"}, {"y"});
  AddNode(graph, "Add", "a", {"x", "q"}, {"y"});
  EXPECT_EQ(ErrorOfGraph(graph), "Add node \"a\", input 1 (\"q\"): is not produced by any node, input or initializer");
  EXPECT_EQ(ErrorOfGraph(graph, true), "no error");

  GraphProto outer = Ends({}, {"z"});
  AddBody(AddNode(outer, "If", "i", {}, {"z"}), "then_branch", std::move(graph));
  EXPECT_EQ(
      ErrorOfGraph(outer),
      "If node \"i\", attribute 'then_branch': uses \"q\", which is not produced by any node, input or initializer");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
