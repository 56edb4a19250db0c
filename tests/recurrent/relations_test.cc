// SPDX-License-Identifier: Apache-2.0
// What must hold between runs of LSTM, GRU and RNN whatever the numbers and however weights are kept: attributes
// matter, layouts are transposes of one another, reverse is the reversed input, two directions are one of each, a
// sequence may be cut, rows do not matter to each other and padding to nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <tuple>

#include "recurrent_model.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kT = 5, kN = 3, kI = 4, kH = 6;

Tensor Random(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.75f, 0.75f);
  Tensor tensor(TensorType::kFloat, std::move(shape));
  for (float& x : tensor.MutableView<float>()) x = uniform(random);
  return tensor;
}
Tensor Lengths(const std::vector<int32_t>& lengths) {
  return Tensor::Of<int32_t>(Shape{static_cast<int64_t>(lengths.size())}, std::span<const int32_t>(lengths));
}

// The blocks of axis `axis` at `indices`, in that order.
Tensor Take(const Tensor& from, int axis, const std::vector<int64_t>& indices) {
  Shape shape(from.shape());
  shape[axis] = static_cast<int64_t>(indices.size());
  Tensor to(TensorType::kFloat, shape);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < from.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : from.dim(i);
  float* out = to.MutableView<float>().data();
  for (int64_t i = 0; i < outer; ++i)
    for (const int64_t index : indices)
      out = std::copy_n(from.View<float>().data() + (i * from.dim(axis) + index) * inner, inner, out);
  return to;
}

Tensor Transposed01(const Tensor& from) {  // [a,b,c...] -> [b,a,c...]
  Shape shape(from.shape());
  std::swap(shape[0], shape[1]);
  Tensor to(TensorType::kFloat, shape);
  const int64_t a = from.dim(0), b = from.dim(1), rest = from.NumElements() / std::max<int64_t>(1, a * b);
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      std::copy_n(from.View<float>().data() + (i * b + j) * rest, rest,
                  to.MutableView<float>().data() + (j * a + i) * rest);
    }
  }
  return to;
}

using Inputs = std::map<std::string, Tensor>;

// One run with random data in layout 0, `given` in place of some of them.
struct NodeRun {
  std::string op;
  WeightStorage storage = WeightStorage::kFull;
  int64_t directions = 1;
  std::function<void(RecurrentModel&)> with = {};
  Inputs given = {};
  bool peepholes = false;

  Inputs Data() const {
    const int64_t d = directions, gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    Inputs inputs{{"X", Random(Shape{kT, kN, kI}, 1)},
                  {"W", Random(Shape{d, gates * kH, kI}, 2)},
                  {"R", Random(Shape{d, gates * kH, kH}, 3)},
                  {"B", Random(Shape{d, 2 * gates * kH}, 4)},
                  {"H0", Random(Shape{d, kN, kH}, 5)}};
    if (op == "LSTM") inputs["C0"] = Random(Shape{d, kN, kH}, 6);
    if (peepholes) inputs["P"] = Random(Shape{d, 3 * kH}, 7);
    for (const auto& [name, tensor] : given) inputs[name] = tensor;
    return inputs;
  }
  ValueMap operator()() const {
    RecurrentModel model(op, 14);
    if (with) with(model);
    return model.Run(Data(), true, 1, storage);
  }
};
std::function<void(RecurrentModel&)> Direction(const std::string& direction) {
  return [direction](RecurrentModel& model) { model.SetString("direction", direction); };
}

// The largest difference of two elements, infinite where one is NaN.
double Distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double most = 0;
  for (int64_t i = 0; i < a.NumElements(); ++i) {
    const double difference = std::abs(double{a.View<float>()[i]} - double{b.View<float>()[i]});
    most = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(most, difference);
  }
  return most;
}
double Distance(const ValueMap& a, const ValueMap& b, const std::string& name) {
  return Distance(a.at(name).tensor(), b.at(name).tensor());
}
void ExpectSame(const Tensor& a, const Tensor& b) { EXPECT_EQ(Distance(a, b), 0); }

class Relations : public testing::TestWithParam<std::tuple<const char*, WeightStorage>> {
 protected:
  std::string op() const { return std::get<0>(GetParam()); }
  WeightStorage storage() const { return std::get<1>(GetParam()); }
  std::vector<std::string> states() const {
    return op() == "LSTM" ? std::vector<std::string>{"Yh", "Yc"} : std::vector<std::string>{"Yh"};
  }
};
INSTANTIATE_TEST_SUITE_P(Recurrent, Relations,
                         testing::Combine(testing::Values("LSTM", "GRU", "RNN"),
                                          testing::Values(WeightStorage::kFull, WeightStorage::kBf16,
                                                          WeightStorage::kInt8)));

TEST_P(Relations, EveryAttributeMatters) {
  using kernels::Activation;
  using kernels::ActivationKind;
  const size_t functions = op() == "LSTM" ? 3 : op() == "GRU" ? 2 : 1;
  const auto activation = [&](size_t place, Activation changed, bool values = true) {
    std::vector<Activation> all(functions, Activation::Default(ActivationKind::kTanh));
    if (functions > 1) all[0] = Activation::Default(ActivationKind::kSigmoid);
    all[place] = changed;
    return NodeRun{
        .op = op(), .storage = storage(), .with = [=](RecurrentModel& model) { model.SetActivations(all, values); }};
  };
  std::vector<std::pair<std::string, NodeRun>> others = {
      {"clip",
       {.op = op(), .storage = storage(), .with = [](RecurrentModel& model) { model.SetFloat("clip", 0.25f); }}},
      {"direction", {.op = op(), .storage = storage(), .with = Direction("reverse")}},
      {"lens", {.op = op(), .storage = storage(), .given = {{"lens", Lengths({2, 5, 1})}}}}};
  for (size_t place = 0; place < functions; ++place)
    others.emplace_back("function " + std::to_string(place),
                        activation(place, Activation::Default(ActivationKind::kSoftsign)));
  if (op() == "LSTM") {
    others.push_back({"input_forget", {.op = op(), .storage = storage(), .with = [](RecurrentModel& m) {
                                         m.SetInt("input_forget", 1);
                                       }}});
    others.push_back({"P", {.op = op(), .storage = storage(), .peepholes = true}});
  }
  if (op() == "GRU") {
    others.push_back({"linear_before_reset", {.op = op(), .storage = storage(), .with = [](RecurrentModel& m) {
                                                m.SetInt("linear_before_reset", 1);
                                              }}});
  }
  const ValueMap plain = NodeRun{.op = op(), .storage = storage()}();
  for (const auto& [name, other] : others) EXPECT_GT(Distance(plain, other(), "Y"), 1e-3) << name;
  const size_t last = functions - 1;
  const ValueMap scaled = activation(last, Activation::Default(ActivationKind::kScaledTanh))();
  EXPECT_GT(Distance(scaled, activation(last, {ActivationKind::kScaledTanh, 2, 1})(), "Y"), 1e-3) << "alpha";
  EXPECT_GT(Distance(scaled, activation(last, {ActivationKind::kScaledTanh, 1, 2})(), "Y"), 1e-3) << "beta";
}

TEST_P(Relations, Layout1IsTheTranspose) {
  for (const auto& [direction, d] :
       {std::pair<const char*, int64_t>{"forward", 1}, {"reverse", 1}, {"bidirectional", 2}}) {
    SCOPED_TRACE(direction);
    NodeRun run{.op = op(),
                .storage = storage(),
                .directions = d,
                .with = Direction(direction),
                .given = {{"lens", Lengths({2, 5, 0})}}};
    run.peepholes = op() == "LSTM";
    const ValueMap first = run();
    for (const auto& [name, tensor] : run.Data()) {
      if (name == "X" || name == "H0" || name == "C0") run.given[name] = Transposed01(tensor);
    }
    run.with = [name = std::string(direction)](RecurrentModel& model) {
      model.SetString("direction", name);
      model.SetInt("layout", 1);
    };
    const ValueMap second = run();
    for (const std::string& state : states())
      ExpectSame(Transposed01(first.at(state).tensor()), second.at(state).tensor());
    // [T,D,N,H] against [N,T,D,H].
    const auto y = first.at("Y").tensor().View<float>(), z = second.at("Y").tensor().View<float>();
    for (int64_t t = 0; t < kT; ++t)
      for (int64_t k = 0; k < d; ++k)
        for (int64_t n = 0; n < kN; ++n)
          for (int64_t h = 0; h < kH; ++h)
            ASSERT_EQ(y[((t * d + k) * kN + n) * kH + h], z[((n * kT + t) * d + k) * kH + h]);
  }
}

// The rows' valid parts turned round by hand.
TEST_P(Relations, ReverseIsForwardOfTheReversedPrefix) {
  const std::vector<int32_t> lengths{2, 5, 3};
  const Tensor x = Random(Shape{kT, kN, kI}, 1);
  Tensor turned = Random(Shape{kT, kN, kI}, 1);
  for (int64_t n = 0; n < kN; ++n) {
    for (int64_t t = 0; t < lengths[n]; ++t) {
      std::copy_n(x.View<float>().data() + ((lengths[n] - 1 - t) * kN + n) * kI, kI,
                  turned.MutableView<float>().data() + (t * kN + n) * kI);
    }
  }
  const Inputs as_is{{"X", x}, {"lens", Lengths(lengths)}}, flipped{{"X", turned}, {"lens", Lengths(lengths)}};
  const ValueMap reverse = NodeRun{.op = op(), .storage = storage(), .with = Direction("reverse"), .given = as_is}(),
                 forward = NodeRun{.op = op(), .storage = storage(), .given = flipped}();
  for (const std::string& state : states()) EXPECT_EQ(Distance(reverse, forward, state), 0);
  const auto y = reverse.at("Y").tensor().View<float>(), z = forward.at("Y").tensor().View<float>();
  for (int64_t n = 0; n < kN; ++n) {
    for (int64_t t = 0; t < kT; ++t) {
      const int64_t from = t < lengths[n] ? lengths[n] - 1 - t : t;
      for (int64_t h = 0; h < kH; ++h)
        ASSERT_EQ(y[(t * kN + n) * kH + h], z[(from * kN + n) * kH + h]) << n << " " << t;
    }
  }
}

TEST_P(Relations, TwoDirectionsAreOneOfEach) {
  const NodeRun both{.op = op(),
                     .storage = storage(),
                     .directions = 2,
                     .with = Direction("bidirectional"),
                     .given = {{"lens", Lengths({4, 5, 0})}}};
  const ValueMap together = both();
  for (const int64_t d : {0, 1}) {
    NodeRun one{
        .op = op(), .storage = storage(), .with = Direction(d == 0 ? "forward" : "reverse"), .given = both.Data()};
    for (auto& [name, tensor] : one.given) {
      if (name != "X" && name != "lens") tensor = Take(tensor, 0, {d});
    }
    const ValueMap alone = one();
    ExpectSame(Take(together.at("Y").tensor(), 1, {d}), alone.at("Y").tensor());
    for (const std::string& state : states())
      ExpectSame(Take(together.at(state).tensor(), 0, {d}), alone.at(state).tensor());
  }
}

TEST_P(Relations, ASequenceMayBeCut) {
  const Tensor x = Random(Shape{kT, kN, kI}, 1);
  const ValueMap whole = NodeRun{.op = op(), .storage = storage(), .given = {{"X", x}}}();
  const ValueMap head = NodeRun{.op = op(), .storage = storage(), .given = {{"X", x.Part(0, Shape{2, kN, kI})}}}();
  Inputs rest{{"X", x.Part(2 * kN * kI, Shape{kT - 2, kN, kI})}, {"H0", head.at("Yh").tensor()}};
  if (op() == "LSTM") rest["C0"] = head.at("Yc").tensor();
  const ValueMap tail = NodeRun{.op = op(), .storage = storage(), .given = rest}();
  for (const std::string& state : states()) EXPECT_EQ(Distance(whole, tail, state), 0);
  ExpectSame(Take(whole.at("Y").tensor(), 0, {2, 3, 4}), tail.at("Y").tensor());
}

// Some rows in another order: a permutation, and parts of the batch.
TEST_P(Relations, RowsDoNotMatterToEachOther) {
  const std::vector<int32_t> lengths{2, 5, 4};
  const NodeRun batch{.op = op(), .storage = storage(), .given = {{"lens", Lengths(lengths)}}};
  const ValueMap all = batch();
  for (const std::vector<int64_t>& rows : std::vector<std::vector<int64_t>>{{2, 0, 1}, {0, 1}, {2}}) {
    NodeRun some{.op = op(), .storage = storage(), .given = batch.Data()};
    std::vector<int32_t> theirs;
    for (const int64_t row : rows) theirs.push_back(lengths[static_cast<size_t>(row)]);
    for (auto& [name, tensor] : some.given) {
      if (name == "X" || name == "H0" || name == "C0") tensor = Take(tensor, 1, rows);
    }
    some.given["lens"] = Lengths(theirs);
    const ValueMap got = some();
    ExpectSame(Take(all.at("Y").tensor(), 2, rows), got.at("Y").tensor());
    for (const std::string& state : states()) ExpectSame(Take(all.at(state).tensor(), 1, rows), got.at(state).tensor());
  }
}

TEST_P(Relations, PaddingIsNeverRead) {
  const std::vector<int32_t> lengths{2, 0, 4};
  for (const char* direction : {"forward", "reverse"}) {
    NodeRun run{.op = op(), .storage = storage(), .with = Direction(direction), .given = {{"lens", Lengths(lengths)}}};
    const ValueMap clean = run();
    Tensor x = Random(Shape{kT, kN, kI}, 1);
    for (int64_t t = 0; t < kT; ++t) {
      for (int64_t n = 0; n < kN; ++n) {
        if (t >= lengths[static_cast<size_t>(n)])
          std::fill_n(x.MutableView<float>().data() + (t * kN + n) * kI, kI, std::nanf(""));
      }
    }
    run.given["X"] = x;
    const ValueMap padded = run();
    EXPECT_EQ(Distance(clean, padded, "Y"), 0);
    for (const std::string& state : states()) EXPECT_EQ(Distance(clean, padded, state), 0);
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
