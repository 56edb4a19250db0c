// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/attention_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Adds `filter` where the mask of batch entry b hides a key from query i.
class MaskReader {
 public:
  MaskReader(const RunContext& ctx, int input, int64_t batch, int64_t queries, int64_t keys)
      : mask_(AsType(ctx.tensor(input), TensorType::kInt32)), batch_(batch), queries_(queries), keys_(keys) {
    const Shape& shape = mask_.shape();
    if (shape == Shape{batch} || shape == Shape{2 * batch}) return;
    if (shape != Shape{batch, keys} && shape != Shape{batch, queries, keys})
      ctx.FailInput(input, fmt::format("must be [{}], [{}], [{},{}] or [{},{},{}], got {}", batch, 2 * batch, batch,
                                       keys, batch, queries, keys, shape.ToString()));
  }

  bool Sees(int64_t b, int64_t i, int64_t key) const {
    const std::span<const int32_t> mask = mask_.View<int32_t>();
    const auto at = [&](int64_t place) { return mask[static_cast<size_t>(place)]; };
    if (mask_.rank() == 3) return at((b * queries_ + i) * keys_ + key) > 0;
    if (mask_.rank() == 2) return at(b * keys_ + key) > 0;
    return key < at(b) && (mask_.dim(0) == batch_ || key >= at(batch_ + b));
  }

 private:
  Tensor mask_;
  int64_t batch_, queries_, keys_;
};

}  // namespace

std::string MergedAttentionText(const NodeProto& node, int64_t opset, int past, int bias) {
  const bool has_past = HasInput(node, past), present = HasOutput(node, 1);
  std::string text;
  if (has_past)
    text += R"(  first = Constant <value: tensor = int64 {0}> ()
  second = Constant <value: tensor = int64 {1}> ()
  past_key = Gather <axis: int = 0> (past, first)
  past_value = Gather <axis: int = 0> (past, second)
)";
  text +=
      fmt::format(R"(  output{} = com.microsoft.MultiHeadAttention <num_heads: int = @num_heads, scale: float = @scale,
    mask_filter_value: float = @mask_filter_value, unidirectional: int = @unidirectional>
    (q, k, v, "", mask_index, {}, {}, {})
)",
                  present ? ", present_key, present_value" : "", bias >= 0 ? "attention_bias" : "\"\"",
                  has_past ? "past_key" : "\"\"", has_past ? "past_value" : "\"\"");
  if (!present) return text;
  const bool as_input = opset >= 13;
  if (as_input) text += "  axis = Constant <value_ints: ints = [0]> ()\n";
  for (const std::string_view part : {"key", "value"})
    text += fmt::format("  one_{} = Unsqueeze {}(present_{}{})\n", part, as_input ? "" : "<axes: ints = [0]> ", part,
                        as_input ? ", axis" : "");
  return text + "  present = Concat <axis: int = 0> (one_key, one_value)\n";
}

int64_t PastLength(const RunContext& ctx, int past, const HeadsOf& now) {
  if (!ctx.HasInput(past)) return 0;
  const Shape& shape = ctx.tensor(past).shape();
  if (shape.rank() != 4 || shape[0] != now.batch || shape[1] != now.heads || shape[3] != now.dim)
    ctx.FailInput(past,
                  fmt::format("must be [{},{},past,{}], got {}", now.batch, now.heads, now.dim, shape.ToString()));
  return shape[2];
}

HeadsOf Cached(const RunContext& ctx, int past, const HeadsOf& now, std::span<const int64_t> starts, int64_t length) {
  HeadsOf all = AsAxis(Tensor(TensorType::kFloat, Shape{now.batch, now.heads, length, now.dim}));
  // There may be many heads although they are empty.
  if (all.data.NumElements() == 0) return all;
  const Tensor before = ctx.HasInput(past) ? AsType(ctx.tensor(past), TensorType::kFloat) : Tensor();
  const int64_t held = before.defined() ? before.dim(2) : 0;
  float* to = all.data.MutableView<float>().data();
  const float* const from = now.data.View<float>().data() + now.offset;
  for (int64_t b = 0; b < now.batch; ++b) {
    const int64_t start = starts[static_cast<size_t>(b)], kept = std::min(held, start);
    const int64_t count = std::min(now.length, length - start);
    for (int64_t h = 0; h < now.heads; ++h) {
      if (kept > 0)
        to = std::copy_n(before.View<float>().data() + (b * now.heads + h) * held * now.dim, kept * now.dim, to);
      to = std::fill_n(to, (start - kept) * now.dim, 0.0f);
      for (int64_t i = 0; i < count; ++i)
        to = std::copy_n(from + b * now.batch_stride + h * now.head_stride + i * now.row_stride, now.dim, to);
      to = std::fill_n(to, (length - start - count) * now.dim, 0.0f);
    }
  }
  return all;
}

Tensor Attend(RunContext& ctx, const AttentionJob& job, const Tensor& bias) {
  const HeadsOf &q = job.q, &k = job.k, &v = job.v;
  Tensor y(TensorType::kFloat, Shape{q.batch, q.length, q.heads * v.dim});
  // The scores of nothing may be more than memory holds.
  if (y.NumElements() == 0) return y;
  kernels::AttentionArgs<float> args =
      AttentionArgsOf<float>(job, {y.MutableView<float>().data(), q.length * q.heads * v.dim, v.dim, q.heads * v.dim});
  if (bias.defined()) {
    args.bias = bias.View<float>().data();
    args.mask_length = k.length;
    args.mask_batch = bias.dim(1) * q.length * k.length;
    args.mask_head = bias.dim(1) != 1 ? q.length * k.length : 0;
    args.mask_row = k.length;
    args.mask_column = 1;
  }
  Attend(ctx, args);
  return y;
}

Tensor ScoreBias(const RunContext& ctx, int mask, int bias, const HeadsOf& q, const HeadsOf& k, float filter) {
  const bool has_mask = mask >= 0 && ctx.HasInput(mask), has_bias = bias >= 0 && ctx.HasInput(bias);
  if (!has_mask && !has_bias) return {};
  const int64_t queries = q.length, keys = k.length;
  Tensor given;
  if (has_bias) {
    given = AsType(ctx.tensor(bias), TensorType::kFloat);
    const Shape& shape = given.shape();
    if (shape.rank() != 4 || (shape[0] != 1 && shape[0] != q.batch) || (shape[1] != 1 && shape[1] != q.heads) ||
        shape[2] != queries || shape[3] != keys)
      ctx.FailInput(bias, fmt::format("must be [1 or {},1 or {},{},{}], got {}", q.batch, q.heads, queries, keys,
                                      shape.ToString()));
  }
  const int64_t heads = has_bias ? given.dim(1) : 1;
  Tensor all(TensorType::kFloat, Shape{q.batch, heads, queries, keys});
  float* to = all.MutableView<float>().data();
  const std::optional<MaskReader> reader =
      has_mask ? std::optional<MaskReader>(std::in_place, ctx, mask, q.batch, queries, keys) : std::nullopt;
  const float* const added = has_bias ? given.View<float>().data() : nullptr;
  if (all.NumElements() == 0) return all;
  for (int64_t b = 0; b < q.batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t first = has_bias ? ((given.dim(0) == 1 ? 0 : b) * heads + h) * queries * keys : 0;
      for (int64_t i = 0; i < queries; ++i) {
        for (int64_t key = 0; key < keys; ++key) {
          const float value = reader && !reader->Sees(b, i, key) ? filter : 0;
          *to++ = value + (has_bias ? added[first + i * keys + key] : 0);
        }
      }
    }
  }
  return all;
}

}  // namespace ONNX_LIGHT_NAMESPACE
