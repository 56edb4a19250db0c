// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "passes/test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Weights of one unit and one input.
const std::string kWeights =
    "<float[1,4,1] w = {1, 2, 3, 4}, float[1,4,1] r = {4, 3, 2, 1}, float[2,4,1] w2 = {1, 2, 3, 4, 5, 6, 7, 8}, "
    "float[1,4,2] wide = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] one = {1}, int64[2] both = {1, 2}, int64[3] to = {0, 0, "
    "-1}>";
const std::string kTogether = "at the same time where steps are small: ";

// Notes of the pass on a graph with these nodes and outputs, of x [T,N,1] and more.
std::vector<std::string> NotesOf(const std::string& outputs, const std::string& nodes, int threads = 2) {
  std::vector<std::string> notes;
  const std::string graph =
      "g (float[T,N,1] x, float[T,N,1] z, float[N,T,1] b, float[1,N,1] h, float[1,4,1] fed, bool c) => (" + outputs +
      ") " + kWeights + " {" + nodes + "}";
  ModelProto model = Model(graph);
  const Inferred types(model);
  EditContext context;
  context.types = &types;
  context.threads = threads;
  context.opsets = {{"", 17}, {"onnxseq.internal", 1}};
  context.note = [&](std::string note) { notes.push_back(std::move(note)); };
  const Captures captures(model.graph());
  GraphEdit edit(*model.mutable_graph(), captures, nullptr, context);
  const int64_t groups = GroupRecurrent(edit);
  EXPECT_EQ(groups, static_cast<int64_t>(notes.size()));
  return notes;
}
using Notes = std::vector<std::string>;

TEST(GroupRecurrent, TakesLayersAndWhatStandsBetween) {
  const std::string head =
      "g (float[T,N,1] x) => (float[1,N,1] hn, float[T,1,N,1] y) <float[1,4,1] w = {1, 2, 3, 4}, float[1,4,1] r = {4, "
      "3, "
      "2, 1}, int64[1] one = {1}> {";
  const std::string steps = R"(
      ["a"] a, hn = LSTM <hidden_size: int = 1> (x, w, r)
      s = Squeeze (a, one)
      ["b"] y = LSTM <hidden_size: int = 1> (s, w, r))";
  Notes notes;
  EXPECT_EQ(
      After(GroupRecurrent, 1, head + steps + "}", 1, 2, &notes),
      Text(head +
           R"(["a+b"] hn, y = onnxseq.internal.RecurrentGroup <steps: graph = steps (x, w, r, one) => (hn, y) {)" +
           steps + "}, opset: int = 17, together_from: int = 0> (x, w, r, one) }"));
  EXPECT_EQ(notes, Notes{kTogether + R"(LSTM "a", LSTM "b" behind "a")"});
  EXPECT_EQ(After(GroupRecurrent, 0, head + steps + "}"), Text(head + steps + "}"));  // on one thread
}

TEST(GroupRecurrent, LeavesWhatOthersUse) {
  const std::string head =
      "g (float[T,N,1] x) => (float[T,N,1] n, float[T,1,N,1] y) <float[1,4,1] w = {1, 2, 3, 4}, float[1,4,1] r = {4, "
      "3, "
      "2, 1}, int64[1] one = {1}> {";
  const std::string steps = R"(
      a = LSTM <hidden_size: int = 1> (x, w, r)
      s = Squeeze (a, one)
      y = LSTM <hidden_size: int = 1> (s, w, r))";
  EXPECT_EQ(After(GroupRecurrent, 1, head + steps + " n = Neg (s) }", 1, 2),
            Text(head + R"(
              s = Squeeze (a, one)
              n = Neg (s)
              a, y = onnxseq.internal.RecurrentGroup <steps: graph = steps (x, w, r, one) => (a, y) {)" +
                 steps + "}, opset: int = 17, together_from: int = 0> (x, w, r, one) }"));
}

TEST(GroupRecurrent, KnowsWhatLeavesElementsInPlace) {
  for (const char* between : {"s = Squeeze(a, one)", "t = Transpose <perm = [0, 2, 1, 3]> (a) s = Reshape(t, to)",
                              "u = Unsqueeze(a, one) i = Identity(u) s = Squeeze(i, both)"}) {
    EXPECT_EQ(NotesOf("float[T,1,N,1] y", "a = LSTM <hidden_size = 1> (x, w, r)" + std::string(between) +
                                              "y = LSTM <hidden_size = 1> (s, w, r)"),
              Notes{kTogether + R"(LSTM "a", LSTM "y" behind "a")"})
        << between;
  }
  // From the batch's side, and GRU after RNN after LSTM, backward.
  EXPECT_EQ(NotesOf("float[N,T,1,1] y",
                    "a = LSTM <hidden_size = 1, layout = 1> (b, w, r) "
                    "s = Reshape(a, to) y = LSTM <hidden_size = 1, layout = 1> (s, w, r)"),
            Notes{kTogether + R"(LSTM "a", LSTM "y" behind "a")"});
  EXPECT_EQ(NotesOf("float[T,1,N,1] y",
                    "a = LSTM <hidden_size = 1, direction = \"reverse\"> (x, w, r) s = Squeeze(a, one) "
                    "y = LSTM <hidden_size = 1, direction = \"reverse\"> (s, w, r)"),
            Notes{kTogether + R"(LSTM "a", LSTM "y" behind "a")"});
}

TEST(GroupRecurrent, LeavesOtherWays) {
  for (const char* nodes : {
           // Another direction, two of them, another order of elements, sums, states, lengths of the first.
           "a = LSTM <hidden_size = 1> (x, w, r) s = Squeeze(a, one) y = LSTM <hidden_size = 1, direction = "
           "\"reverse\"> (s, w, r)",
           "a = LSTM <hidden_size = 1, direction = \"bidirectional\"> (x, w2, w2) t = Transpose <perm = [0, 2, 1, 3]> "
           "(a) "
           "s = Reshape(t, to) y = LSTM <hidden_size = 1> (s, wide, r)",
           "a = LSTM <hidden_size = 1> (x, w, r) q = Squeeze(a, one) s = Transpose <perm = [1, 0, 2]> (q) "
           "y = LSTM <hidden_size = 1, layout = 1> (s, w, r)",
           "a = LSTM <hidden_size = 1> (x, w, r) q = Squeeze(a, one) s = Neg(q) y = LSTM <hidden_size = 1> (s, w, r)",
           "a, p = LSTM <hidden_size = 1> (x, w, r) s = Squeeze(a, one) y = LSTM <hidden_size = 1> (s, w, r, \"\", "
           "\"\", p)",
           "a, p = LSTM <hidden_size = 1> (x, w, r) y = LSTM <hidden_size = 1> (z, w, r, \"\", \"\", p)",
           // A shape that is known when it runs.
           "a = LSTM <hidden_size = 1> (x, w, r) n = Shape(z) s = Reshape(a, n) y = LSTM <hidden_size = 1> (s, w, r)",
           // Weights that are fed.
           "a = LSTM <hidden_size = 1> (x, fed, r) s = Squeeze(a, one) y = LSTM <hidden_size = 1> (s, w, r)",
           // A body between them.
           "a, p = LSTM <hidden_size = 1> (x, w, r) i = If <then_branch = t () => (float[1,N,1] q) { q = Neg(p) }, "
           "else_branch = e () => (float[1,N,1] q) { q = Abs(p) }> (c) y = LSTM <hidden_size = 1> (z, w, r, \"\", "
           "\"\", i)",
       })
    EXPECT_EQ(NotesOf("float y", nodes), Notes{}) << nodes;
}

TEST(GroupRecurrent, TakesIndependentNodes) {
  EXPECT_EQ(NotesOf("float[T,1,N,1] y, float[T,1,N,1] v",
                    "[\"f\"] y = LSTM <hidden_size = 1> (x, w, r) [\"b\"] v = LSTM <hidden_size = 1, direction = "
                    "\"reverse\"> (x, w, r)"),
            Notes{kTogether + R"(LSTM "f", LSTM "b")"});
  // Two stacks, and one that needs both.
  EXPECT_EQ(
      NotesOf("float[T,1,N,1] v",
              "a1 = LSTM <hidden_size = 1> (x, w, r) s1 = Squeeze(a1, one) a2, p = LSTM <hidden_size = 1> (s1, w, r) "
              "b1 = LSTM <hidden_size = 1> (z, w, r) s2 = Squeeze(b1, one) b2, q = LSTM <hidden_size = 1> (s2, w, r) "
              "m = Add(p, q) v = LSTM <hidden_size = 1> (x, w, r, \"\", \"\", m)"),
      Notes{kTogether + R"(LSTM "a1", LSTM "a2" behind "a1", LSTM "b1", LSTM "b2" behind "b1")"});
  // Both directions of each are two threads' work.
  const std::string two =
      "y = LSTM <hidden_size = 1, direction = \"bidirectional\"> (x, w2, w2) "
      "v = LSTM <hidden_size = 1, direction = \"bidirectional\"> (z, w2, w2)";
  EXPECT_EQ(NotesOf("float y, float v", two, 4), Notes{kTogether + R"(LSTM "y", LSTM "v")"});
}

// a -> b and d -> c: {a, c} and {b, d} would each need the other.
TEST(GroupRecurrent, MakesNoCircles) {
  EXPECT_EQ(NotesOf("float e, float f",
                    "a, p = LSTM <hidden_size = 1> (x, w, r) np = Neg(p) b1, q = LSTM <hidden_size = 1> (z, w, r, "
                    "\"\", \"\", np) "
                    "d, u = LSTM <hidden_size = 1> (z, w, r, \"\", \"\", h) nu = Neg(u) c1, o = LSTM <hidden_size = 1> "
                    "(x, w, r, \"\", \"\", nu) "
                    "e = Neg(q) f = Neg(o)"),
            (Notes{kTogether + R"(LSTM "a", LSTM "d")", kTogether + R"(LSTM "b1", LSTM "c1")"}));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
