// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The same choices for the same seed.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // In [low, high].
  int Int(int low, int high) { return low + static_cast<int>(engine_() % static_cast<uint64_t>(high - low + 1)); }
  bool OneIn(int n) { return Int(1, n) == 1; }
  template <class T>
  const T& Of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Int(0, static_cast<int>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
