// SPDX-License-Identifier: Apache-2.0
// What the attention operators of com.microsoft share: heads that lie in tensors of several layouts, masks, caches, and
// one way to kernels/attention. Computed in float.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// For bodies
// ----------------------------------------------------------------------------------------------------------------------

// MultiHeadAttention of q, k and v with the caller's attributes and its inputs `mask_index`, `past` (at input
// `past`; its keys and values are one tensor [2,..]) and `attention_bias` (unless `bias` is -1), as `output` and
// `present`.
std::string MergedAttentionText(const NodeProto& node, int64_t opset, int past, int bias);

// Running
// ----------------------------------------------------------------------------------------------------------------------

// Vectors of `dim` floats for each batch entry, head and position; strides in elements, from `offset` on.
struct HeadsOf {
  Tensor data;
  int64_t batch = 0, heads = 0, length = 0, dim = 0;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0, offset = 0;
};
// Heads side by side in the last axis of [batch, length, heads * dim], beginning `first` elements in.
HeadsOf SideBySide(Tensor data, int64_t heads, int64_t dim, int64_t first = 0);
// An axis of their own: [batch, heads, length, dim].
HeadsOf AsAxis(Tensor data);
// The length of the cache in input `past`, [batch, heads, past, dim] as `now`; 0 when it is absent. InvalidArgument
// about the input for another shape.
int64_t PastLength(const RunContext& ctx, int past, const HeadsOf& now);
// The cache [batch, heads, length, dim]: in batch entry b what input `past` holds before position starts[b], then `now`
// as far as there is room; zeros where neither is. PastLength has checked the input.
HeadsOf Cached(const RunContext& ctx, int past, const HeadsOf& now, std::span<const int64_t> starts, int64_t length);

struct AttentionJob {
  HeadsOf q, k, v;
  Tensor bias;                   // added to the scores: undefined, or floats [batch, 1 or heads, q.length, k.length]
  std::vector<int64_t> offsets;  // [batch]: where query 0 stands among the keys
  std::vector<int64_t> valid;    // [batch]: keys from here on are not seen; empty = all are
  int64_t left = std::numeric_limits<int64_t>::max(), right = std::numeric_limits<int64_t>::max();
  float scale = 0;  // 0: 1 / sqrt(dim)
  float softcap = 0;
};
// Floats [batch, q.length, heads * v.dim].
Tensor Attend(RunContext& ctx, const AttentionJob& job);

// What masks add to the scores: `filter` where input `mask` hides a key, the elements of input `bias`, which broadcast;
// either may be absent (-1 or not given). The mask is [batch] lengths, [2 batch] ends then starts, [batch, keys] or
// [batch, queries, keys]. Undefined when there is neither.
Tensor ScoreBias(const RunContext& ctx, int mask, int bias, const HeadsOf& q, const HeadsOf& k, float filter);

}  // namespace ONNX_LIGHT_NAMESPACE
