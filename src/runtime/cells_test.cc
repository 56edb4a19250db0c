// SPDX-License-Identifier: Apache-2.0
// Cells spelled as Loop and Scan: what the operator in their place gives is what their nodes give.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "runtime/cell_text.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::HasSubstr;

Session Loaded(const std::string& graph, bool optimize) {
  SessionOptions options;
  options.threads = 1;
  options.optimize = optimize;
  return FromText(graph, options);
}

Tensor Random(std::mt19937& random, std::initializer_list<int64_t> dims) {
  Tensor tensor(TensorType::kFloat, Shape(dims));
  for (float& number : tensor.MutableView<float>())
    number = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500;
  return tensor;
}

void ExpectNear(const ValueMap& got, const ValueMap& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, value] : wanted) {
    ASSERT_EQ(got.at(name).tensor().shape().ToString(), value.tensor().shape().ToString()) << name;
    float largest = 1;
    for (const float number : Floats(value)) largest = std::max(largest, std::abs(number));
    const auto numbers = Floats(got.at(name));
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_NEAR(numbers[i], Floats(value)[i], 1e-5f * largest) << name << "[" << i << "]";
  }
}

enum class Kind { kLstm, kPeepholes, kGru, kGruBefore, kRnn, kReluRnn };
constexpr const char* kNames[] = {"LSTM", "LSTM", "GRU", "GRU", "RNN", "RNN"};
enum class Form { kLoop, kCountedLoop, kBatchFirstLoop, kBackwardLoop, kScan, kBackwardScan, kInnerScan };

constexpr int kColumns = 5, kUnits = 3;

// The next h and c after a step with x, from values of these names.
std::pair<std::string, std::string> Step(CellText& text, Kind kind, const std::string& x, const std::string& h,
                                         const std::string& c) {
  switch (kind) {
    case Kind::kLstm:
    case Kind::kPeepholes:
      return text.Lstm(x, h, c, kind == Kind::kPeepholes);
    case Kind::kGru:
    case Kind::kGruBefore:
      return {text.Gru(x, h, kind == Kind::kGruBefore), ""};
    default:
      return {text.Rnn(x, h, kind == Kind::kRnn ? "Tanh" : "Relu"), ""};
  }
}

// The graph of x [T,B,5] (or [B,T,5]), h and c [B,3].
std::string GraphText(Kind kind, Form form, uint32_t seed) {
  CellText text(seed, kColumns, kUnits);
  const bool has_c = kind == Kind::kLstm || kind == Kind::kPeepholes;
  const bool scan = form >= Form::kScan, batch_first = form == Form::kBatchFirstLoop || form == Form::kInnerScan;
  std::string x = "x_t";
  if (!scan) {
    std::string index = "t";
    if (form == Form::kBackwardLoop) index = text.Node(fmt::format("Sub({}, t)", text.Node("Sub(steps, one_step)")));
    if (form == Form::kCountedLoop) index = "count";
    x = text.Node(fmt::format("Gather <axis = {}> (x, {})", batch_first ? 1 : 0, index));
  }
  const auto [next_h, next_c] = Step(text, kind, x, "h_t", "c_t");
  const std::string states = fmt::format("float[R,3] h_t{}", has_c ? ", float[R,3] c_t" : "");
  const std::string next = fmt::format("float[R,3] {}{}", next_h, has_c ? fmt::format(", float[R,3] {}", next_c) : "");
  const std::string initial = has_c ? "h, c" : "h", results = has_c ? "h_n, c_n" : "h_n";
  const std::string outputs = fmt::format("float[T,B,3] y, float[B,3] h_n{}", has_c ? ", float[B,3] c_n" : "");
  const std::string head = fmt::format("g (float[{}] x, float[B,3] h{}) => ({}) <", batch_first ? "B,T,5" : "T,B,5",
                                       has_c ? ", float[B,3] c" : "", outputs);
  if (scan) {
    const std::string attributes = form == Form::kBackwardScan
                                       ? ", scan_input_directions = [1], scan_output_directions = [1]"
                                   : batch_first ? ", scan_input_axes = [-2]"
                                                 : "";
    return fmt::format(
        "{}{}> {{\n  [cell] {}, y = Scan <num_scan_inputs = 1{}, body = b ({}, float[R,5] x_t) => ({}, float[R,3] y_t) "
        "{{\n{}    y_t = "
        "Identity({})\n  }}> ({}, x)\n}}",
        head, text.constants, results, attributes, states, next, text.nodes, next_h, initial);
  }
  const bool counted = form == Form::kCountedLoop;
  return fmt::format(
      "{}{}, int64 one_step = {{1}}, int64 zero = {{0}}, int64 axis = {{{}}}, bool yes = {{1}}> {{\n  dims = "
      "Shape(x)\n  steps = Gather(dims, axis)\n"
      "  first = Less(zero, steps)\n"
      "  [cell] {}{}, y = Loop <body = b (int64 t, bool go{}, {}) => (bool goes_on{}, {}, float[R,3] y_t) {{\n{}    "
      "y_t = Identity({})\n{}  }}> ({}{}, {})\n}}",
      head, text.constants, batch_first ? 1 : 0, counted ? "last, " : "", results, counted ? ", int64 count" : "",
      states, counted ? ", int64 next_count" : "", next, text.nodes, next_h,
      counted ? "    next_count = Add(count, one_step)\n    goes_on = Less(next_count, steps)\n"
              : "    goes_on = Identity(go)\n",
      counted ? ", first" : "steps, yes", counted ? ", zero" : "", initial);
}

class Cells : public ::testing::TestWithParam<std::tuple<Kind, Form>> {};

TEST_P(Cells, GiveTheSameAsTheirNodes) {
  const auto [kind, form] = GetParam();
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const std::string graph = GraphText(kind, form, seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, graph));
    const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
    const bool backwards = form == Form::kBackwardLoop || form == Form::kBackwardScan;
    const bool scan = form >= Form::kScan;
    ASSERT_THAT(optimized.Explain(),
                HasSubstr(fmt::format("{} node \"cell\": a{} {} of 3 units over 5 inputs{}\n", scan ? "Scan" : "Loop",
                                      kind == Kind::kGru || kind == Kind::kGruBefore ? "" : "n",
                                      kNames[static_cast<int>(kind)], backwards ? ", backwards" : "")));
    std::mt19937 random(seed);
    const bool batch_first = form == Form::kBatchFirstLoop || form == Form::kInnerScan;
    for (const auto& [steps, rows] : {std::pair(0, 2), {1, 1}, {4, 3}, {9, 1}}) {
      ValueMap feeds = {
          {"x", batch_first ? Random(random, {rows, steps, kColumns}) : Random(random, {steps, rows, kColumns})},
          {"h", Random(random, {rows, kUnits})}};
      if (kind == Kind::kLstm || kind == Kind::kPeepholes) feeds["c"] = Random(random, {rows, kUnits});
      ExpectNear(optimized.Run(feeds), plain.Run(feeds));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Cells,
                         ::testing::Combine(::testing::Values(Kind::kLstm, Kind::kPeepholes, Kind::kGru,
                                                              Kind::kGruBefore, Kind::kRnn, Kind::kReluRnn),
                                            ::testing::Values(Form::kLoop, Form::kCountedLoop, Form::kBatchFirstLoop,
                                                              Form::kBackwardLoop, Form::kScan, Form::kBackwardScan,
                                                              Form::kInnerScan)));

// Four steps, one after the other.
std::string UnrolledText(Kind kind, uint32_t seed) {
  CellText text(seed, kColumns, kUnits);
  const bool has_c = kind == Kind::kLstm || kind == Kind::kPeepholes, all = seed % 2 == 0;
  std::string h = "h", c = "c", outputs, stacked;
  for (int t = 0; t < 4; ++t) {
    text.Again();
    std::tie(h, c) = Step(text, kind, fmt::format("x{}", t), h, c);
    text.nodes += fmt::format("    u{} = Unsqueeze({}, zero)\n", t, h);
    stacked += fmt::format("{}u{}", t == 0 ? "" : ", ", t);
  }
  if (all) text.nodes += fmt::format("    y = Concat <axis = 0> ({})\n", stacked);
  text.nodes += fmt::format("    h_n = Identity({})\n", h);
  if (has_c) text.nodes += fmt::format("    c_n = Identity({})\n", c);
  return fmt::format(
      "g (float[4,B,5] x, float[B,3] h{}) => (float[B,3] h_n{}{}) <{}, int64[1] zero = {{0}}, int64[4] ones = {{1, 1, "
      "1, 1}}> "
      "{{\n  s0, s1, s2, s3 = Split <axis = 0> (x, ones)\n  x0 = Squeeze(s0, zero)\n  x1 = Squeeze(s1, zero)\n  x2 = "
      "Squeeze(s2, zero)\n  x3 = Squeeze(s3, zero)\n{}}}",
      has_c ? ", float[B,3] c" : "", has_c ? ", float[B,3] c_n" : "", all ? ", float[4,B,3] y" : "", text.constants,
      text.nodes);
}

class UnrolledCells : public ::testing::TestWithParam<Kind> {};

TEST_P(UnrolledCells, GiveTheSameAsTheirNodes) {
  const Kind kind = GetParam();
  for (uint32_t seed = 0; seed < 24; ++seed) {
    const std::string graph = UnrolledText(kind, seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, graph));
    const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
    ASSERT_THAT(optimized.Explain(), HasSubstr("4 steps up to "));
    ASSERT_THAT(optimized.Explain(),
                HasSubstr(fmt::format("{} of 3 units over 5 inputs\n", kNames[static_cast<int>(kind)])));
    std::mt19937 random(seed);
    for (const int64_t rows : {1, 3, 0}) {
      ValueMap feeds = {{"x", Random(random, {4, rows, kColumns})}, {"h", Random(random, {rows, kUnits})}};
      if (kind == Kind::kLstm || kind == Kind::kPeepholes) feeds["c"] = Random(random, {rows, kUnits});
      ExpectNear(optimized.Run(feeds), plain.Run(feeds));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UnrolledCells,
                         ::testing::Values(Kind::kLstm, Kind::kPeepholes, Kind::kGru, Kind::kGruBefore, Kind::kRnn,
                                           Kind::kReluRnn));

// What torch makes of an LSTM where it takes it apart: the product with x is made for all steps at once.
std::string AheadText(bool loop, bool backwards) {
  CellText text(1, kColumns, kUnits);
  const std::string w = text.Constant({5, 12}), b = text.Constant({12}), r = text.Constant({3, 12});
  std::string nodes;
  const auto step = [&](const std::string& t, const std::string& z, const std::string& h, const std::string& c) {
    nodes += fmt::format(
        "a{0} = MatMul({2}, {4})\n s{0} = Add({1}, a{0})\n i{0}, f{0}, g{0}, o{0} = Split <axis = 1> (s{0})\n si{0} = "
        "Sigmoid(i{0})\n sf{0} = Sigmoid(f{0})\n so{0} = Sigmoid(o{0})\n tg{0} = Tanh(g{0})\n fc{0} = Mul(sf{0}, "
        "{3})\n "
        "ig{0} = Mul(si{0}, tg{0})\n c{0} = Add(fc{0}, ig{0})\n tc{0} = Tanh(c{0})\n h{0} = Mul(so{0}, tc{0})\n",
        t, z, h, c, r);
  };
  const std::string head = fmt::format(
      "g (float[B,4,5] x, float[B,3] h, float[B,3] c) => (float[B,4,3] y) <{}, int64[1] one = {{1}}, int64 four = "
      "{{4}}, "
      "int64 three = {{3}}, bool yes = {{1}}> {{\n p = MatMul(x, {})\n q = Add({}, p)\n",
      text.constants, w, b);
  if (loop) {
    nodes = fmt::format("at = {}\n z = Gather <axis = 1> (q, at)\n", backwards ? "Sub(three, t)" : "Identity(t)");
    step("n", "z", "h_t", "c_t");
    return head +
           fmt::format(
               "hl, cl, ys = Loop <body = b (int64 t, bool go, float[R,3] h_t, float[R,3] c_t) => (bool go_on, "
               "float[R,3] hn, float[R,3] cn, float[R,3] each) {{\n{} go_on = Identity(go)\n each = Identity(hn) }}> "
               "(four, yes, h, c)\n y = Transpose <perm = [1, 0, 2]> (ys) }}",
               nodes);
  }
  std::string before_h = "h", before_c = "c", all;
  nodes = "z0, z1, z2, z3 = Split <axis = 1> (q)\n";
  for (int t = 0; t < 4; ++t) {
    const int at = backwards ? 3 - t : t;
    nodes += fmt::format("x{} = Squeeze(z{}, one)\n", at, at);
    step(std::to_string(t), fmt::format("x{}", at), before_h, before_c);
    before_h = fmt::format("h{}", t), before_c = fmt::format("c{}", t);
    nodes += fmt::format("u{0} = Unsqueeze(h{0}, one)\n", t);
    all = backwards && t > 0 ? fmt::format("u{}, {}", t, all) : fmt::format("{}{}u{}", all, t == 0 ? "" : ", ", t);
  }
  return head + fmt::format("{} y = Concat <axis = 1> ({}) }}", nodes, all);
}

TEST(Recognising, TakeTheProductWithXFromBeforeTheSteps) {
  std::mt19937 random(1);
  for (const bool loop : {true, false}) {
    for (const bool backwards : {false, true}) {
      const std::string graph = AheadText(loop, backwards);
      SCOPED_TRACE(graph);
      const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
      EXPECT_THAT(optimized.Explain(), HasSubstr(backwards ? "an LSTM of 3 units over 5 inputs, backwards"
                                                           : "an LSTM of 3 units over 5 inputs\n"));
      // Neither slices nor a product of their own are left.
      EXPECT_THAT(optimized.Explain(), HasSubstr(loop && backwards ? ", 7 after the passes" : ", 6 after the passes"));
      const ValueMap feeds = {
          {"x", Random(random, {2, 4, 5})}, {"h", Random(random, {2, 3})}, {"c", Random(random, {2, 3})}};
      ExpectNear(optimized.Run(feeds), plain.Run(feeds));
    }
  }
}

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

TEST(Recognising, LeavesWhatIsNoCellAndSaysWhy) {
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

TEST(Recognising, LeavesWhatIsNoLstmOrGru) {
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

// As tf2onnx writes them: weights and limits are carried, numbers of steps compared as floats, and T may be 0.
TEST(Recognising, ReadsWhatIsCarriedUnchanged) {
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
