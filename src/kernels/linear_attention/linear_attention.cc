// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_attention/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stop_token.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// to[m] += factor * from[m]: the one loop all of this is made of, along rows of the state.
void AddScaled(float* to, const float* from, float factor, int64_t n) {
  for (int64_t m = 0; m < n; ++m) to[m] += factor * from[m];
}

// One step of key head h: `state` is its own, `update` has value_dim places.
void Step(const LinearAttentionArgs& args, int64_t b, int64_t h, int64_t t, float* state, float* update) {
  const int64_t keys = args.key_dim, values = args.value_dim, group = args.q_heads / args.kv_heads;
  const int64_t step = b * args.steps + t, head = step * args.kv_heads + h;
  const float* k = args.k + head * keys;
  const float* v = args.v + head * values;
  if (args.decay != nullptr) {
    for (int64_t d = 0; d < keys; ++d) {
      const float kept = std::exp(args.decay[args.decay_by_key ? head * keys + d : head]);
      float* const row = state + d * values;
      for (int64_t m = 0; m < values; ++m) row[m] *= kept;
    }
  }
  std::copy_n(v, values, update);
  if (args.beta != nullptr) {
    for (int64_t d = 0; d < keys; ++d) AddScaled(update, state + d * values, -k[d], values);
    const float beta = args.beta[args.beta_by_head ? head : step];
    for (int64_t m = 0; m < values; ++m) update[m] *= beta;
  }
  for (int64_t d = 0; d < keys; ++d) AddScaled(state + d * values, update, k[d], values);
  for (int64_t i = h * group; i < (h + 1) * group; ++i) {
    const float* q = args.q + (step * args.q_heads + i) * keys;
    float* y = args.y + (step * args.q_heads + i) * values;
    std::fill_n(y, values, 0.0f);
    for (int64_t d = 0; d < keys; ++d) AddScaled(y, state + d * values, q[d], values);
    for (int64_t m = 0; m < values; ++m) y[m] *= args.scale;
  }
}

}  // namespace

void LinearAttend(const LinearAttentionArgs& args, int64_t begin, int64_t end) {
  std::vector<float> update(static_cast<size_t>(args.value_dim));
  for (int64_t pair = begin; pair < end; ++pair) {
    float* const state = args.state + pair * args.key_dim * args.value_dim;
    for (int64_t t = 0; t < args.steps && !StopRequested(); ++t)
      Step(args, pair / args.kv_heads, pair % args.kv_heads, t, state, update.data());
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
