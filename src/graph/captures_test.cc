// SPDX-License-Identifier: Apache-2.0
#include "graph/captures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph_test_util.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CapturesTest, NamesUsedAtAnyDepthOnceEachInOrder) {
  GraphProto inner = Ends({"i"}, {"deep", "straight"});
  AddNode(inner, "Add", "", {"i", "outermost"}, {"t"});
  AddNode(inner, "Add", "", {"t", "middle_value"}, {"deep"});
  GraphProto middle = Ends({"m"}, {"r"});
  AddNode(middle, "Relu", "", {"m"}, {"middle_value"});
  AddBody(AddNode(middle, "SequenceMap", "", {"outer_seq", "outermost", ""}, {"r"}), "body", std::move(inner));
  GraphProto outer = Ends({"outermost", "outer_seq", "straight"}, {"y"});
  AddBody(AddNode(outer, "Loop", "", {}, {"y"}), "body", std::move(middle));

  const Captures captures(outer);
  const GraphProto& middle_in_place = outer.node(0).attribute(0).g();
  const GraphProto& inner_in_place = middle_in_place.node(1).attribute(0).g();
  EXPECT_THAT(captures.Of(outer), IsEmpty());
  EXPECT_THAT(captures.Of(middle_in_place), ElementsAre("outer_seq", "outermost", "straight"));
  EXPECT_THAT(captures.Of(inner_in_place), ElementsAre("outermost", "middle_value", "straight"));
}

TEST(CapturesTest, InitializersAndLaterNodesAreNotCaptured) {
  GraphProto graph = Ends({}, {"y"});
  graph.add_initializer()->set_name("w");
  graph.add_sparse_initializer()->mutable_values()->set_name("s");
  AddNode(graph, "Sum", "", {"w", "s", "later"}, {"y"});
  AddNode(graph, "Relu", "", {"w"}, {"later"});
  const Captures captures(graph);
  EXPECT_THAT(captures.Of(graph), IsEmpty());
}

TEST(CapturesTest, DepthIsBounded) {
  const auto nested = [](int depth) {
    GraphProto graph;
    for (int i = 0; i < depth; ++i) {
      GraphProto outer;
      AddBody(AddNode(outer, "If", "", {}, {}), "then_branch", std::move(graph));
      graph = std::move(outer);
    }
    return graph;
  };
  const GraphProto deepest = nested(kMaxGraphDepth);
  EXPECT_THAT(Captures(deepest).Of(deepest), IsEmpty());
  try {
    const Captures too_deep(nested(kMaxGraphDepth + 1));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "graphs nest deeper than 200 levels");
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
