// SPDX-License-Identifier: Apache-2.0
// What the random operators share: numbers drawn anew in each run, or always the same ones when the attribute `seed` is
// given.
#pragma once

#include <cstdint>

#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// The generator: SplitMix64, a counter under a mixing function, so that any starting number is as good as another.
class RandomBits {
 public:
  explicit RandomBits(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, 1), 53 bits.
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// From the node's float attribute `seed`, or the session.
RandomBits MakeRandomBits(RunContext& ctx);

// The two distributions: normal with attributes mean and scale, uniform over [low, high).
enum class Distribution : uint8_t { kNormal, kUniform };
// The operator that takes its dims and, without `dtype`, its element type from an input, and the one that has them as
// attributes (dtype float when absent).
OpDef RandomLikeOp(std::string_view type, Distribution distribution);
OpDef RandomOp(std::string_view type, Distribution distribution);

}  // namespace ONNX_LIGHT_NAMESPACE
