// SPDX-License-Identifier: Apache-2.0
// What RandomUniformLike and RandomNormalLike share: a tensor of the input's dims, of type `dtype` (default: the
// input's), filled with numbers drawn anew in each run, or always the same ones when the attribute `seed` is given.
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

// Fills output 0 with draw(bits, fn_data), one call per element.
void RunRandomLike(RunContext& ctx, double (*draw)(RandomBits&, const void*), const void* data);
void RandomLikeShape(InferScope& scope);
OpDef RandomLikeOp(std::string_view type, std::string_view first, std::string_view second, void (*run)(RunContext&));

}  // namespace ONNX_LIGHT_NAMESPACE
