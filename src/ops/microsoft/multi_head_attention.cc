// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention: softmax(scale Q K^T + masks) V by batch entry and head. Queries [B,S,N*H]; keys and values the
// same, or [B,N,L,H] as an encoder leaves them; keys and values packed in `key` [B,L,N,2,H], or all in `query`
// [B,S,N,3,H]. The bias is added to each before. Computed in float. cache_indirection, past_sequence_length and the
// output `qk` are not supported.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MultiHeadAttention
#include <fmt/format.h>

#include "ops/as_type.h"
#include "ops/microsoft/attention_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum Input : uint8_t { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastKey, kPastValue };

int64_t HeadCount(const NodeAttributes& attrs) {
  const int64_t heads = attrs.Int("num_heads");
  if (heads < 1) FailAttribute("num_heads", fmt::format("is {}, must be 1 or more", heads));
  return heads;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  HeadCount(ctx.attrs());
  RefuseInput(ctx.node(), 8, "past_sequence_length");
  RefuseInput(ctx.node(), 9, "cache_indirection");
  RefuseOutput(ctx.node(), 3, "qk");
  return nullptr;
}

// Part `part` of `parts` that lie between heads and size, [batch, length, heads, parts, size].
HeadsOf Unpacked(const RunContext& ctx, int i, int64_t heads, int64_t parts, int64_t part) {
  const Tensor t = AsType(ctx.tensor(i), TensorType::kFloat);
  if (t.dim(2) != heads || t.dim(3) != parts)
    ctx.FailInput(i, fmt::format("must be [batch,length,{},{},size], got {}", heads, parts, t.shape().ToString()));
  const int64_t dim = t.dim(4), length = t.dim(1), row = heads * parts * dim;
  return {t, t.dim(0), heads, length, dim, length * row, parts * dim, row, part * dim};
}

HeadsOf Separate(const RunContext& ctx, int i, int64_t heads) {
  const Tensor t = AsType(ctx.tensor(i), TensorType::kFloat);
  if (t.rank() == 4 && i != kQuery) {
    if (t.dim(1) != heads) ctx.FailInput(i, fmt::format("must have {} heads, got {}", heads, t.shape().ToString()));
    return AsAxis(t);
  }
  if (t.rank() != 3)
    ctx.FailInput(i, fmt::format("must have rank {}, got {}", i == kQuery ? "3 or 5" : "3 or 4", t.shape().ToString()));
  if (t.dim(2) % heads != 0) ctx.FailInput(i, fmt::format("{} elements are not those of {} heads", t.dim(2), heads));
  return SideBySide(t, heads, t.dim(2) / heads);
}

struct Parts {
  HeadsOf q, k, v;
};
Parts ReadParts(const RunContext& ctx, int64_t heads) {
  if (ctx.tensor(kQuery).rank() == 5) {
    if (ctx.HasInput(kKey)) ctx.FailInput(kKey, "does not go with a packed query");
    return {Unpacked(ctx, kQuery, heads, 3, 0), Unpacked(ctx, kQuery, heads, 3, 1), Unpacked(ctx, kQuery, heads, 3, 2)};
  }
  if (!ctx.HasInput(kKey)) ctx.Fail("input 1 'key'", "is needed unless the query is packed");
  HeadsOf q = Separate(ctx, kQuery, heads);
  if (ctx.tensor(kKey).rank() == 5) return {q, Unpacked(ctx, kKey, heads, 2, 0), Unpacked(ctx, kKey, heads, 2, 1)};
  if (!ctx.HasInput(kValue)) ctx.Fail("input 2 'value'", "is needed unless the key is packed");
  return {q, Separate(ctx, kKey, heads), Separate(ctx, kValue, heads)};
}

// The same, dense, plus bias[first + h * dim + d].
HeadsOf PlusBias(const HeadsOf& from, std::span<const float> bias, int64_t first) {
  HeadsOf to = SideBySide(Tensor(TensorType::kFloat, Shape{from.batch, from.length, from.heads * from.dim}), from.heads,
                          from.dim);
  if (to.data.NumElements() == 0) return to;
  float* y = to.data.MutableView<float>().data();
  const float* const x = from.data.View<float>().data() + from.offset;
  for (int64_t b = 0; b < from.batch; ++b) {
    for (int64_t i = 0; i < from.length; ++i) {
      for (int64_t h = 0; h < from.heads; ++h) {
        const float* const row = x + b * from.batch_stride + h * from.head_stride + i * from.row_stride;
        const float* const add = bias.data() + first + h * from.dim;
        for (int64_t d = 0; d < from.dim; ++d) *y++ = row[d] + add[d];
      }
    }
  }
  return to;
}

void AddBias(const RunContext& ctx, Parts& parts) {
  const Tensor bias = AsType(ctx.tensor(kBias), TensorType::kFloat);
  const int64_t q = parts.q.heads * parts.q.dim, v = parts.v.heads * parts.v.dim;
  if (bias.shape() != Shape{2 * q + v})
    ctx.FailInput(kBias, fmt::format("must be [{}], got {}", 2 * q + v, bias.shape().ToString()));
  const std::span<const float> values = bias.View<float>();
  parts.q = PlusBias(parts.q, values, 0);
  parts.k = PlusBias(parts.k, values, q);
  parts.v = PlusBias(parts.v, values, 2 * q);
}

void Run(RunContext& ctx) {
  Parts parts = ReadParts(ctx, HeadCount(ctx.attrs()));
  if (parts.k.batch != parts.q.batch || parts.k.dim != parts.q.dim)
    ctx.FailInput(kKey, fmt::format("{} batch entries and heads of {} do not go with {} and {} of the query",
                                    parts.k.batch, parts.k.dim, parts.q.batch, parts.q.dim));
  if (parts.v.batch != parts.k.batch || parts.v.length != parts.k.length)
    ctx.FailInput(kValue, fmt::format("{} batch entries and {} positions are not the {} and {} of the keys",
                                      parts.v.batch, parts.v.length, parts.k.batch, parts.k.length));
  if (ctx.HasInput(kPastKey) != ctx.HasInput(kPastValue))
    ctx.Fail({}, "past_key and past_value must be given together");
  if (ctx.HasInput(kBias)) AddBias(ctx, parts);
  AttentionJob job;
  job.q = parts.q;
  const bool cached = ctx.HasInput(kPastKey) || ctx.HasOutput(1) || ctx.HasOutput(2);
  const int64_t past = PastLength(ctx, kPastKey, parts.k), length = past + parts.k.length;
  if (const int64_t values = PastLength(ctx, kPastValue, parts.v); values != past)
    ctx.FailInput(kPastValue, fmt::format("makes {} positions, the keys have {}", values + parts.v.length, length));
  job.offsets.assign(static_cast<size_t>(job.q.batch), past);
  job.k = cached ? Cached(ctx, kPastKey, parts.k, job.offsets, length) : parts.k;
  job.v = cached ? Cached(ctx, kPastValue, parts.v, job.offsets, length) : parts.v;
  const Tensor bias =
      ScoreBias(ctx, kMask, kAttentionBias, job.q, job.k, ctx.attrs().Float("mask_filter_value", -10000));
  if (ctx.attrs().Int("unidirectional", 0) != 0) job.right = 0;
  if (const float scale = ctx.attrs().Float("scale", 0); scale != 0) job.scale = scale;
  const TensorType type = ctx.tensor(kQuery).dtype();
  ctx.SetOutput(0, AsType(Attend(ctx, job, bias), type));
  if (ctx.HasOutput(1)) ctx.SetOutput(1, AsType(job.k.data, type));
  if (ctx.HasOutput(2)) ctx.SetOutput(2, AsType(job.v.data, type));
}

// [batch, length, dim] of the keys or values, fresh where not known.
struct Sizes {
  OptimDim batch, length, dim;
};
Sizes SizesOf(InferScope& scope, int i, int64_t heads) {
  const OptimShape& shape = scope.InputShape(i);
  const size_t rank = shape.IsUnknown() ? 0 : shape.Rank();
  switch (rank) {
    case 3:
      return {shape[0], shape[1], FloorDiv(shape[2], heads)};
    case 4:
      return {shape[0], shape[2], shape[3]};
    case 5:
      return {shape[0], shape[1], shape[4]};
    default:
      return {scope.Fresh(), scope.Fresh(), scope.Fresh()};
  }
}

void ShapeRule(InferScope& scope) {
  const int64_t heads = HeadCount(scope.attrs());
  for (const int i : {kQuery, kKey, kValue}) {
    const OptimShape& shape = scope.InputShape(i);
    if (!shape.IsUnknown() && (shape.Rank() < 3 || shape.Rank() > 5 || (i == kValue && shape.Rank() == 5)))
      scope.Fail(scope.InputSubject(i),
                 fmt::format("must have rank 3, 4 or 5, got {}", InferScope::Describe(scope.Input(i))));
  }
  const Sizes q = SizesOf(scope, kQuery, heads);
  const int key = scope.HasInput(kKey) ? kKey : kQuery, value = scope.HasInput(kValue) ? kValue : key;
  const Sizes k = SizesOf(scope, key, heads), v = SizesOf(scope, value, heads);
  const TensorType type = scope.InputType(kQuery);
  const OptimShape& given = scope.InputShape(value);
  const bool side_by_side = !given.IsUnknown() && given.Rank() == 3;
  scope.SetTensor(0, type, {q.batch, q.length, side_by_side ? given[2] : v.dim * heads});
  OptimDim past = 0;
  if (scope.HasInput(kPastKey)) {
    const OptimShape& cache = scope.InputShape(kPastKey);
    past = cache.IsUnknown() || cache.Rank() != 4 ? scope.Fresh() : cache[2];
  }
  scope.SetTensor(1, type, {q.batch, OptimDim(heads), past + k.length, k.dim});
  scope.SetTensor(2, type, {q.batch, OptimDim(heads), past + k.length, v.dim});
}

}  // namespace

std::span<const OpDef> multi_head_attention_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "MultiHeadAttention",
       .since_version = 1,
       .inputs = {{"query", kFloatOrHalf, "T"},
                  Optional("key", kFloatOrHalf, "T"),
                  Optional("value", kFloatOrHalf, "T"),
                  Optional("bias", kFloatOrHalf, "T"),
                  Optional("key_padding_mask", kInt32, "M"),
                  Optional("attention_bias", kFloatOrHalf, "T"),
                  Optional("past_key", kFloatOrHalf, "T"),
                  Optional("past_value", kFloatOrHalf, "T"),
                  Optional("past_sequence_length", kInt32, "M"),
                  Optional("cache_indirection", kInt32, "M")},
       .outputs = {{"output", kFloatOrHalf, "T"},
                   Optional("present_key", kFloatOrHalf, "T"),
                   Optional("present_value", kFloatOrHalf, "T"),
                   Optional("qk", kFloatOrHalf, "QK")},
       .attributes = {{"mask_filter_value", AttrKind::kFloat},
                      {"num_heads", AttrKind::kInt, true},
                      {"scale", AttrKind::kFloat},
                      {"unidirectional", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
