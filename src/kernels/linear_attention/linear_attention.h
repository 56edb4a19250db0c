// SPDX-License-Identifier: Apache-2.0
// linear_attention: attention whose keys and values are kept as one matrix for each head, updated step by step, instead
// of all kept apart.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// All tensors are dense, steps before heads: the heads of one step lie side by side.
struct LinearAttentionArgs {
  int64_t batch = 0, steps = 0;
  int64_t q_heads = 0, kv_heads = 0;  // q_heads is a multiple of kv_heads
  int64_t key_dim = 0, value_dim = 0;
  const float* q = nullptr;  // [batch, steps, q_heads, key_dim]
  const float* k = nullptr;  // [batch, steps, kv_heads, key_dim]
  const float* v = nullptr;  // [batch, steps, kv_heads, value_dim]
  // Logarithms of what the state keeps: [batch, steps, kv_heads, key_dim], or without the last axis; null = all of it.
  const float* decay = nullptr;
  bool decay_by_key = false;
  // How far what the state holds for a key goes towards the value: [batch, steps, kv_heads], or without the last axis.
  // Null: the value is added to what is there.
  const float* beta = nullptr;
  bool beta_by_head = false;
  float scale = 1;         // of the output
  float* state = nullptr;  // [batch, kv_heads, key_dim, value_dim], updated in place
  float* y = nullptr;      // [batch, steps, q_heads, value_dim]
};

// All steps of the pairs [begin, end) of batch entry and key head, b * kv_heads + h. Returns early, results unfinished,
// once the run is to end (base/stop_token.h). Thread safe for distinct pairs; throws std::bad_alloc.
void LinearAttend(const LinearAttentionArgs& args, int64_t begin, int64_t end);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
