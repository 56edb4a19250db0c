// SPDX-License-Identifier: Apache-2.0
// Random nodes of every recurrent operator against the plain reference in double: sizes, layouts, directions, lengths,
// activations, absent inputs, element types, threads; as they are, through OpenVINO IR and through ai.onnx.
// ONNXSEQ_RNN_SEEDS=FIRST:COUNT in the environment runs other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "kernels/gru/gru_reference.h"
#include "kernels/lstm/lstm_reference.h"
#include "kernels/rnn/rnn_reference.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"
#include "openvino_io/ir_standard.h"
#include "recurrent_model.h"
#include "runtime/save_ir.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::Activation;
using kernels::ActivationKind;
using kernels::RecurrentSequence;

struct Seeds {
  uint32_t first = 1, count = 120;  // of each operator
};
Seeds SeedsToRun() {
  Seeds seeds;
  if (const char* text = std::getenv("ONNXSEQ_RNN_SEEDS"); text != nullptr) {
    EXPECT_EQ(std::sscanf(text, "%u:%u", &seeds.first, &seeds.count), 2) << text;
  }
  return seeds;
}

enum class Form : uint8_t { kOnnx, kSequence, kCell };

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(engine_); }
  double Real(double bound) { return std::uniform_real_distribution<double>(-bound, bound)(engine_); }

 private:
  std::mt19937 engine_;
};

// Numbers as they are stored in `type`, and as the reference reads them.
struct Data {
  Tensor stored;
  std::vector<double> values;
};

template <class T>
Data MakeDataOf(Random& random, const Shape& shape, double bound) {
  Data data{Tensor(kTensorTypeOf<T>, shape), {}};
  for (T& value : data.stored.MutableView<T>()) {
    value = T(static_cast<float>(random.Real(bound)));
    data.values.push_back(static_cast<double>(static_cast<float>(value)));
  }
  return data;
}
Data MakeData(Random& random, TensorType type, const Shape& shape, double bound) {
  switch (type) {
    case TensorType::kDouble:
      return MakeDataOf<double>(random, shape, bound);
    case TensorType::kFloat16:
      return MakeDataOf<Float16>(random, shape, bound);
    case TensorType::kBfloat16:
      return MakeDataOf<BFloat16>(random, shape, bound);
    default:
      return MakeDataOf<float>(random, shape, bound);
  }
}
double ElementOf(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case TensorType::kDouble:
      return tensor.View<double>()[i];
    case TensorType::kFloat16:
      return static_cast<double>(static_cast<float>(tensor.View<Float16>()[i]));
    case TensorType::kBfloat16:
      return static_cast<double>(static_cast<float>(tensor.View<BFloat16>()[i]));
    default:
      return static_cast<double>(tensor.View<float>()[i]);
  }
}
// Rounding of sums of some 100 terms over a handful of steps, and of the stored result.
double ToleranceOf(TensorType type) {
  switch (type) {
    case TensorType::kDouble:
      return 1e-12;
    case TensorType::kFloat16:
      return std::ldexp(1.0, -10);
    case TensorType::kBfloat16:
      return std::ldexp(1.0, -7);
    default:
      return 1e-5;
  }
}

// One node with all it takes.
struct RandomNode {
  Form form;
  int64_t gates, functions, rows, steps, inputs, hidden, directions = 1;
  bool batch_first = false, reverse = false, linear = false;
  double clip = 0;
  kernels::LstmCoupling coupling = kernels::LstmCoupling::kNone;
  std::vector<Activation> activations;
  std::vector<int32_t> lengths;
  TensorType type = TensorType::kFloat;
  std::map<std::string, Data> data;

  const double* At(const char* name, int64_t offset) const {
    const auto found = data.find(name);
    return found == data.end() || found->second.values.empty() ? nullptr : found->second.values.data() + offset;
  }
  bool by_row() const { return form != Form::kOnnx || batch_first; }
  int64_t bias_blocks() const { return form == Form::kOnnx ? 2 * gates : gates + (linear ? 1 : 0); }
};

RandomNode MakeNode(Random& random, Form form, int64_t gates) {
  RandomNode node;
  node.form = form;
  node.gates = gates;
  node.functions = gates == 4 ? 3 : gates == 3 ? 2 : 1;
  const bool onnx = form == Form::kOnnx, cell = form == Form::kCell;
  node.rows = random.Int(0, 7);
  node.steps = cell ? 1 : random.Int(0, 8);
  node.inputs = random.Int(1, 20);
  node.hidden = random.Int(1, 40);
  node.type = std::array{TensorType::kFloat, TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16,
                         TensorType::kBfloat16}[static_cast<size_t>(random.Int(0, 4))];
  if (!cell && random.Chance(0.4)) node.directions = 2;
  node.reverse = !cell && node.directions == 1 && random.Chance(0.4);
  node.batch_first = onnx && random.Chance(0.4);
  node.linear = gates == 3 && random.Chance(0.5);
  if (random.Chance(0.3)) node.clip = 0.5;
  if (gates == 4 && random.Chance(0.2)) {
    node.coupling = onnx ? kernels::LstmCoupling::kForgetFromInput : kernels::LstmCoupling::kInputFromForget;
  }
  for (int64_t k = 0; k < node.functions * node.directions; ++k) {
    const auto kind = static_cast<ActivationKind>(random.Int(0, kernels::kActivationKinds - 1));
    node.activations.push_back(Activation::Default(kind));
    if (kernels::TakesAlpha(kind)) node.activations.back().alpha = 0.25 * static_cast<double>(random.Int(1, 4));
    if (kernels::TakesBeta(kind)) node.activations.back().beta = 0.25 * static_cast<double>(random.Int(1, 4));
  }
  if (form == Form::kSequence || (onnx && random.Chance(0.6))) {
    for (int64_t row = 0; row < node.rows; ++row)
      node.lengths.push_back(static_cast<int32_t>(random.Int(0, node.steps)));
  }
  const int64_t n = node.rows, t = node.steps, i = node.inputs, h = node.hidden, d = node.directions;
  const double bound = 0.25 / std::sqrt(static_cast<double>(h));
  const auto add = [&](const char* name, Shape shape, double size, double chance) {
    const bool there = random.Chance(chance);
    Data data = MakeData(random, node.type, shape, size);
    if (there) node.data[name] = std::move(data);
  };
  const auto each = [&](Shape shape) {
    if (!cell) shape.insert(0, d);
    return shape;
  };
  const Shape state = cell ? Shape{n, h} : node.by_row() ? Shape{n, d, h} : Shape{d, n, h};
  add("X", cell ? Shape{n, i} : node.by_row() ? Shape{n, t, i} : Shape{t, n, i}, 1, 1);
  add("W", each({gates * h, i}), bound, 1);
  add("R", each({gates * h, h}), bound, 1);
  add("B", each({node.bias_blocks() * h}), 0.5, onnx ? 0.7 : 1);
  add("H0", state, 1, onnx ? 0.6 : 1);
  if (gates == 4) add("C0", state, 1, onnx ? 0.6 : 1);
  if (gates == 4) add("P", each({3 * h}), 0.5, 0.4);
  return node;
}

template <class Kind>
void ReferenceOf(const RandomNode& node, int64_t d, const RecurrentSequence<double>& io) {
  const int64_t h = node.hidden, g = node.gates;
  typename Kind::Cell cell;
  typename Kind::template Weights<double> weights;
  cell.clip = node.clip;
  weights.input_size = node.inputs;
  weights.hidden_size = h;
  weights.w = node.At("W", d * g * h * node.inputs);
  weights.r = node.At("R", d * g * h * h);
  weights.wb = node.At("B", d * node.bias_blocks() * h);
  if (weights.wb != nullptr && node.form == Form::kOnnx) weights.rb = weights.wb + g * h;
  const Activation* const functions = node.activations.data() + d * node.functions;
  cell.f = functions[0];
  if constexpr (std::is_same_v<Kind, kernels::Lstm>) {
    cell.g = functions[1];
    cell.h = functions[2];
    cell.coupling = node.coupling;
    weights.p = node.At("P", d * 3 * h);
    weights.gates = node.form == Form::kOnnx ? kernels::kIofc : kernels::kFico;
    weights.peepholes = node.form == Form::kOnnx ? kernels::kIof : kernels::kFio;
  }
  if constexpr (std::is_same_v<Kind, kernels::Gru>) {
    cell.g = functions[1];
    cell.linear_before_reset = node.linear;
    if (node.linear && node.form != Form::kOnnx) weights.candidate_rb = weights.wb + g * h;
  }
  kernels::RecurrentReference(cell, weights, io);
}

struct Expected {
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, Shape> shapes;
};
// Null in an output without elements.
double* PlaceIn(std::vector<double>& values, int64_t at) { return values.empty() ? nullptr : values.data() + at; }

template <class Kind>
Expected Evaluate(const RandomNode& node) {
  const int64_t n = node.rows, t = node.steps, i = node.inputs, h = node.hidden, d = node.directions;
  const bool by_row = node.by_row(), cell = node.form == Form::kCell;
  Expected expected;
  const Shape state = cell ? Shape{n, h} : by_row ? Shape{n, d, h} : Shape{d, n, h};
  expected.shapes = {{"Yh", state}, {"Yc", state}};
  expected.shapes["Y"] = node.form == Form::kSequence ? Shape{n, d, t, h}
                         : by_row                     ? Shape{n, t, d, h}
                                                      : Shape{t, d, n, h};
  for (const auto& [name, shape] : expected.shapes)
    expected.values[name].assign(static_cast<size_t>(shape.NumElements()), 0);
  for (int64_t k = 0; k < d; ++k) {
    RecurrentSequence<double> io;
    io.steps = t;
    io.rows = n;
    io.reverse = node.reverse || k == 1;
    io.x = node.At("X", 0);
    io.x_row = by_row ? t * i : i;
    io.x_step = by_row ? i : n * i;
    if (!node.lengths.empty()) io.lengths = node.lengths.data();
    const int64_t at = k * (by_row ? h : n * h);
    io.h0 = node.At("H0", at);
    io.c0 = node.At("C0", at);
    io.h0_row = io.c0_row = io.yh_row = io.yc_row = by_row ? d * h : h;
    io.yh = PlaceIn(expected.values["Yh"], at);
    if (Kind::kHasCellState) io.yc = PlaceIn(expected.values["Yc"], at);
    const bool openvino = node.form == Form::kSequence;
    io.y = PlaceIn(expected.values["Y"], k * (openvino ? t * h : by_row ? h : n * h));
    io.y_row = by_row ? d * t * h : h;
    io.y_step = openvino ? h : d * (by_row ? h : n * h);
    ReferenceOf<Kind>(node, k, io);
  }
  return expected;
}

// What the node is run as.
enum class Way : uint8_t { kItself, kThroughIr, kThroughOnnx };

// Sigmoid, Tanh and Relu in one set, no peepholes, no coupled gates: what a sequence of IR has words for; others become
// loops.
void MakePlain(RandomNode& node) {
  for (size_t k = 0; k < node.activations.size(); ++k) {
    constexpr ActivationKind kPlain[] = {ActivationKind::kSigmoid, ActivationKind::kTanh, ActivationKind::kRelu};
    const auto each = static_cast<size_t>(node.functions);
    node.activations[k] = k < each ? Activation::Default(kPlain[static_cast<size_t>(node.activations[k].kind) % 3])
                                   : node.activations[k - each];
  }
  node.coupling = kernels::LstmCoupling::kNone;
  node.data.erase("P");
}

// ai.onnx couples the gates the other way.
bool IsSayable(const RandomNode& node, Way way) {
  return way == Way::kThroughIr || node.coupling == kernels::LstmCoupling::kNone;
}

// To IR and back to operators of ai.onnx, or layers to those and on to IR: so each node comes out as what it was.
ModelProto Converted(const ModelProto& model, Way way) {
  ModelProto onnx = model;
  if (way == Way::kThroughOnnx) {
    LayersToOnnx(onnx);
    return onnx;
  }
  const IrFiles files = ToIr(model, {.lower = true, .version = 11});
  ModelProto read = ParseIr(files.xml, Bytes(files.bin));
  LayersToOnnx(read);
  return read;
}

template <class Kind>
void CheckRandom(const std::string& name, Form form, Way way = Way::kItself) {
  const Seeds seeds = SeedsToRun();
  uint32_t grown = 0, converted = 0;
  for (uint32_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    Random random(seed);
    RandomNode node = MakeNode(random, form, Kind::kGates);
    if (way == Way::kThroughIr && random.Chance(0.6)) MakePlain(node);
    const std::string op_type = name + (form == Form::kOnnx ? "" : form == Form::kSequence ? "Sequence" : "Cell");
    SCOPED_TRACE(testing::Message() << op_type << " seed " << seed << ": N " << node.rows << " T " << node.steps
                                    << " I " << node.inputs << " H " << node.hidden << " D " << node.directions
                                    << " type " << onnx_optim::TensorTypeName(node.type));
    RecurrentModel model(op_type, 22);
    model.SetInt("hidden_size", node.hidden);
    if (form != Form::kCell)
      model.SetString("direction", node.directions == 2 ? "bidirectional" : node.reverse ? "reverse" : "forward");
    if (node.batch_first) model.SetInt("layout", 1);
    if (node.linear) model.SetInt("linear_before_reset", 1);
    if (node.coupling != kernels::LstmCoupling::kNone) model.SetInt("input_forget", 1);
    if (node.clip > 0) model.SetFloat("clip", static_cast<float>(node.clip));
    model.SetActivations(node.activations, true);
    std::map<std::string, Tensor> inputs;
    for (const auto& [key, data] : node.data) inputs[key] = data.stored;
    if (!node.lengths.empty() || form == Form::kSequence) {
      inputs["lens"] = Tensor::Of<int32_t>(Shape{node.rows}, std::span<const int32_t>(node.lengths));
    }
    if (way != Way::kItself) {
      model.Declare(random.Chance(0.5) ? RecurrentModel::Declared::kRanks : RecurrentModel::Declared::kSizes);
      model.Through([way](const ModelProto& itself) { return Converted(itself, way); });
    }
    const bool constant_weights = random.Chance(0.5);
    const int threads = static_cast<int>(random.Int(1, 4));
    if (way != Way::kItself && !IsSayable(node, way)) {
      EXPECT_THROW(model.Run(inputs, constant_weights, threads), Unsupported);
      continue;
    }
    ++converted;
    const ValueMap outputs = model.Run(inputs, constant_weights, threads);
    const Expected expected = Evaluate<Kind>(node);
    // Unbounded functions may make a cell grow from step to step, and its rounding errors with it.
    const auto grows = [](const auto& values) {
      return std::ranges::any_of(values.second, [](double value) { return !(std::abs(value) < 20); });
    };
    if (std::ranges::any_of(expected.values, grows)) {
      ++grown;
      continue;
    }
    // IR has one bias, the sum of the two in the node's type: of 16 bits its rounding is as large as that of results.
    const bool half = node.type == TensorType::kFloat16 || node.type == TensorType::kBfloat16;
    const double tolerance = ToleranceOf(node.type) * (half && way == Way::kThroughIr ? 2 : 1);
    for (const auto& [key, value] : outputs) {
      const Tensor& got = value.tensor();
      ASSERT_EQ(got.dtype(), node.type) << key;
      ASSERT_EQ(got.shape(), expected.shapes.at(key)) << key;
      const std::vector<double>& want = expected.values.at(key);
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(ElementOf(got, i), want[i], tolerance * std::max(1.0, std::abs(want[i]))) << key << " at " << i;
      }
    }
  }
  EXPECT_LE(grown, seeds.count / 20 + 1);
  EXPECT_GE(converted, seeds.count / 2);
}

TEST(RecurrentRandom, Onnx) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kOnnx);
  CheckRandom<kernels::Gru>("GRU", Form::kOnnx);
  CheckRandom<kernels::Rnn>("RNN", Form::kOnnx);
}
TEST(RecurrentRandom, Sequences) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kSequence);
  CheckRandom<kernels::Gru>("GRU", Form::kSequence);
  CheckRandom<kernels::Rnn>("RNN", Form::kSequence);
}
TEST(RecurrentRandom, Cells) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kCell);
  CheckRandom<kernels::Gru>("GRU", Form::kCell);
  CheckRandom<kernels::Rnn>("RNN", Form::kCell);
}

TEST(RecurrentRandom, OnnxThroughIrAndBack) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kOnnx, Way::kThroughIr);
  CheckRandom<kernels::Gru>("GRU", Form::kOnnx, Way::kThroughIr);
  CheckRandom<kernels::Rnn>("RNN", Form::kOnnx, Way::kThroughIr);
}
TEST(RecurrentRandom, SequencesThroughOnnx) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kSequence, Way::kThroughOnnx);
  CheckRandom<kernels::Gru>("GRU", Form::kSequence, Way::kThroughOnnx);
  CheckRandom<kernels::Rnn>("RNN", Form::kSequence, Way::kThroughOnnx);
}
TEST(RecurrentRandom, CellsThroughOnnx) {
  CheckRandom<kernels::Lstm>("LSTM", Form::kCell, Way::kThroughOnnx);
  CheckRandom<kernels::Gru>("GRU", Form::kCell, Way::kThroughOnnx);
  CheckRandom<kernels::Rnn>("RNN", Form::kCell, Way::kThroughOnnx);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
