// SPDX-License-Identifier: Apache-2.0
// Cases of tests/data/lstm/golden.txt, which numpy computed in float64, through the kernel in float and double.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "kernels/lstm/lstm.h"
#include "kernels/lstm/lstm_reference.h"
#include "kernels/recurrent/golden_test_util.h"
#include "kernels/recurrent/recurrent_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class T>
void RunGolden(const GoldenCase& golden, double tolerance) {
  SCOPED_TRACE(golden.name + (sizeof(T) == 4 ? " in float" : " in double"));
  const bool onnx = golden.words.at("contract") == "onnx", by_row = !onnx || golden.words.at("layout") == "1";
  const int64_t steps = golden.Dim("X", by_row ? 1 : 0), rows = golden.Dim("X", by_row ? 0 : 1),
                inputs = golden.Dim("X", 2);
  const int64_t directions = golden.Dim("W", 0), hidden = golden.Dim("R", 2);
  const auto x = golden.Values<T>("X"), w = golden.Values<T>("W"), r = golden.Values<T>("R"), b = golden.Values<T>("B"),
             p = golden.Values<T>("P"), h0 = golden.Values<T>("H0"), c0 = golden.Values<T>("C0");
  const auto lengths = golden.Values<int32_t>("lens");
  const auto size = [&](const std::string& key) { return golden.Array(key).values.size(); };
  std::vector<T> y(size("Y"), T(NAN)), yh(size("Yh"), T(NAN)), yc(size("Yc"), T(NAN));
  std::vector<T> ref_y = y, ref_yh = yh, ref_yc = yc;

  std::vector<PackedRecurrent<Lstm, T>> packed;
  std::vector<RecurrentDirection<Lstm, T>> runs;
  packed.reserve(directions);
  for (int64_t d = 0; d < directions; ++d) {
    LstmCell cell;
    cell.f = golden.activations.at(3 * d);
    cell.g = golden.activations.at(3 * d + 1);
    cell.h = golden.activations.at(3 * d + 2);
    cell.clip = std::stod(golden.words.at("clip"));
    if (golden.words.at("input_forget") == "1")
      cell.coupling = onnx ? LstmCoupling::kForgetFromInput : LstmCoupling::kInputFromForget;
    LstmWeights<T> weights;
    weights.input_size = inputs;
    weights.hidden_size = hidden;
    weights.w = w.data() + d * 4 * hidden * inputs;
    weights.r = r.data() + d * 4 * hidden * hidden;
    if (!b.empty()) weights.wb = b.data() + d * (onnx ? 8 : 4) * hidden;
    if (!b.empty() && onnx) weights.rb = weights.wb + 4 * hidden;
    if (!p.empty()) weights.p = p.data() + d * 3 * hidden;
    weights.gates = LstmGateOrderFromName(golden.words.at("format")).value();
    weights.peepholes = onnx ? kIof : kFio;

    RecurrentSequence<T> io;
    io.steps = steps;
    io.rows = rows;
    io.reverse = golden.words.at("direction") == "reverse" || d == 1;
    io.x = x.data();
    io.x_row = by_row ? steps * inputs : inputs;
    io.x_step = by_row ? inputs : rows * inputs;
    if (!lengths.empty()) io.lengths = lengths.data();
    // States: [D,N,H] with layout 0, else [N,D,H]. Y: [T,D,N,H], [N,T,D,H], or LSTMSequence's [N,D,T,H].
    const int64_t state_row = by_row ? directions * hidden : hidden, state = d * (by_row ? hidden : rows * hidden);
    io.h0_row = io.c0_row = io.yh_row = io.yc_row = state_row;
    if (!h0.empty()) io.h0 = h0.data() + state;
    if (!c0.empty()) io.c0 = c0.data() + state;
    const int64_t y_start = !onnx ? d * steps * hidden : by_row ? d * hidden : d * rows * hidden;
    io.y_row = by_row ? directions * steps * hidden : hidden;
    io.y_step = !onnx ? hidden : directions * (by_row ? hidden : rows * hidden);
    io.y = ref_y.data() + y_start;
    io.yh = ref_yh.data() + state;
    io.yc = ref_yc.data() + state;
    RecurrentReference(cell, weights, io);
    io.y = y.data() + y_start;
    io.yh = yh.data() + state;
    io.yc = yc.data() + state;
    packed.emplace_back(cell, weights);
    runs.push_back({&packed.back(), io});
  }
  RunWithScratch<Lstm, T>(runs);
  const auto check = [&](const std::string& key, const std::vector<T>& got, const std::string& who) {
    const auto& expected = golden.Array(key).values;
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
          << who << " " << key << " at " << i;
  };
  check("Y", ref_y, "reference");
  check("Yh", ref_yh, "reference");
  check("Yc", ref_yc, "reference");
  check("Y", y, "kernel");
  check("Yh", yh, "kernel");
  check("Yc", yc, "kernel");
}

// Sums of some 20 terms of size 1, a handful of steps: float errors stay within some 50 eps; double ones within the 15
// digits of the file and the same count.
TEST(LstmGolden, EveryCase) {
  const auto cases = ReadGolden("lstm");
  ASSERT_EQ(cases.size(), 26u);
  ForEachIsa([&] {
    for (const GoldenCase& golden : cases) {
      RunGolden<float>(golden, 1e-5);
      RunGolden<double>(golden, 1e-13);
    }
  });
}

// A file that exercised one attribute twice the same way would hide that the attribute is ignored.
TEST(LstmGolden, CasesDiffer) {
  std::map<std::string, std::string> seen;
  for (const GoldenCase& golden : ReadGolden("lstm")) {
    std::ostringstream text;
    for (const double value : golden.Array("Y").values) text << value << " ";
    const auto [at, fresh] = seen.emplace(text.str(), golden.name);
    EXPECT_TRUE(fresh) << golden.name << " equals " << at->second;
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
