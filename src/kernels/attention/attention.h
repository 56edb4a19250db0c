// SPDX-License-Identifier: Apache-2.0
// attention: softmax(scale Q K^T + bias) V for every batch entry and head. Scores of one head at a time are held in
// memory.
#pragma once

#include <cstdint>
#include <limits>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// A row of `dim` consecutive elements for each batch entry, head and position; strides in elements.
template <class T>
struct HeadView {
  T* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
};

// Which scores the fourth output shows.
enum class ScoreStage : uint8_t { kProduct, kCapped, kBiased, kSoftmax };

template <class T>
struct AttentionArgs {
  int64_t batch = 0, q_heads = 0, kv_heads = 0;  // q_heads is a multiple of kv_heads
  int64_t q_length = 0, kv_length = 0, dim = 0, v_dim = 0;
  HeadView<const T> q, k, v;
  HeadView<T> y;
  T scale = 1;
  T softcap = 0;  // none when 0

  // Query i stands at position i + offsets[b] of the keys and sees those from `left` before it to `right` after it.
  const int64_t* offsets = nullptr;  // [batch]
  int64_t left = std::numeric_limits<int64_t>::max(), right = std::numeric_limits<int64_t>::max();
  const int64_t* valid = nullptr;  // [batch]: keys from here on are not seen; null = all are
  // What is added to the scores of keys below mask_length, or whether they are seen; keys beyond are not. Strides are 0
  // where the mask broadcasts. At most one of the two is there.
  const T* bias = nullptr;
  const bool* seen = nullptr;
  int64_t mask_length = 0, mask_batch = 0, mask_head = 0, mask_row = 0, mask_column = 0;

  T* scores = nullptr;  // [batch, q_heads, q_length, kv_length] or null
  ScoreStage stage = ScoreStage::kProduct;
};

// For pairs [begin, end) of batch entry and query head, b * q_heads + h. A query that sees no key gets zeros. T: float,
// double. Thread safe for distinct pairs; throws std::bad_alloc.
template <class T>
void Attend(const AttentionArgs<T>& args, int64_t begin, int64_t end);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
