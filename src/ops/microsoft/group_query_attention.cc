// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention: causal attention whose groups of query heads share a head of keys and values, over a cache.
// Query [B,S,N*H], key and value [B,S,G*H], or all packed in the query. Batch entry b holds seqlens_k[b] + 1 positions
// with the new ones; those are turned by cos_cache and sin_cache with do_rotary. present has the length of the longer
// of past and total_sequence_length. local_window_size w: a query sees w positions, itself the last. Computed
// in float. Quantised caches, head_sink, smooth_softmax, normalised queries and keys, and output_qk are not supported.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/as_type.h"
#include "ops/microsoft/rotate.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum Input : uint8_t { kQuery, kKey, kValue, kPastKey, kPastValue, kLengths, kTotal, kCos, kSin, kPositions, kBias };

struct HeadCounts {
  int64_t q, kv;
};
HeadCounts CountHeads(const NodeAttributes& attrs) {
  const HeadCounts heads{attrs.Int("num_heads"), attrs.Int("kv_num_heads")};
  if (heads.kv < 1) FailAttribute("kv_num_heads", fmt::format("is {}, must be 1 or more", heads.kv));
  if (heads.q < 1 || heads.q % heads.kv != 0)
    FailAttribute("num_heads", fmt::format("is {}, must be a multiple of {} key heads", heads.q, heads.kv));
  return heads;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeProto& node = ctx.node();
  const NodeAttributes attrs = ctx.attrs();
  CountHeads(attrs);
  constexpr std::array<std::string_view, 6> kRefused{"head_sink",     "k_scale",       "v_scale",
                                                     "q_norm_weight", "k_norm_weight", "query_seqlens"};
  for (size_t i = 0; i < kRefused.size(); ++i) RefuseInput(node, kBias + 1 + static_cast<int>(i), kRefused[i]);
  for (const std::string_view name : {"kv_cache_bit_width", "sliding_window_cache", "qk_output"})
    RefuseAttribute(attrs, name);
  if (attrs.Int("smooth_softmax", 0) > 0) RefuseAttribute(attrs, "smooth_softmax");
  RefuseOutput(node, 3, "output_qk");
  return nullptr;
}

struct Parts {
  HeadsOf q, k, v;
};
Parts ReadParts(const RunContext& ctx, const HeadCounts& heads) {
  const auto read = [&](int i) {
    CheckRank(ctx, i, 3);
    Tensor t = AsType(ctx.tensor(i), TensorType::kFloat);
    t.Unshare();  // turned in place
    return t;
  };
  Tensor q = read(kQuery);
  const int64_t packed = heads.q + (ctx.HasInput(kKey) ? 0 : 2 * heads.kv), width = q.dim(2);
  if (width % packed != 0) ctx.FailInput(kQuery, fmt::format("{} elements are not those of {} heads", width, packed));
  const int64_t dim = width / packed;
  if (!ctx.HasInput(kKey)) {
    return {SideBySide(std::move(q), heads.q, dim), SideBySide(read(kQuery), heads.kv, dim, heads.q * dim),
            SideBySide(read(kQuery), heads.kv, dim, (heads.q + heads.kv) * dim)};
  }
  const auto take = [&](int i) {
    if (!ctx.HasInput(i)) ctx.Fail("input 2 'value'", "is needed with a key");
    const Tensor t = read(i);
    if (t.shape() != Shape{q.dim(0), q.dim(1), heads.kv * dim})
      ctx.FailInput(
          i, fmt::format("must be [{},{},{}], got {}", q.dim(0), q.dim(1), heads.kv * dim, t.shape().ToString()));
    return SideBySide(t, heads.kv, dim);
  };
  HeadsOf k = take(kKey), v = take(kValue);
  return {SideBySide(std::move(q), heads.q, dim), std::move(k), std::move(v)};
}

// Where the new positions of each batch entry begin.
std::vector<int64_t> Starts(const RunContext& ctx, const HeadsOf& q, int64_t total, int64_t length) {
  std::vector<int64_t> starts;
  const Tensor lengths = AsType(ctx.tensor(kLengths), TensorType::kInt64);
  if (lengths.NumElements() != q.batch)
    ctx.FailInput(kLengths, fmt::format("must have {} elements, got {}", q.batch, lengths.NumElements()));
  // All of a prompt is new, the padding behind shorter entries too.
  const bool prompt = q.length == total;
  for (const int64_t last : lengths.View<int64_t>()) {
    const int64_t start = prompt ? 0 : last + 1 - q.length;
    if (last < 0 || last >= length || start < 0)
      ctx.FailInput(kLengths,
                    fmt::format("{} is not the last of at most {} positions with {} new ones", last, length, q.length));
    starts.push_back(start);
  }
  return starts;
}

std::vector<int64_t> Positions(const RunContext& ctx, const HeadsOf& q, const std::vector<int64_t>& starts) {
  std::vector<int64_t> positions(static_cast<size_t>(q.batch * q.length));
  if (ctx.HasInput(kPositions)) {
    const Tensor& given = ctx.tensor(kPositions);
    if (given.shape() != Shape{q.batch, q.length})
      ctx.FailInput(kPositions, fmt::format("must be [{},{}], got {}", q.batch, q.length, given.shape().ToString()));
    std::ranges::copy(given.View<int64_t>(), positions.begin());
    return positions;
  }
  for (int64_t b = 0; b < q.batch; ++b)
    for (int64_t i = 0; i < q.length; ++i)
      positions[static_cast<size_t>(b * q.length + i)] = starts[static_cast<size_t>(b)] + i;
  return positions;
}

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  Parts parts = ReadParts(ctx, CountHeads(attrs));
  const int64_t past = PastLength(ctx, kPastKey, parts.k);
  if (PastLength(ctx, kPastValue, parts.v) != past || ctx.HasInput(kPastKey) != ctx.HasInput(kPastValue))
    ctx.Fail({}, "past_key and past_value must be given together, as long as each other");
  const int64_t total = ReadInt(ctx, kTotal), length = std::max(past, total);
  if (total < parts.q.length)
    ctx.FailInput(kTotal, fmt::format("is {}, less than {} new positions", total, parts.q.length));
  const std::vector<int64_t> starts = Starts(ctx, parts.q, total, length);
  if (attrs.Int("do_rotary", 0) != 0) {
    if (!ctx.HasInput(kCos) || !ctx.HasInput(kSin)) ctx.Fail("attribute 'do_rotary'", "needs cos_cache and sin_cache");
    const Rotation rotation = ReadRotation(ctx, kCos, kSin, parts.q.dim, attrs.Int("rotary_interleaved", 0) != 0);
    const std::vector<int64_t> positions = Positions(ctx, parts.q, starts);
    const std::string subject = ctx.HasInput(kPositions) ? ctx.InputSubject(kPositions) : ctx.InputSubject(kLengths);
    Rotate(ctx, rotation, positions, subject, parts.q);
    Rotate(ctx, rotation, positions, subject, parts.k);
  }
  AttentionJob job;
  job.q = parts.q;
  job.k = Cached(ctx, kPastKey, parts.k, starts, length);
  job.v = Cached(ctx, kPastValue, parts.v, starts, length);
  const Tensor bias = ScoreBias(ctx, -1, kBias, job.q, job.k, 0);
  job.offsets = starts;
  if (attrs.Int("causal", 1) != 0) job.right = 0;
  const int64_t window = attrs.Int("local_window_size", -1);
  if (window > 0) job.left = window - 1;
  if (const float scale = attrs.Float("scale", 0); scale != 0) job.scale = scale;
  job.softcap = attrs.Float("softcap", 0);
  const TensorType type = ctx.tensor(kQuery).dtype();
  ctx.SetOutput(0, AsType(Attend(ctx, job, bias), type));
  ctx.SetOutput(1, AsType(job.k.data, type));
  ctx.SetOutput(2, AsType(job.v.data, type));
}

void ShapeRule(InferScope& scope) {
  const HeadCounts heads = CountHeads(scope.attrs());
  const OptimShape* const given = RankedInput(scope, kQuery, 3);
  const OptimShape q = given != nullptr ? *given : scope.FreshShape(3);
  const TensorType type = scope.InputType(kQuery);
  const int64_t packed = heads.q + (scope.HasInput(kKey) ? 0 : 2 * heads.kv);
  const OptimDim batch = q[0], dim = given != nullptr ? FloorDiv(q[2], packed) : scope.Fresh();
  scope.SetTensor(0, type, {batch, q[1], dim * heads.q});
  OptimDim length = scope.Fresh();
  const std::optional<std::vector<OptimDim>> total = scope.InputValue(kTotal);
  const OptimShape& past = scope.InputShape(kPastKey);
  if (total && total->size() == 1) {
    if (!scope.HasInput(kPastKey)) length = (*total)[0];
    if (!past.IsUnknown() && past.Rank() == 4) length = Max(past[2], (*total)[0]);
  }
  scope.SetTensor(1, type, {batch, OptimDim(heads.kv), length, dim});
  scope.SetTensor(2, type, {batch, OptimDim(heads.kv), length, dim});
}

}  // namespace

std::span<const OpDef> group_query_attention_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "GroupQueryAttention",
       .since_version = 1,
       .inputs = {{"query", kFloatOrHalf, "T"},
                  Optional("key", kFloatOrHalf, "T"),
                  Optional("value", kFloatOrHalf, "T"),
                  Optional("past_key", kFloatOrHalf, "T_CACHE"),
                  Optional("past_value", kFloatOrHalf, "T_CACHE"),
                  {"seqlens_k", kInt32, "M"},
                  {"total_sequence_length", kInt32, "M"},
                  Optional("cos_cache", kFloatOrHalf, "T"),
                  Optional("sin_cache", kFloatOrHalf, "T"),
                  Optional("position_ids", {TensorType::kInt64}),
                  Optional("attention_bias", kFloatOrHalf, "T"),
                  Optional("head_sink", kFloatOrHalf, "T"),
                  Optional("k_scale", kFloat32, "T_KV_SCALE"),
                  Optional("v_scale", kFloat32, "T_KV_SCALE"),
                  Optional("q_norm_weight", kFloatOrHalf, "T"),
                  Optional("k_norm_weight", kFloatOrHalf, "T"),
                  Optional("query_seqlens", kInt32, "M")},
       .outputs = {{"output", kFloatOrHalf, "T"},
                   Optional("present_key", kFloatOrHalf, "T_CACHE"),
                   Optional("present_value", kFloatOrHalf, "T_CACHE"),
                   Optional("output_qk", kFloatOrHalf, "T")},
       .attributes = {{"causal", AttrKind::kInt},
                      {"do_rotary", AttrKind::kInt},
                      {"k_norm_epsilon", AttrKind::kFloat},
                      {"k_quant_type", AttrKind::kString},
                      {"kv_cache_bit_width", AttrKind::kInt},
                      {"kv_num_heads", AttrKind::kInt, true},
                      {"local_window_size", AttrKind::kInt},
                      {"num_heads", AttrKind::kInt, true},
                      {"q_norm_epsilon", AttrKind::kFloat},
                      {"qk_norm_epsilon", AttrKind::kFloat},
                      {"qk_output", AttrKind::kInt},
                      {"rotary_interleaved", AttrKind::kInt},
                      {"scale", AttrKind::kFloat},
                      {"sliding_window_cache", AttrKind::kInt},
                      {"smooth_softmax", AttrKind::kInt},
                      {"softcap", AttrKind::kFloat},
                      {"v_quant_type", AttrKind::kString}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
