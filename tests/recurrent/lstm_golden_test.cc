// SPDX-License-Identifier: Apache-2.0
// The cases of tests/data/lstm/golden.txt as models: LSTM and LSTMSequence in float and double, with weights that are
// constants and weights that are fed.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct GoldenArray {
  std::vector<int64_t> dims;
  std::vector<double> values;
};
struct GoldenActivation {
  std::string name;
  float alpha, beta;
};
struct GoldenCase {
  std::string name;
  std::map<std::string, std::string> words;
  std::vector<GoldenActivation> activations;
  std::map<std::string, GoldenArray> arrays;
};

std::vector<GoldenCase> ReadGolden() {
  std::ifstream file(ONNXSEQ_TEST_DATA "/lstm/golden.txt");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, word;
    words >> key;
    if (key == "case") {
      cases.emplace_back();
      words >> cases.back().name;
    } else if (key == "activation") {
      GoldenActivation activation;
      words >> activation.name >> activation.alpha >> activation.beta;
      cases.back().activations.push_back(activation);
    } else if (line.find(" : ") != std::string::npos) {
      GoldenArray& array = cases.back().arrays[key];
      while (words >> word && word != ":") array.dims.push_back(std::stoll(word));
      while (words >> word) array.values.push_back(std::stod(word));
    } else if (!key.empty() && key != "#" && key != "end") {
      words >> cases.back().words[key];
    }
  }
  return cases;
}

bool Takes(const std::string& name, bool beta) {
  static const std::map<std::string, int> kCounts{{"HardSigmoid", 2}, {"Affine", 2},          {"ScaledTanh", 2},
                                                  {"LeakyRelu", 1},   {"ThresholdedRelu", 1}, {"Elu", 1}};
  const auto found = kCounts.find(name);
  return found != kCounts.end() && found->second > (beta ? 1 : 0);
}

AttributeProto& Attribute(NodeProto& node, const std::string& name, AttributeProto::AttributeType type) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

template <class T>
Tensor TensorOf(const GoldenArray& array) {
  Tensor tensor(kTensorTypeOf<T>, Shape(array.dims));
  std::transform(array.values.begin(), array.values.end(), tensor.MutableView<T>().begin(),
                 [](double value) { return static_cast<T>(value); });
  return tensor;
}

struct Built {
  ModelProto model;
  ValueMap feeds;
};

template <class T>
Built Build(const GoldenCase& golden, bool constant_weights) {
  const bool onnx = golden.words.at("contract") == "onnx";
  const std::vector<std::string> order = onnx ? std::vector<std::string>{"X", "W", "R", "B", "lens", "H0", "C0", "P"}
                                              : std::vector<std::string>{"X", "H0", "C0", "lens", "W", "R", "B", "P"};
  Built built;
  for (const auto& [domain, version] : {std::pair{"", 14}, {"org.openvinotoolkit", 1}}) {
    OperatorSetIdProto& opset = *built.model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  built.model.set_ir_version(8);
  GraphProto& graph = *built.model.mutable_graph();
  graph.set_name("g");
  NodeProto& node = *graph.add_node();
  node.set_op_type(onnx ? "LSTM" : "LSTMSequence");
  if (!onnx) node.set_domain("org.openvinotoolkit");
  for (const std::string& name : order) {
    const auto found = golden.arrays.find(name);
    if (found == golden.arrays.end() && (onnx || name == "P")) {
      node.add_input("");
      continue;
    }
    node.add_input(name);
    Tensor tensor;
    if (found == golden.arrays.end()) {  // LSTMSequence always has lengths
      const auto& x = golden.arrays.at("X").dims;
      tensor =
          Tensor::Of<int32_t>(Shape{x[0]}, std::vector<int32_t>(static_cast<size_t>(x[0]), static_cast<int32_t>(x[1])));
    } else if (name == "lens") {
      tensor = TensorOf<int32_t>(found->second);
    } else {
      tensor = TensorOf<T>(found->second);
    }
    const bool is_weight = name == "W" || name == "R" || name == "B" || name == "P";
    if (is_weight && constant_weights) {
      TensorProto& initializer = *graph.add_initializer();
      initializer.set_name(name);
      initializer.set_data_type(static_cast<int32_t>(tensor.dtype()));
      for (const int64_t dim : tensor.shape()) initializer.add_dims(dim);
      initializer.set_raw_data(Bytes(tensor.data(), tensor.ByteSize()));
    } else {
      ValueInfoProto& input = *graph.add_input();
      input.set_name(name);
      input.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(tensor.dtype()));
      built.feeds[name] = tensor;
    }
  }
  for (const char* name : {"Y", "Yh", "Yc"}) {
    node.add_output(name);
    graph.add_output()->set_name(name);
  }
  const auto hidden = static_cast<int64_t>(golden.arrays.at("R").dims[2]);
  Attribute(node, "hidden_size", AttributeProto::INT).set_i(hidden);
  Attribute(node, "direction", AttributeProto::STRING).set_s(golden.words.at("direction"));
  if (golden.words.at("clip") != "0.0")
    Attribute(node, "clip", AttributeProto::FLOAT).set_f(std::stof(golden.words.at("clip")));
  if (golden.words.at("input_forget") == "1") Attribute(node, "input_forget", AttributeProto::INT).set_i(1);
  if (onnx && golden.words.at("layout") == "1") Attribute(node, "layout", AttributeProto::INT).set_i(1);
  if (!onnx) Attribute(node, "weights_format", AttributeProto::STRING).set_s(golden.words.at("format"));
  AttributeProto& names = Attribute(node, "activations", AttributeProto::STRINGS);
  std::vector<float> alphas, betas;
  for (const GoldenActivation& activation : golden.activations) {
    names.add_strings(activation.name);
    if (golden.name.find("defaults") != std::string::npos) continue;  // alpha and beta are the functions' own
    if (Takes(activation.name, false)) alphas.push_back(activation.alpha);
    if (Takes(activation.name, true)) betas.push_back(activation.beta);
  }
  if (!alphas.empty())
    Attribute(node, onnx ? "activation_alpha" : "activations_alpha", AttributeProto::FLOATS)
        .mutable_floats()
        ->extend(alphas);
  if (!betas.empty())
    Attribute(node, onnx ? "activation_beta" : "activations_beta", AttributeProto::FLOATS)
        .mutable_floats()
        ->extend(betas);
  return built;
}

template <class T>
void RunGolden(double tolerance) {
  const std::vector<GoldenCase> cases = ReadGolden();
  ASSERT_GE(cases.size(), 20u);
  for (const GoldenCase& golden : cases) {
    for (const bool constant_weights : {true, false}) {
      SCOPED_TRACE(golden.name + (constant_weights ? ", constant weights" : ", fed weights"));
      Built built = Build<T>(golden, constant_weights);
      const ValueMap outputs = Session::FromModel(std::move(built.model)).Run(built.feeds);
      for (const char* name : {"Y", "Yh", "Yc"}) {
        const GoldenArray& expected = golden.arrays.at(name);
        const Tensor& got = outputs.at(name).tensor();
        ASSERT_EQ(got.shape(), Shape(expected.dims)) << name;
        for (size_t i = 0; i < expected.values.size(); ++i) {
          ASSERT_NEAR(got.View<T>()[i], expected.values[i], tolerance * std::max(1.0, std::abs(expected.values[i])))
              << name << " at " << i;
        }
      }
    }
  }
}

// Sums of some 20 terms of size 1 in a handful of steps; the doubles of the file have 15 digits or so.
TEST(LstmGolden, Float) { RunGolden<float>(1e-5); }
TEST(LstmGolden, Double) { RunGolden<double>(1e-12); }

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
