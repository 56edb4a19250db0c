// SPDX-License-Identifier: Apache-2.0
// The operators on packed values (ops/internal/segments.h) against what they stand for: a SequenceMap that runs the
// ONNX operator element by element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Random(std::mt19937& engine, const std::vector<int64_t>& dims, float least, float most) {
  Tensor t(TensorType::kFloat, Shape(dims));
  std::uniform_real_distribution<float> distribution(least, most);
  for (float& x : t.MutableView<float>()) x = distribution(engine);
  return t;
}

const std::vector<int64_t> kLengths = {3, 1, 0, 70, 2, 17, 1};
constexpr int64_t kSum = 94;
Tensor Lengths() { return Tensor::Of<int64_t>(Shape{static_cast<int64_t>(kLengths.size())}, kLengths); }

void ExpectNear(const Value& got, const Value& want) {
  ASSERT_EQ(got.TypeString(), want.TypeString());
  for (size_t i = 0; i < Floats(want).size(); ++i) {
    const float a = Floats(got)[i], b = Floats(want)[i];
    if (std::isnan(b) || std::isinf(b)) {
      ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << "element " << i << " is " << a << ", expected " << b;
    } else {
      ASSERT_NEAR(a, b, 1e-5f * std::max(1.0f, std::abs(b))) << "element " << i;
    }
  }
}

// `got` and `want` of a graph's nodes; SequenceMap is to run as it stands.
void Compare(const std::string& graph, const ValueMap& feeds) {
  SCOPED_TRACE(graph);
  for (const int threads : {1, 2}) {
    SessionOptions options;
    options.threads = threads;
    options.optimize = false;
    const ValueMap out =
        Session::FromModel(
            ParseModelText("<ir_version: 8, opset_import: [\"\" : 18, \"onnxseq.internal\" : 1]>\n" + graph), options)
            .Run(feeds);
    int compared = 0;
    for (const auto& [name, value] : out) {
      if (!name.starts_with("got")) continue;
      ExpectNear(value, out.at("want" + name.substr(3)));
      ++compared;
    }
    ASSERT_EQ(compared, static_cast<int>(out.size()) / 2);
    ASSERT_GT(compared, 0);
  }
}

TEST(Segments, ReductionsAreThoseOfElements) {
  std::mt19937 engine(1);
  for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"}) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<int64_t> dims = {3, 5, 6};
      dims[static_cast<size_t>(axis)] = kSum;
      const ValueMap feeds = {{"x", Random(engine, dims, 0.5f, 1.5f)}, {"l", Lengths()}};
      for (const std::string axes : {"0", "1", "2", "0, 1", "1, 2", "0, 2", "0, 1, 2"}) {
        if (axes.find(std::to_string(axis)) == std::string::npos) continue;
        for (const int keep : {0, 1}) {
          Compare(fmt::format("g (float[A,B,C] x, int64[N] l) => (float[?] got, float[?] want) {{\n"
                              "  got = onnxseq.internal.SegmentReduce <op: string = \"{0}\", axis: int = {1}, "
                              "axes: ints = [{2}], keepdims: int = {3}>(x, l)\n"
                              "  xs = SplitToSequence <axis: int = {1}>(x, l)\n"
                              "  axes = Constant <value_ints: ints = [{2}]>()\n"
                              "  ys = SequenceMap <body = b (float[A,B,C] e) => (float[?] r) "
                              "{{ r = Reduce{0} <keepdims: int = {3}>(e, axes) }}>(xs)\n"
                              "  want = ConcatFromSequence <axis: int = 0, new_axis: int = 1>(ys)\n}}",
                              op, axis, axes, keep),
                  feeds);
        }
      }
    }
  }
}

TEST(Segments, SoftmaxRepeatAndGatherAreThoseOfElements) {
  std::mt19937 engine(2);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int64_t> dims = {3, 5, 7};
    dims[static_cast<size_t>(axis)] = kSum;
    const Tensor x = Random(engine, dims, -8, 8);
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      Compare(fmt::format("g (float[A,B,C] x, int64[N] l) => (float[A,B,C] got, float[A,B,C] want) {{\n"
                          "  got = onnxseq.internal.SegmentSoftmax <axis: int = {0}, log: int = {2}>(x, l)\n"
                          "  xs = SplitToSequence <axis: int = {0}>(x, l)\n"
                          "  ys = SequenceMap <body = b (float[A,B,C] e) => (float[A,B,C] r) "
                          "{{ r = {1} <axis: int = {0}>(e) }}>(xs)\n"
                          "  want = ConcatFromSequence <axis: int = {0}>(ys)\n}}",
                          axis, op, op[0] == 'L' ? 1 : 0),
              {{"x", x}, {"l", Lengths()}});
    }
    // Each element's sum over the axis, repeated along it: what x - sum broadcasts; and the first and last of those
    // that have any.
    Compare(fmt::format("g (float[A,B,C] x, int64[N] l, int64[N] ones) => (float[A,B,C] got, float[A,B,C] want, "
                        "float[?] got1, float[?] want1) {{\n"
                        "  s = onnxseq.internal.SegmentReduce <op: string = \"Sum\", axis: int = {0}>(x, l)\n"
                        "  got = onnxseq.internal.SegmentRepeat <axis: int = {0}>(s, l)\n"
                        "  zero = Constant <value_float: float = 0.0>()\n"
                        "  axes = Constant <value_ints: ints = [{0}]>()\n"
                        "  ends = Constant <value_ints: ints = [0, -1]>()\n"
                        "  xs = SplitToSequence <axis: int = {0}>(x, l)\n"
                        "  ys = SequenceMap <body = b (float[A,B,C] e) => (float[A,B,C] r) "
                        "{{ t = ReduceSum(e, axes) n = Mul(e, zero) r = Add(n, t) }}>(xs)\n"
                        "  want = ConcatFromSequence <axis: int = {0}>(ys)\n"
                        "  got1 = onnxseq.internal.SegmentGather <axis: int = {0}>(x, ones, ends)\n"
                        "  xs1 = SplitToSequence <axis: int = {0}>(x, ones)\n"
                        "  ys1 = SequenceMap <body = b (float[A,B,C] e) => (float[A,B,C] r) "
                        "{{ r = Gather <axis: int = {0}>(e, ends) }}>(xs1)\n"
                        "  want1 = ConcatFromSequence <axis: int = 0, new_axis: int = 1>(ys1)\n}}",
                        axis),
            {{"x", x}, {"l", Lengths()}, {"ones", Tensor::Of<int64_t>(Shape{7}, {3, 1, 2, 68, 2, 17, 1})}});
  }
}

// Products of each element with its own matrix, and over the axis they differ in.
TEST(Segments, ProductsAreThoseOfElements) {
  std::mt19937 engine(4);
  constexpr int64_t kElements = 7;
  struct Form {
    const char *name, *a, *b, *lists;
    int axis, new_axis;
  };
  const Form contract{
      "contract", "M,S", "S,N", "us = SplitToSequence <axis: int = 1>(a, l) vs = SplitToSequence <axis: int = 0>(b, l)",
      0,          1};
  const Form left{
      "left",  "S,K",
      "E,K,N", "us = SplitToSequence <axis: int = 0>(a, l) vs = SplitToSequence <axis: int = 0, keepdims: int = 0>(b)",
      0,       0};
  const Form right{
      "right", "E,M,K",
      "K,S",   "us = SplitToSequence <axis: int = 0, keepdims: int = 0>(a) vs = SplitToSequence <axis: int = 1>(b, l)",
      1,       0};
  const auto compare = [](const Form& form, Tensor a, Tensor b) {
    Compare(fmt::format("g (float[{1}] a, float[{2}] b, int64[E] l) => (float[?] got, float[?] want) {{\n"
                        "  got = onnxseq.internal.SegmentMatMul <form: string = \"{0}\">(a, b, l)\n  {3}\n"
                        "  ys = SequenceMap <body = b (float[A,B] u, float[B,C] v) => (float[A,C] r) "
                        "{{ r = MatMul(u, v) }}>(us, vs)\n"
                        "  want = ConcatFromSequence <axis: int = {4}, new_axis: int = {5}>(ys)\n}}",
                        form.name, form.a, form.b, form.lists, form.axis, form.new_axis),
            {{"a", std::move(a)}, {"b", std::move(b)}, {"l", Lengths()}});
  };
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {3, 5, 4}, {40, 33, 17}}) {
    compare(contract, Random(engine, {m, kSum}, -1, 1), Random(engine, {kSum, n}, -1, 1));
    compare(left, Random(engine, {kSum, k}, -1, 1), Random(engine, {kElements, k, n}, -1, 1));
    compare(right, Random(engine, {kElements, m, k}, -1, 1), Random(engine, {k, kSum}, -1, 1));
  }
}

// One network with all its inputs; initial states for all elements, for each of them, and none.
TEST(Segments, NetworksAreThoseOfElements) {
  std::mt19937 engine(3);
  struct Network {
    const char* type;
    int64_t gates;
    bool has_cell;
    const char* attributes;
  };
  const int64_t e = static_cast<int64_t>(kLengths.size()), inputs = 5, hidden = 19;
  for (const Network& network : {Network{"LSTM", 4, true, ""}, Network{"LSTM", 4, true, ", input_forget: int = 1"},
                                 Network{"GRU", 3, false, ", linear_before_reset: int = 1"},
                                 Network{"GRU", 3, false, ", clip: float = 0.5"}, Network{"RNN", 1, false, ""}}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const int64_t rows : {1, 3}) {
        for (const char* states : {"none", "all", "each"}) {
          const int64_t d = direction[0] == 'b' ? 2 : 1, g = network.gates * hidden;
          ValueMap feeds = {
              {"x", Random(engine, {kSum, rows, inputs}, -1, 1)},  {"l", Lengths()},
              {"w", Random(engine, {d, g, inputs}, -0.4f, 0.4f)},  {"r", Random(engine, {d, g, hidden}, -0.3f, 0.3f)},
              {"b", Random(engine, {d, 2 * g}, -0.5f, 0.5f)},      {"h0", Random(engine, {e, d, rows, hidden}, -1, 1)},
              {"c0", Random(engine, {e, d, rows, hidden}, -1, 1)}, {"p", Random(engine, {d, 3 * hidden}, -0.5f, 0.5f)}};
          const bool each = states[0] == 'e', none = states[0] == 'n';
          const std::string h0 = none ? "" : each ? ", h0" : ", h0e";
          const std::string c0 = none || !network.has_cell ? "" : each ? ", c0, p" : ", c0e, p";
          const std::string he = none ? "" : ", h1", ce = none || !network.has_cell ? "" : ", c1, p";
          const std::string cell_output = network.has_cell ? ", gotc" : "", cell_want = network.has_cell ? ", vc" : "";
          std::string text = fmt::format(
              "g (float[S,B,I] x, int64[E] l, float[D,G,I] w, float[D,G,H] r, float[D,G2] b, float[E,D,B,H] h0, "
              "float[E,D,B,H] c0, float[D,H3] p) => (float[S,D,B,H] gotx, float[E,D,B,H] goth{0}, float[S,D,B,H] "
              "wantx, "
              "float[E,D,B,H] wanth{1}) {{\n"
              "  first = Constant <value_int: int = 1>()\n"
              "  h0e = Gather(h0, first)\n  c0e = Gather(c0, first)\n"
              "  gotx, goth{2} = onnxseq.internal.Packed{3} <hidden_size: int = 19, direction: string = \"{4}\"{5}>"
              "(x, w, r, b, l{6}{7})\n"
              "  xs = SplitToSequence <axis: int = 0>(x, l)\n",
              network.has_cell ? ", float[E,D,B,H] gotc" : "", network.has_cell ? ", float[E,D,B,H] wantc" : "",
              cell_output, network.type, direction, network.attributes, h0, c0);
          text += fmt::format(
              "  hs = SplitToSequence <axis: int = 0, keepdims: int = 0>(h0)\n"
              "  cs = SplitToSequence <axis: int = 0, keepdims: int = 0>(c0)\n"
              "  ys, yhs{0} = SequenceMap <body = b (float[T,B,I] v, float[D,B,H] hv, float[D,B,H] cv) => "
              "(float[T,D,B,H] y, float[D,B,H] yh{1}) {{\n"
              "    h1 = Identity({2})\n    c1 = Identity({3})\n"
              "    y, yh{4} = {5} <hidden_size: int = 19, direction: string = \"{6}\"{7}>(v, w, r, b, {8}{9}) }}>"
              "(xs, hs, cs)\n"
              "  wantx = ConcatFromSequence <axis: int = 0>(ys)\n"
              "  wanth = ConcatFromSequence <axis: int = 0, new_axis: int = 1>(yhs)\n",
              network.has_cell ? ", ycs" : "", network.has_cell ? ", float[D,B,H] vc" : "", each ? "hv" : "h0e",
              each ? "cv" : "c0e", cell_want, network.type, direction, network.attributes, he, ce);
          if (network.has_cell) text += "  wantc = ConcatFromSequence <axis: int = 0, new_axis: int = 1>(ycs)\n";
          Compare(text + "}", feeds);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// More rows than are run together.
TEST(Segments, ManyElements) {
  std::mt19937 engine(5);
  std::vector<int64_t> lengths;
  int64_t sum = 0;
  for (int64_t e = 0; e < 1000; ++e) sum += lengths.emplace_back(e * e % 4);
  Compare(
      "g (float[S,1,I] x, int64[N] l, float[1,H,I] w, float[1,H,H] r) => (float[S,1,1,H] gotx, float[N,1,1,H] goth, "
      "float[S,1,1,H] wantx, float[N,1,1,H] wanth) {\n"
      "  gotx, goth = onnxseq.internal.PackedRNN <hidden_size: int = 200>(x, w, r, , l)\n"
      "  xs = SplitToSequence <axis: int = 0>(x, l)\n"
      "  ys, hs = SequenceMap <body = b (float[T,B,I] v) => (float[T,1,B,H] y, float[1,B,H] yh) "
      "{ y, yh = RNN <hidden_size: int = 200>(v, w, r) }>(xs)\n"
      "  wantx = ConcatFromSequence <axis: int = 0>(ys)\n"
      "  wanth = ConcatFromSequence <axis: int = 0, new_axis: int = 1>(hs)\n}",
      {{"x", Random(engine, {sum, 1, 3}, -1, 1)},
       {"l", Tensor::Of<int64_t>(Shape{1000}, lengths)},
       {"w", Random(engine, {1, 200, 3}, -0.4f, 0.4f)},
       {"r", Random(engine, {1, 200, 200}, -0.1f, 0.1f)}});
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
