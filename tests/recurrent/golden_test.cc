// SPDX-License-Identifier: Apache-2.0
// The cases of tests/data/{lstm,gru,rnn}/golden.txt as models, in float and double, with weights that are constants and
// weights that are fed.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/recurrent/golden_test_util.h"
#include "recurrent_model.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::GoldenArray;
using kernels::GoldenCase;

template <class T>
Tensor TensorOf(const GoldenArray& array) {
  Tensor tensor(kTensorTypeOf<T>, Shape(array.dims));
  std::transform(array.values.begin(), array.values.end(), tensor.MutableView<T>().begin(),
                 [](double value) { return static_cast<T>(value); });
  return tensor;
}

template <class T>
ValueMap RunCase(const GoldenCase& golden, std::string op_type, bool constant_weights) {
  const bool onnx = golden.is_onnx();
  if (!onnx) op_type += "Sequence";
  RecurrentModel model(op_type, 14);
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, array] : golden.arrays) {
    inputs[name] = name == "lens" ? TensorOf<int32_t>(array) : TensorOf<T>(array);
  }
  if (!onnx && !inputs.contains("lens")) {  // a sequence always has lengths
    const auto& x = golden.Array("X").dims;
    inputs["lens"] =
        Tensor::Of<int32_t>(Shape{x[0]}, std::vector<int32_t>(static_cast<size_t>(x[0]), static_cast<int32_t>(x[1])));
  }
  const auto word = [&](const char* key) {
    const auto found = golden.words.find(key);
    return found == golden.words.end() ? std::string() : found->second;
  };
  model.SetInt("hidden_size", golden.Dim("R", 2));
  model.SetString("direction", word("direction"));
  if (word("clip") != "0.0") model.SetFloat("clip", std::stof(word("clip")));
  for (const char* flag : {"input_forget", "linear_before_reset"}) {
    if (word(flag) == "1") model.SetInt(flag, 1);
  }
  if (onnx && word("layout") == "1") model.SetInt("layout", 1);
  if (!onnx && !word("format").empty()) model.SetString("weights_format", word("format"));
  model.SetActivations(golden.activations, golden.name.find("defaults") == std::string::npos);
  return model.Run(inputs, constant_weights);
}

template <class T>
void RunGolden(double tolerance) {
  for (const auto& [kind, op_type, count] :
       {std::tuple{"lstm", "LSTM", 26u}, {"gru", "GRU", 18u}, {"rnn", "RNN", 12u}}) {
    const std::vector<GoldenCase> cases = kernels::ReadGolden(kind);
    ASSERT_EQ(cases.size(), count);
    for (const GoldenCase& golden : cases) {
      for (const bool constant_weights : {true, false}) {
        SCOPED_TRACE(std::string(kind) + " " + golden.name + (constant_weights ? ", constant" : ", fed") + " weights");
        const ValueMap outputs = RunCase<T>(golden, op_type, constant_weights);
        ASSERT_EQ(outputs.size(), kind == std::string("lstm") ? 3u : 2u);
        for (const auto& [name, value] : outputs) {
          const GoldenArray& expected = golden.Array(name);
          ASSERT_EQ(value.tensor().shape(), Shape(expected.dims)) << name;
          for (size_t i = 0; i < expected.values.size(); ++i) {
            ASSERT_NEAR(value.tensor().template View<T>()[i], expected.values[i],
                        tolerance * std::max(1.0, std::abs(expected.values[i])))
                << name << " at " << i;
          }
        }
      }
    }
  }
}

// Sums of some 20 terms of size 1 in a handful of steps; the doubles of the file have 15 digits or so.
TEST(RecurrentGolden, Float) { RunGolden<float>(1e-5); }
TEST(RecurrentGolden, Double) { RunGolden<double>(1e-12); }

// A file that exercised one attribute twice the same way would hide that the attribute is ignored.
TEST(RecurrentGolden, CasesDiffer) {
  for (const char* kind : {"lstm", "gru", "rnn"}) {
    std::map<std::vector<double>, std::string> seen;
    for (const GoldenCase& golden : kernels::ReadGolden(kind)) {
      const auto [at, fresh] = seen.emplace(golden.Array("Y").values, golden.name);
      EXPECT_TRUE(fresh) << golden.name << " equals " << at->second;
    }
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
