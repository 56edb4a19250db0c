// SPDX-License-Identifier: Apache-2.0
// LinearAttention: attention without a softmax, whose keys and values so far are one matrix S for each key head,
// updated at each step: S = exp(decay) S + k (x) u, where u is the value, or with the delta rule beta (v - S^T k), and
// the output is scale q^T S. Heads lie side by side in the last axis. Halves are computed in float; present_state has
// the type of past_state, without which that of the query. chunk_size changes nothing.
// https://onnx.ai/onnx/operators/onnx__LinearAttention.html
#include "kernels/linear_attention/linear_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kQuery = 0, kKey = 1, kValue = 2, kPast = 3, kDecay = 4, kBeta = 5;

struct Attributes {
  int64_t q_heads = 0, kv_heads = 0;
  bool gated = false, delta = false;
  float scale = 0;  // 0: 1 / sqrt(key dim)
};

Attributes ReadAttributes(const NodeAttributes& attrs) {
  Attributes read;
  read.q_heads = attrs.Int("q_num_heads");
  read.kv_heads = attrs.Int("kv_num_heads");
  read.scale = attrs.Float("scale", 0);
  if (read.kv_heads < 1) FailAttribute("kv_num_heads", fmt::format("is {}, must be 1 or more", read.kv_heads));
  if (read.q_heads < 1 || read.q_heads % read.kv_heads != 0)
    FailAttribute("q_num_heads",
                  fmt::format("is {}, must be a positive multiple of the {} key heads", read.q_heads, read.kv_heads));
  const std::string rule = attrs.String("update_rule", "gated_delta");
  read.gated = rule == "gated" || rule == "gated_delta";
  read.delta = rule == "delta" || rule == "gated_delta";
  if (!read.gated && !read.delta && rule != "linear")
    FailAttribute("update_rule", fmt::format("is \"{}\", must be linear, gated, delta or gated_delta", rule));
  return read;
}

// Of a RunContext or an InferScope: decay and beta are there exactly where the update rule uses them. `fail` is called
// with the input and the fact.
template <class Context, class Fail>
void CheckPresence(const Context& ctx, const Attributes& attributes, const Fail& fail) {
  const std::pair<int, bool> uses[] = {{kDecay, attributes.gated}, {kBeta, attributes.delta}};
  for (const auto& [i, used] : uses)
    if (ctx.HasInput(i) != used) fail(i, used ? "is required by the update rule" : "is not used by the update rule");
}

// Running -----------------------------------------------------------------------------------------

// The elements of one head, those of a step being input i's last axis.
int64_t HeadDim(const RunContext& ctx, int i, int64_t heads) {
  const int64_t size = ctx.tensor(i).dim(2);
  if (size % heads != 0) ctx.FailInput(i, fmt::format("{} elements are not those of {} heads", size, heads));
  return size / heads;
}

// An input of one step after another, as float; its last axis has `size` elements, or `other`.
Tensor ReadSteps(const RunContext& ctx, int i, int64_t size, int64_t other) {
  CheckRank(ctx, i, 3);
  const Tensor &t = ctx.tensor(i), &query = ctx.tensor(kQuery);
  if (t.dim(0) != query.dim(0) || t.dim(1) != query.dim(1) || (t.dim(2) != size && t.dim(2) != other))
    ctx.FailInput(i, fmt::format("must be [{},{},{}]{}, got {}", query.dim(0), query.dim(1), size,
                                 size == other ? "" : fmt::format(" or have a last dim of {}", other), t.TypeString()));
  return AsType(t, TensorType::kFloat);
}

void Run(RunContext& ctx) {
  const Attributes attributes = ReadAttributes(ctx.attrs());
  CheckPresence(ctx, attributes, [&](int i, std::string fact) { ctx.FailInput(i, std::move(fact)); });
  for (const int i : {kQuery, kKey, kValue}) CheckRank(ctx, i, 3);
  kernels::LinearAttentionArgs args;
  args.batch = ctx.tensor(kQuery).dim(0);
  args.steps = ctx.tensor(kQuery).dim(1);
  args.q_heads = attributes.q_heads;
  args.kv_heads = attributes.kv_heads;
  args.key_dim = HeadDim(ctx, kQuery, args.q_heads);
  args.value_dim = HeadDim(ctx, kValue, args.kv_heads);
  const int64_t keys = args.kv_heads * args.key_dim, values = args.kv_heads * args.value_dim;
  const Tensor q = AsType(ctx.tensor(kQuery), TensorType::kFloat);
  const Tensor k = ReadSteps(ctx, kKey, keys, keys), v = ReadSteps(ctx, kValue, values, values);
  Tensor decay, beta, state(TensorType::kFloat, Shape{args.batch, args.kv_heads, args.key_dim, args.value_dim});
  args.q = q.View<float>().data();
  args.k = k.View<float>().data();
  args.v = v.View<float>().data();
  if (attributes.gated) {
    decay = ReadSteps(ctx, kDecay, keys, args.kv_heads);
    args.decay = decay.View<float>().data();
    args.decay_by_key = decay.dim(2) != args.kv_heads;
  }
  if (attributes.delta) {
    beta = ReadSteps(ctx, kBeta, args.kv_heads, 1);
    args.beta = beta.View<float>().data();
    args.beta_by_head = beta.dim(2) == args.kv_heads;
  }
  const std::span<float> states = state.MutableView<float>();
  if (ctx.HasInput(kPast)) {
    if (ctx.tensor(kPast).shape() != state.shape())
      ctx.FailInput(kPast, fmt::format("must be {}, got {}", state.shape().ToString(), ctx.tensor(kPast).TypeString()));
    const Tensor past = AsType(ctx.tensor(kPast), TensorType::kFloat);
    std::ranges::copy(past.View<float>(), states.begin());
  } else {
    std::ranges::fill(states, 0.0f);
  }
  args.scale = attributes.scale != 0 ? attributes.scale : 1 / std::sqrt(static_cast<float>(args.key_dim));
  // Heads of no elements may be any number of them.
  const std::optional<int64_t> outputs = CheckedMul(args.q_heads, args.value_dim);
  if (!outputs)
    FailAttribute("q_num_heads", fmt::format("is {}, too many for values of {}", args.q_heads, args.value_dim));
  Tensor y(TensorType::kFloat, Shape{args.batch, args.steps, *outputs});
  args.y = y.MutableView<float>().data();
  args.state = states.data();
  const double work = static_cast<double>(args.steps * args.key_dim) * static_cast<double>(args.value_dim) *
                      static_cast<double>(4 + args.q_heads / args.kv_heads);
  const int64_t pairs = y.NumElements() + state.NumElements() == 0 ? 0 : args.batch * args.kv_heads;
  ctx.ParallelFor(pairs, std::max<int64_t>(1, static_cast<int64_t>(kElementGrain / std::max(1.0, work))),
                  [&](int64_t begin, int64_t end) { kernels::LinearAttend(args, begin, end); });
  const TensorType type = ctx.tensor(kQuery).dtype();
  ctx.SetOutput(0, AsType(y, type));
  ctx.SetOutput(1, AsType(state, ctx.HasInput(kPast) ? ctx.tensor(kPast).dtype() : type));
}

// Shapes ------------------------------------------------------------------------------------------

void ShapeRule(InferScope& scope) {
  const Attributes attributes = ReadAttributes(scope.attrs());
  CheckPresence(scope, attributes,
                [&](int i, std::string fact) { scope.Fail(scope.InputSubject(i), std::move(fact)); });
  UnifiedSize batch, steps, key_dim, value_dim;
  const auto read = [&](int i, int rank) {
    const OptimShape* const shape = RankedInput(scope, i, rank);
    if (shape == nullptr) return shape;
    batch.Add(scope, *shape, i, 0);
    if (rank == 3) steps.Add(scope, *shape, i, 1);
    return shape;
  };
  const auto read_heads = [&](int i, int64_t heads, UnifiedSize& size) {
    const OptimShape* const shape = read(i, 3);
    if (shape == nullptr) return;
    const OptimDim& dim = (*shape)[2];
    if (dim.IsInt() && dim.AsInt() % heads != 0)
      scope.Fail(scope.InputSubject(i), fmt::format("{} elements are not those of {} heads", dim.AsInt(), heads));
    size.Add(scope, FloorDiv(dim, OptimDim(heads)), fmt::format("{} / {}", DimSubject(scope, i, 2), heads));
  };
  read_heads(kQuery, attributes.q_heads, key_dim);
  read_heads(kKey, attributes.kv_heads, key_dim);
  read_heads(kValue, attributes.kv_heads, value_dim);
  (void)read(kDecay, 3);
  (void)read(kBeta, 3);
  if (const OptimShape* const past = read(kPast, 4)) {
    (void)scope.Unify((*past)[1], OptimDim(attributes.kv_heads), DimSubject(scope, kPast, 1),
                      "attribute 'kv_num_heads'");
    key_dim.Add(scope, *past, kPast, 2);
    value_dim.Add(scope, *past, kPast, 3);
  }
  const OptimDim n = batch.Get(scope, "B"), values = value_dim.Get(scope, "D");
  const TensorType type = scope.InputType(kQuery);
  scope.SetTensor(0, type, OptimShape{n, steps.Get(scope, "T"), OptimDim(attributes.q_heads) * values});
  scope.SetTensor(1, scope.HasInput(kPast) ? scope.InputType(kPast) : type,
                  OptimShape{n, OptimDim(attributes.kv_heads), key_dim.Get(scope, "K"), values});
}

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16};
Formal Optional(std::string_view name, std::string_view type_var) {
  return {.name = name, .types = kTypes, .type_var = type_var, .count = FormalCount::kOptional};
}

}  // namespace

std::span<const OpDef> linear_attention_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "LinearAttention",
       .since_version = 27,
       .inputs = {{"query", kTypes, "T"},
                  {"key", kTypes, "T"},
                  {"value", kTypes, "T"},
                  Optional("past_state", "S"),
                  Optional("decay", "T"),
                  Optional("beta", "T")},
       .outputs = {{"output", kTypes, "T"}, {"present_state", kTypes, "S"}},
       .attributes = {{"chunk_size", AttrKind::kInt},
                      {"kv_num_heads", AttrKind::kInt, true},
                      {"q_num_heads", AttrKind::kInt, true},
                      {"scale", AttrKind::kFloat},
                      {"update_rule", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
