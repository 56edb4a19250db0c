// SPDX-License-Identifier: Apache-2.0
// What the attention operators of com.microsoft share besides nn/attention_job.h: masks and caches. Computed in float.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/microsoft/microsoft_op.h"
#include "ops/nn/attention_job.h"

namespace ONNX_LIGHT_NAMESPACE {

// For bodies
// ----------------------------------------------------------------------------------------------------------------------

// MultiHeadAttention of q, k and v with the caller's attributes and its inputs `mask_index`, `past` (at input
// `past`; its keys and values are one tensor [2,..]) and `attention_bias` (unless `bias` is -1), as `output` and
// `present`.
std::string MergedAttentionText(const NodeProto& node, int64_t opset, int past, int bias);

// Running
// ----------------------------------------------------------------------------------------------------------------------

// The length of the cache in input `past`, [batch, heads, past, dim] as `now`; 0 when it is absent. InvalidArgument
// about the input for another shape.
int64_t PastLength(const RunContext& ctx, int past, const HeadsOf& now);
// The cache [batch, heads, length, dim]: in batch entry b what input `past` holds before position starts[b], then `now`
// as far as there is room; zeros where neither is. PastLength has checked the input.
HeadsOf Cached(const RunContext& ctx, int past, const HeadsOf& now, std::span<const int64_t> starts, int64_t length);

// Floats [batch, q.length, heads * v.dim] of a job of floats. `bias` is added to the scores: undefined, or floats
// [batch, 1 or heads, q.length, k.length].
Tensor Attend(RunContext& ctx, const AttentionJob& job, const Tensor& bias);

// What masks add to the scores: `filter` where input `mask` hides a key, the elements of input `bias`, which broadcast;
// either may be absent (-1 or not given). The mask is [batch] lengths, [2 batch] ends then starts, [batch, keys] or
// [batch, queries, keys]. Undefined when there is neither.
Tensor ScoreBias(const RunContext& ctx, int mask, int bias, const HeadsOf& q, const HeadsOf& k, float filter);

}  // namespace ONNX_LIGHT_NAMESPACE
