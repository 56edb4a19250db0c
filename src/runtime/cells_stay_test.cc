// SPDX-License-Identifier: Apache-2.0
// Loops that are no cells, one word away from those that are: what is said of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cell_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::HasSubstr;

// An RNN whose parts can be replaced by others, and the reason why it then stays.
struct Parts {
  std::string step = "n = Tanh(s)";
  std::string input = "x_t = Gather(x, t)";
  std::string limit = "steps";
  std::string output = "n";
  std::string goes_on = "Identity(go)";
  std::string matrix = "r";
};
std::string RnnText(const Parts& parts) {
  return fmt::format(R"(g (float[T,B,2] x, float[B,2] h, float[2,2] m, int64 some) => (float[T,B,2] y, float[B,2] h_n)
    <float[2,2] w = {{1, 2, 3, 4}}, float[2,2] r = {{0.5, 0.25, -1, 0.125}}, int64 zero = {{0}}, bool yes = {{1}}, float two = {{2}}, float one = {{1}},
     float fifth = {{0.2}}, float half = {{0.5}}, float none = {{0}}, int64[1] i0 = {{0}}, int64[1] i1 = {{1}}, int64[1] back = {{-1}}, int64[1] far = {{-9}}> {{
    dims = Shape(x)
    steps = Gather(dims, zero)
    [cell] h_n, y = Loop <body = b (int64 t, bool go, float[R,2] h_t) => (bool goes_on, float[R,2] n, float[R,2] y_t) {{
      {}
      z = MatMul(x_t, w)
      u = MatMul(h_t, {})
      s = Add(z, u)
      {}
      y_t = Identity({})
      goes_on = {}
    }}> ({}, yes, h)
  }})",
                     parts.input, parts.matrix, parts.step, parts.output, parts.goes_on, parts.limit);
}

TEST(RecognisingLoops, LeavesWhatIsNoCellAndSaysWhy) {
  const std::pair<Parts, const char*> kCases[] = {
      {{}, ": an RNN of 2 units over 2 inputs"},
      {{.step = "a = Sigmoid(s)\n n = Tanh(a)"}, " stays: a gate takes more than inputs, the state and constants"},
      {{.step = "a = Tanh(s)\n n = Sin(a)"}, " stays: \"n\" is made by a node of type Sin"},
      {{.step = "a = Tanh(s)\n n = Mul(a, two)"}, " stays: its state does not go on as that of a GRU or RNN"},
      {{.step = "a = Mul(x_t, h_t)\n b2 = Add(a, s)\n n = Tanh(b2)"},
       " stays: a gate takes more than inputs, the state and constants"},
      {{.step = "f = Mul(s, fifth)\n a = Add(f, half)\n n = Clip(a, none, one)"}, ": an RNN of 2 units over 2 inputs"},
      {{.step = "a = Clip(s, none, two)\n n = Tanh(a)"}, " stays: it has a Clip to other bounds than 0 and 1"},
      {{.step = "b2 = Add(s, u)\n n = Clip(b2, none, one)"}, " stays: it has a Clip of a sum with several scales"},
      {{.step = "n = Clip(x_t, none, one)"}, " stays: it has a Clip of something else than a product"},
      {{.step = "a = Add(s, h)\n n = Tanh(a)"},
       " stays: it uses \"h\", which is the same in all steps and not constant"},
      {{.step = "a = Transpose <perm = [1, 0]> (s)\n b2 = Transpose <perm = [1, 0]> (a)\n n = Tanh(b2)"},
       " stays: it transposes columns"},
      {{.step = "a = Slice(s, i0, i1, i1)\n b2 = Add(a, s)\n n = Tanh(b2)"},
       " stays: the columns of \"a\" are used more than once"},
      {{.step = "a = Slice(s, back, far, i1, back)\n n = Tanh(a)"},
       " stays: it has a Slice that is not of adjacent columns"},
      {{.step = "q = Unsqueeze(s, i0)\n a = Split <axis = 0> (q)\n b2 = Squeeze(a, i0)\n n = Tanh(b2)"},
       " stays: it splits rows"},
      {{.step = "a = Concat <axis = 0> (s)\n n = Tanh(a)"}, " stays: it puts rows together"},
      {{.step = "l, k = Split <axis = 1> (s)\n a = Concat <axis = 1> (k, l)\n n = Tanh(a)"},
       " stays: the parts of \"a\" are not those of a cell"},
      {{.step = "a = Tanh(s)\n a2 = Mul(a, a)\n a4 = Mul(a2, a2)\n n = Mul(a4, a4)"},
       " stays: its products have too many factors or terms"},
      {{.input = "x_t = Gather(x, zero)"}, " stays: it does not take all of \"x\" in order"},
      {{.input = "x_t = Gather(x, some)"}, " stays: it takes from \"x\" at places not known"},
      {{.limit = "some"}, " stays: its number of iterations is not that of steps in its input"},
      {{.output = "s"}, " stays: its output \"y_t\" is not the state h"},
      {{.goes_on = "Less(t, some)"}, " stays: its condition is none of a count of steps"},
      {{.goes_on = "Less(t, zero)"}, " stays: its condition is not that of steps in its input"},
      {{.goes_on = "Not(go)"}, " stays: its condition is none of a count of steps"},
      {{.matrix = "m"}, " stays: \"u\" is a product whose right side is not constant"},
  };
  std::mt19937 random(1);
  for (const auto& [parts, note] : kCases) {
    const std::string graph = RnnText(parts);
    SCOPED_TRACE(graph);
    const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
    EXPECT_THAT(optimized.Explain(), HasSubstr(fmt::format("Loop node \"cell\"{}\n", note)));
    const ValueMap feeds = {{"x", Random(random, {4, 3, 2})},
                            {"h", Random(random, {3, 2})},
                            {"m", Random(random, {2, 2})},
                            {"some", Tensor::Scalar<int64_t>(2)}};
    ExpectNear(optimized.Run(feeds), plain.Run(feeds));
  }
}

// A Loop over x [T,B,2] with one state or two; `nodes` make n, and m of c.
std::string CellLoop(const std::string& nodes, bool has_c, const std::string& more = "") {
  const auto with_c = [&](const char* text) { return has_c ? text : ""; };
  return fmt::format(R"(g (float[T,B,2] x, float[B,2] h, float[B,2] c) => (float[B,2] h_n{})
    <float[2,2] w = {{1, 2, 3, 4}}, float[2,2] r = {{0.5, 0.25, -1, 0.125}}, float[2] p = {{0.5, 1}}, int64 zero = {{0}}, float one = {{1}}, bool yes = {{1}}> {{
    dims = Shape(x)
    steps = Gather(dims, zero)
    [cell] h_n{} = Loop <body = b (int64 t, bool go, float[R,2] h_t{}) => (bool goes_on, float[R,2] n{}) {{
      x_t = Gather(x, t)
      z = MatMul(x_t, w)
      u = MatMul(h_t, r)
      s = Add(z, u)
      {}
      goes_on = Identity(go)
    }}> (steps, yes, h{})
  }})",
                     more, with_c(", c_n"), with_c(", float[R,2] c_t"), with_c(", float[R,2] m"), nodes, with_c(", c"));
}

std::string Lstm(const std::string& gates, const std::string& out = "t2 = Tanh(m)") {
  return CellLoop(gates + "\n fc = Mul(f, c_t)\n ig = Mul(i, g)\n m = Add(fc, ig)\n " + out + "\n n = Mul(o, t2)",
                  true);
}
std::string Gru(const std::string& nodes) {
  return CellLoop(nodes + "\n d = Sub(h_t, k)\n e = Mul(q, d)\n n = Add(k, e)", false);
}

TEST(RecognisingLoops, LeavesWhatIsNoLstmOrGru) {
  const std::string fio = "f = Sigmoid(s)\n o = Sigmoid(z)\n i = Sigmoid(u)\n";
  const std::string qr = "q = Sigmoid(s)\n a = Sigmoid(z)\n";
  const std::string before = "ah = Mul(a, h_t)\n ar = MatMul(ah, r)\n";
  const std::pair<std::string, const char*> kCases[] = {
      {Lstm(fio + "g = Tanh(s)"), ": an LSTM of 2 units over 2 inputs"},
      {CellLoop(
           "f = Sigmoid(s)\n g = Tanh(z)\n i = Sub(one, f)\n fc = Mul(f, c_t)\n ig = Mul(i, g)\n m = Add(fc, ig)\n t2 "
           "= Tanh(m)\n o = Sigmoid(u)\n n = Mul(o, t2)",
           true),
       ": an LSTM of 2 units over 2 inputs"},
      {Lstm("f = Sigmoid(s)\n o = Sigmoid(z)\n i = Relu(u)\n g = Tanh(s)"),
       " stays: its gates have different functions"},
      {Lstm("f = Sigmoid(s)\n o = Relu(z)\n i = Sigmoid(u)\n g = Tanh(s)"),
       " stays: its gates have different functions"},
      {Lstm(fio + "g = Tanh(s)", "t2 = Tanh(c_t)"), " stays: its states do not go on as those of an LSTM"},
      {Lstm(fio + "cp = Mul(c_t, p)\n sp = Add(s, cp)\n g = Tanh(sp)"),
       " stays: c goes into gates that do not take it"},
      {Gru(qr + before + "zr = Add(z, ar)\n k = Tanh(zr)"), ": a GRU of 2 units over 2 inputs"},
      {Gru("q = Relu(s)\n a = Sigmoid(z)\n" + before + "zr = Add(z, ar)\n k = Tanh(zr)"),
       " stays: its gates have different functions"},
      {Gru(qr + "k = Tanh(s)"), " stays: its candidate has no reset gate"},
      {Gru(qr + "au = Mul(a, u)\n qz = Mul(q, u)\n y1 = Add(au, qz)\n y2 = Add(y1, z)\n k = Tanh(y2)"),
       " stays: its candidate has several gates"},
      {Gru(qr + "au = Mul(a, s)\n k = Tanh(au)"),
       " stays: its reset gate does not stand before the state's product alone"},
      {CellLoop("q = Relu(s)\n a = Relu(z)\n" + before +
                    "zr = Add(z, ar)\n k = Tanh(zr)\n d = Sub(k, h_t)\n e = Mul(q, d)\n n = Add(h_t, e)",
                false),
       " stays: its update gate is turned round by a function that is not symmetric"},
      {CellLoop("n = Tanh(s)\n m = Add(c_t, n)", true), " stays: its states do not go on as those of an LSTM"},
  };
  std::mt19937 random(1);
  for (const auto& [graph, note] : kCases) {
    SCOPED_TRACE(graph);
    const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
    EXPECT_THAT(optimized.Explain(), HasSubstr(fmt::format("Loop node \"cell\"{}\n", note)));
    const ValueMap feeds = {
        {"x", Random(random, {4, 3, 2})}, {"h", Random(random, {3, 2})}, {"c", Random(random, {3, 2})}};
    ExpectNear(optimized.Run(feeds), plain.Run(feeds));
  }
}

// What goes wrong with the Loop itself, in words between `head` and the last line.
TEST(RecognisingLoops, LeavesLoopsThatDoNotFit) {
  const auto loop = [](const char* type, const char* states, const char* weights, const char* nodes) {
    return fmt::format(R"(g ({0}[T,B,2] x, {0}[{1}] h) => ({0}[{1}] h_n) <{2}, int64 zero = {{0}}, bool yes = {{1}}> {{
      dims = Shape(x)
      steps = Gather(dims, zero)
      [cell] h_n = Loop <body = b (int64 t, bool go, {0}[{1}] h_t) => (bool goes_on, {0}[{1}] n) {{
        x_t = Gather(x, t)
        {3}
        goes_on = Identity(go)
      }}> (steps, yes, h)
    }})",
                       type, states, weights, nodes);
  };
  const std::string step = "z = MatMul(x_t, w)\n u = MatMul(h_t, r)\n s = Add(z, u)\n n = Tanh(s)";
  const std::pair<std::string, const char*> kCases[] = {
      {loop("float", "B,0", "float[2,0] w = {}, float[0,0] r = {}", step.c_str()), "its states have no columns"},
      {loop("float16", "B,1", "float16[2,1] w = {1, 2}, float16[1,1] r = {1}", step.c_str()),
       "its states are half floats"},
      {loop("float", "C,1", "float[2,1] w = {1, 2}, float[1,1] r = {1}", step.c_str()),
       "the rows of \"n\" are not known to be those of its states"},
      {loop("float", "A,B,1", "float[2,1] w = {1, 2}, float[1,1] r = {1}", step.c_str()),
       "\"h_t\" has more than one axis of rows"},
      {loop("float", "B,1", "float[2,1] w = {1, 2}, float[1,1] r = {1}",
            "z = MatMul(x_t, w)\n k = RandomNormalLike(z)\n s = Add(z, k)\n n = Tanh(s)"),
       "it has nodes of type RandomNormalLike"},
      {loop("float", "B,1", "float[2,1] w = {1, 2}, float[1,1] r = {1}", "u = MatMul(h_t, r)\n n = Tanh(u)"),
       "it has no inputs"},
  };
  for (const auto& [graph, why] : kCases)
    EXPECT_THAT(Loaded(graph, true).Explain(), HasSubstr(fmt::format("Loop node \"cell\" stays: {}\n", why))) << graph;
  const std::string old = "<ir_version: 8, opset_import: [\"\" : 6]>\n" +
                          loop("float", "B,1", "float[2,1] w = {1, 2}, float[1,1] r = {1}", step.c_str());
  EXPECT_THAT(Session::FromModel(ParseModelText(old)).Explain(),
              HasSubstr("Loop node \"cell\" stays: operators before version 7 are not written\n"));
}

// Rows that stay as they are after some steps of their own.
TEST(RecognisingLoops, ReadsLengths) {
  const auto graph = [](const char* condition, const char* h_next, const char* c_next, const char* each) {
    return fmt::format(
        R"(g (float[T,B,2] x, float[B,2] h, float[B,2] c, int64[B] lengths) => (float[T,B,2] y, float[B,2] h_n, float[B,2] c_n)
      <float[2,8] w = {{1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, 4, 3, 2, 1}}, float[2,8] r = {{0.5, 0.25, -1, 0.125, 1, 2, 3, 4, -4, -3, -2, -1, 0, 1, 0, 1}},
       int64 zero = {{0}}, int64[1] i1 = {{1}}, float none = {{0}}, bool yes = {{1}}> {{
      dims = Shape(x)
      steps = Gather(dims, zero)
      [cell] h_n, c_n, y = Loop <body = b (int64 t, bool go, float[R,2] h_t, float[R,2] c_t) => (bool goes_on, float[R,2] h2, float[R,2] c2, float[R,2] each) {{
        x_t = Gather(x, t)
        z = MatMul(x_t, w)
        u = MatMul(h_t, r)
        s = Add(z, u)
        gi, gf, go2, gc = Split <axis = 1> (s)
        i = Sigmoid(gi)
        f = Sigmoid(gf)
        o = Sigmoid(go2)
        g2 = Tanh(gc)
        fc = Mul(f, c_t)
        ig = Mul(i, g2)
        c1 = Add(fc, ig)
        tc = Tanh(c1)
        h1 = Mul(o, tc)
        m = {}
        mask = Unsqueeze(m, i1)
        h2 = {}
        c2 = {}
        each = {}
        goes_on = Identity(go)
      }}> (steps, yes, h, c)
    }})",
        condition, h_next, c_next, each);
  };
  const std::pair<std::string, std::string> kCases[] = {
      {graph("Less(t, lengths)", "Where(mask, h1, h_t)", "Where(mask, c1, c_t)", "Where(mask, h1, none)"),
       ": an LSTM of 2"},
      {graph("Greater(lengths, t)", "Where(mask, h1, h_t)", "Where(mask, c1, c_t)", "Where(mask, h1, none)"),
       ": an LSTM of 2"},
      {graph("GreaterOrEqual(t, lengths)", "Where(mask, h_t, h1)", "Where(mask, c_t, c1)", "Where(mask, none, h1)"),
       ": an LSTM of 2"},
      {graph("LessOrEqual(lengths, t)", "Where(mask, h_t, h1)", "Where(mask, c_t, c1)", "Where(mask, none, h1)"),
       ": an LSTM of 2"},
      {graph("Less(t, lengths)", "Where(mask, h1, h_t)", "Where(mask, c1, c_t)", "Identity(h2)"),
       " stays: its output past the length of a row is not 0\n"},
      {graph("Less(t, lengths)", "Where(mask, h1, h_t)", "Identity(c1)", "Where(mask, h1, none)"),
       " stays: its states go on for different numbers of steps\n"},
      {graph("LessOrEqual(t, lengths)", "Where(mask, h1, h_t)", "Where(mask, c1, c_t)", "Where(mask, h1, none)"),
       " stays: \"h2\" is made by a node of type Where\n"},
  };
  std::string backwards = kCases[0].first;
  backwards.replace(backwards.find("x_t = Gather(x, t)"), 18,
                    "l = Sub(steps, one)\n back = Sub(l, t)\n x_t = Gather(x, back)");
  backwards.replace(backwards.find("int64 zero"), 10, "int64 one = {1}, int64 zero");
  EXPECT_THAT(Loaded(backwards, true).Explain(), HasSubstr(" stays: its rows have lengths, and it goes backwards\n"));
  std::mt19937 random(1);
  for (const auto& [text, note] : kCases) {
    SCOPED_TRACE(text);
    const Session plain = Loaded(text, false), optimized = Loaded(text, true);
    EXPECT_THAT(optimized.Explain(), HasSubstr("Loop node \"cell\"" + note));
    for (const int64_t steps : {0, 1, 4}) {
      ValueMap feeds = {
          {"x", Random(random, {steps, 6, 2})}, {"h", Random(random, {6, 2})}, {"c", Random(random, {6, 2})}};
      feeds["lengths"] = Tensor::Of<int64_t>(Shape{6}, {0, 1, 3, 4, 9, -2});
      ExpectNear(optimized.Run(feeds), plain.Run(feeds));
    }
  }
}

// As torch.jit.script writes them.
TEST(RecognisingLoops, ReadsWhatGoesIntoASequence) {
  const std::string graph = R"(g (float[T,B,2] x, float[B,2] h) => (float[B,T,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2,2] r = {0.5, 0.25, -1, 0.125}, int64 zero = {0}, bool yes = {1}> {
    dims = Shape(x)
    steps = Gather(dims, zero)
    empty = SequenceEmpty()
    [cell] all, h_n = Loop <body = b (int64 t, bool go, seq(float[R,2]) so_far, float[R,2] h_t) => (bool goes_on, seq(float[R,2]) more, float[R,2] n) {
      x_t = Gather(x, t)
      z = MatMul(x_t, w)
      u = MatMul(h_t, r)
      s = Add(z, u)
      n = Tanh(s)
      more = SequenceInsert(so_far, n)
      goes_on = Identity(go)
    }> (steps, yes, empty, h)
    y = ConcatFromSequence <axis = 1, new_axis = 1> (all)
  })";
  const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
  EXPECT_THAT(optimized.Explain(), HasSubstr("Loop node \"cell\": an RNN of 2 units over 2 inputs\n"));
  std::mt19937 random(1);
  for (const int64_t steps : {1, 5}) {
    const ValueMap feeds = {{"x", Random(random, {steps, 3, 2})}, {"h", Random(random, {3, 2})}};
    ExpectNear(optimized.Run(feeds), plain.Run(feeds));
  }
  const ValueMap none = {{"x", Random(random, {0, 3, 2})}, {"h", Random(random, {3, 2})}};
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { optimized.Run(none); }),
            ThrownBy<InvalidArgument>([&] { plain.Run(none); }));
}

// As tf2onnx writes them: weights and limits are carried, numbers of steps compared as floats, and T may be 0.
TEST(RecognisingLoops, ReadsWhatIsCarriedUnchanged) {
  const std::string graph = R"(g (float[B,T,2] x) => (float[T,B,2] y, int32 count_n)
    <float[2,2] w = {1, 2, 3, 4}, float[2,2] r = {0.5, 0.25, -1, 0.125}, int64[1] i0 = {0}, int64[1] i1 = {1}, int32[1] two = {2}, float none = {0}, int32 zero = {0}> {
    xt = Transpose <perm = [1, 0, 2]> (x)
    dims = Shape(xt)
    dims32 = Cast <to = 6> (dims)
    n1 = Slice(dims32, i0, i1, i0)
    n0 = Squeeze(n1, i0)
    nf = Cast <to = 1> (n0)
    n64 = Cast <to = 7> (n0)
    some = Less(none, nf)
    i2 = Cast <to = 7> (i1)
    rows = Slice(dims32, i1, i2b, i0)
    hd = Concat <axis = 0> (rows, two)
    hd64 = Cast <to = 7> (hd)
    h = Expand(none, hd64)
    [cell] count_n, h_n, n_n, w_n, r_n, y = Loop <body = b (int64 t, bool go, int32 count, float[R,2] h_t, int32 n, float[2,2] wc, float[2,2] rc) => (bool goes_on, int32 next, float[R,2] h2, int32 n, float[2,2] wc, float[2,2] rc, float[R,2] y_t) <int32 step = {1}> {
      next = Add(count, step)
      x_t = Gather(xt, count)
      z = MatMul(x_t, wc)
      u = MatMul(h_t, rc)
      s = Add(z, u)
      h2 = Tanh(s)
      y_t = Identity(h2)
      nextf = Cast <to = 1> (next)
      limit = Cast <to = 1> (n)
      tf = Cast <to = 1> (t)
      limit2 = Cast <to = 1> (n0)
      a = Less(nextf, limit)
      b2 = Less(tf, limit2)
      goes_on = And(a, b2)
    }> (n64, some, zero, h, n0, w, r)
  })";
  std::string carried = graph;
  const auto replace = [](std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
  };
  carried = replace(replace(carried, "i2b", "i9"), "int32 zero", "int64[1] i9 = {2}, int32 zero");
  EXPECT_THAT(Loaded(carried, true).Explain(), HasSubstr("Loop node \"cell\" stays: \"count_n\" is used after it\n"));
  const std::string unused = replace(carried, "(float[T,B,2] y, int32 count_n)", "(float[T,B,2] y, float[2,2] w_n)");
  const Session plain = Loaded(unused, false), optimized = Loaded(unused, true);
  EXPECT_THAT(optimized.Explain(), HasSubstr("Loop node \"cell\": an RNN of 2 units over 2 inputs\n"));
  std::mt19937 random(1);
  for (const int64_t steps : {0, 1, 5}) {
    const ValueMap feeds = {{"x", Random(random, {3, steps, 2})}};
    ExpectNear(optimized.Run(feeds), plain.Run(feeds));
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
