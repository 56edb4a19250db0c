// SPDX-License-Identifier: Apache-2.0
// Cells spelled as Loop and Scan: what the operator in their place gives is what their nodes give.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "runtime/cell_test_util.h"
#include "runtime/cell_text.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::HasSubstr;

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

// Three steps over x0 [B,3] and what `input` makes of h, with `more` at the end.
std::string ShortLstm(const std::string& rows, const std::string& states, const std::function<std::string(int)>& input,
                      const std::string& outputs, const std::string& more) {
  CellText text(3, kUnits, kUnits);
  std::string h = "h", c = "c";
  for (int t = 0; t < 3; ++t) {
    text.Again();
    text.nodes += fmt::format("x{} = {}\n", t + 1, input(t));
    std::tie(h, c) = text.Lstm(fmt::format("x{}", t + 1), h, c, false);
    text.nodes += fmt::format("h{0} = Identity({1})\n c{0} = Identity({2})\n", t, h, c);
  }
  return fmt::format("g (float[{0},3] x0{1}) => ({2}) <{3}{4}> {{ {5} {6} }}", rows,
                     states.empty() ? ", float[B,3] h, float[B,3] c" : "", outputs, text.constants, states, text.nodes,
                     more);
}

TEST(Recognising, UnrolledStepsThatStay) {
  const auto of_x = [](int t) { return t == 0 ? "Neg(x0)" : fmt::format("Neg(x{})", t); };
  const auto of_h = [](int t) { return t == 0 ? std::string("Neg(x0)") : fmt::format("Neg(h{})", t - 1); };
  const auto in_if = [](int t) {
    return fmt::format(
        "If <then_branch = a () => (float[B,3] r) {{ r = Neg(x{0}) }}, else_branch = b () => (float[B,3] r) {{ r = "
        "Abs(x{0}) }}> (yes)",
        t);
  };
  const std::string last = "float[B,3] h2";
  const std::tuple<std::string, const char*> kCases[] = {
      {ShortLstm("B", "", of_x, last, ""), ": an LSTM of 3 units over 3 inputs\n"},
      {ShortLstm("B", "", of_x, last + ", float[B,3] c1", ""), " stay: a state c is used outside\n"},
      {ShortLstm("B", "", of_x, last + ", float[B,3] c2, float[B,3] h0", ""), ": an LSTM of 3 units over 3 inputs\n"},
      {ShortLstm("B", "", of_h, last, ""), " stay: an input depends on a state\n"},
  };
  std::mt19937 random(1);
  for (const auto& [graph, note] : kCases) {
    SCOPED_TRACE(graph);
    const Session plain = Loaded(graph, false), optimized = Loaded(graph, true);
    EXPECT_THAT(optimized.Explain(), HasSubstr("3 steps up to "));
    EXPECT_THAT(optimized.Explain(), HasSubstr(note));
    const ValueMap feeds = {
        {"x0", Random(random, {2, 3})}, {"h", Random(random, {2, 3})}, {"c", Random(random, {2, 3})}};
    ExpectNear(optimized.Run(feeds), plain.Run(feeds));
  }
  std::string with_if = ShortLstm("B", "", in_if, last, "");
  with_if.replace(with_if.find("x0,"), 3, "x0, bool yes,");
  EXPECT_THAT(Loaded(with_if, true).Explain(), HasSubstr("stay: an input comes from a node with a body\n"));
  const std::string zeros =
      ShortLstm("1", ", float[1,3] h = {0, 0, 0}, float[1,3] c = {0, 0, 0}", of_x, "float[1,3] h2", "");
  EXPECT_THAT(Loaded(zeros, true).Explain(), HasSubstr(": an LSTM of 3 units over 3 inputs\n"));
  const ValueMap feeds = {{"x0", Random(random, {1, 3})}};
  ExpectNear(Loaded(zeros, true).Run(feeds), Loaded(zeros, false).Run(feeds));
}

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

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
