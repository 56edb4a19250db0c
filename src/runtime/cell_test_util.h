// SPDX-License-Identifier: Apache-2.0
// Sessions with passes and without, for tests of cells.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {

inline Session Loaded(const std::string& graph, bool optimize) {
  SessionOptions options;
  options.threads = 1;
  options.optimize = optimize;
  return FromText(graph, options);
}

inline Tensor Random(std::mt19937& random, std::initializer_list<int64_t> dims) {
  Tensor tensor(TensorType::kFloat, Shape(dims));
  for (float& number : tensor.MutableView<float>())
    number = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500;
  return tensor;
}

inline void ExpectNear(const ValueMap& got, const ValueMap& wanted) {
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

}  // namespace ONNX_LIGHT_NAMESPACE
