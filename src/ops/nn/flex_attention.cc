// SPDX-License-Identifier: Apache-2.0
// FlexAttention (ai.onnx.preview): prob_mod(softmax(score_mod(scale Q K^T))) V by batch entry and head, where query
// heads share key heads in groups and the two graphs, which may be absent, see all scores at once, [N,heads,L,S].
// Computed in float (double where softmax_precision or an input says so) and rounded to softmax_precision where a graph
// sees it. A row that score_mod makes -infinity throughout gives NaN, as the formula does.
// https://onnx.ai/onnx/operators/onnx_aionnxpreview_FlexAttention.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/softmax/softmax.h"
#include "ops/as_type.h"
#include "ops/control/body_values.h"
#include "ops/math/matmul_op.h"
#include "ops/nn/softmax_precision.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kQ = 0, kK = 1, kV = 2;
constexpr std::string_view kScoreMod = "score_mod", kProbMod = "prob_mod";

// The element type that the graphs see, for inputs of `type`.
TensorType ReadPrecision(const NodeAttributes& attrs, TensorType type) {
  return ReadSoftmaxPrecision(attrs).value_or(type == TensorType::kDouble ? type : TensorType::kFloat);
}

// Running -----------------------------------------------------------------------------------------

struct Sizes {
  int64_t batch = 0, q_heads = 0, kv_heads = 0, queries = 0, keys = 0, dim = 0, v_dim = 0;
};

Sizes ReadSizes(const RunContext& ctx) {
  for (const int i : {kQ, kK, kV}) CheckRank(ctx, i, 4);
  const Tensor &q = ctx.tensor(kQ), &k = ctx.tensor(kK), &v = ctx.tensor(kV);
  const Sizes sizes{q.dim(0), q.dim(1), k.dim(1), q.dim(2), k.dim(2), q.dim(3), v.dim(3)};
  if (k.dim(0) != sizes.batch || k.dim(3) != sizes.dim || sizes.kv_heads == 0 || sizes.q_heads % sizes.kv_heads != 0)
    ctx.FailInput(kK, fmt::format("{} batch entries and {} heads of {} do not go with {} and {} heads of {} of the "
                                  "queries",
                                  k.dim(0), k.dim(1), k.dim(3), sizes.batch, sizes.q_heads, sizes.dim));
  if (v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1) || v.dim(2) != k.dim(2))
    ctx.FailInput(kV, fmt::format("{} batch entries, {} heads and {} positions are not the {}, {} and {} of the keys",
                                  v.dim(0), v.dim(1), v.dim(2), k.dim(0), k.dim(1), k.dim(2)));
  return sizes;
}

// What the graph in attribute `name` makes of `scores`; they themselves when it is not there.
Tensor Modified(RunContext& ctx, std::string_view name, Tensor scores, TensorType precision) {
  if (!ctx.attrs().Has(name)) return scores;
  const TensorType computed = scores.dtype();
  const Shape shape = scores.shape();
  Value seen = AsType(scores, precision), given;
  scores = Tensor();  // the graph may work in place
  ctx.Body(name).Run({&seen, 1}, {&given, 1});
  const std::string expected = fmt::format("{}{}", onnx_optim::ToTypeString(precision), shape.ToString());
  if (!given.IsTensor() || given.tensor().dtype() != precision || given.tensor().shape() != shape)
    ctx.Fail(fmt::format("attribute '{}'", name), fmt::format("must give {}, gave {}", expected, given.TypeString()));
  return AsType(given.tensor(), computed);
}

template <class T>
void Scale(Tensor& t, float scale) {
  t.Unshare();
  for (T& value : t.MutableView<T>()) value *= static_cast<T>(scale);
}

template <class T>
void SoftmaxRows(RunContext& ctx, Tensor& t) {
  const int64_t n = t.dim(3);
  if (t.NumElements() == 0) return;
  t.Unshare();
  T* const data = t.MutableView<T>().data();
  // An exponential costs about ten additions.
  ctx.ParallelFor(t.NumElements() / n, std::max<int64_t>(1, kElementGrain / 8 / n), [&](int64_t begin, int64_t end) {
    kernels::SoftmaxRows(data + begin * n, data + begin * n, end - begin, n, false);
  });
}

void Run(RunContext& ctx) {
  const Sizes sizes = ReadSizes(ctx);
  const TensorType type = ctx.tensor(kQ).dtype(), precision = ReadPrecision(ctx.attrs(), type);
  const bool is_double = type == TensorType::kDouble || precision == TensorType::kDouble;
  const TensorType computed = is_double ? TensorType::kDouble : TensorType::kFloat;
  Tensor y(computed, Shape{sizes.batch, sizes.q_heads, sizes.queries, sizes.v_dim});
  // There may be many heads although they are empty.
  if (y.NumElements() == 0) return ctx.SetOutput(0, AsType(y, type));
  Tensor q = AsType(ctx.tensor(kQ), computed);
  const Tensor k = AsType(ctx.tensor(kK), computed), v = AsType(ctx.tensor(kV), computed);
  const float scale = ctx.attrs().Float("scale", 1 / std::sqrt(static_cast<float>(sizes.dim)));
  is_double ? Scale<double>(q, scale) : Scale<float>(q, scale);

  MatrixProduct products{.m = sizes.queries, .n = sizes.keys, .k = sizes.dim, .transpose_b = true};
  MatrixProduct sums{.m = sizes.queries, .n = sizes.v_dim, .k = sizes.keys};
  products.batch = sums.batch = sizes.batch * sizes.q_heads;
  const int64_t group = sizes.q_heads / sizes.kv_heads;
  for (int64_t pair = 0; pair < products.batch; ++pair) {
    const int64_t kv = pair / group;  // batch entries have whole groups
    products.a_offsets.push_back(pair * sizes.queries * sizes.dim);
    products.b_offsets.push_back(kv * sizes.keys * sizes.dim);
    products.c_offsets.push_back(pair * sizes.queries * sizes.keys);
    sums.a_offsets.push_back(pair * sizes.queries * sizes.keys);
    sums.b_offsets.push_back(kv * sizes.keys * sizes.v_dim);
    sums.c_offsets.push_back(pair * sizes.queries * sizes.v_dim);
  }
  Tensor scores(computed, Shape{sizes.batch, sizes.q_heads, sizes.queries, sizes.keys});
  Multiply(ctx, products, q, k, scores);
  scores = Modified(ctx, kScoreMod, std::move(scores), precision);
  is_double ? SoftmaxRows<double>(ctx, scores) : SoftmaxRows<float>(ctx, scores);
  scores = Modified(ctx, kProbMod, std::move(scores), precision);
  Multiply(ctx, sums, scores, v, y);
  ctx.SetOutput(0, AsType(y, type));
}

// Shapes ------------------------------------------------------------------------------------------

// The graph in attribute `name` gives what it takes.
void InferModifier(InferScope& scope, std::string_view name, const ShapeValue& scores) {
  if (!scope.attrs().Has(name)) return;
  const GraphProto& graph = CheckBody(scope.node(), name, 1, 1);
  const ShapeValue given = scope.InferBody(graph, {&scores, 1})[0];
  const bool other_type = given.IsTensor() && given.Dtype() != scores.Dtype() &&
                          given.Dtype() != TensorType::kUndefined && scores.Dtype() != TensorType::kUndefined;
  const bool other_rank = given.HasRank() && given.Shape().Rank() != scores.Shape().Rank();
  if ((!given.IsTensor() && !given.IsUnknown()) || other_type || other_rank)
    scope.Fail(fmt::format("attribute '{}'", name),
               fmt::format("must give {}, gives {}", scores.ToString(), given.ToString()));
  if (!given.HasRank()) return;
  for (size_t axis = 0; axis < given.Shape().Rank(); ++axis)
    (void)scope.Unify(scores.Shape()[axis], given.Shape()[axis], fmt::format("dim {} of the scores", axis),
                      fmt::format("dim {} of what attribute '{}' gives", axis, name));
}

void ShapeRule(InferScope& scope) {
  UnifiedSize batch, q_heads, kv_heads, queries, keys, dim, v_dim;
  if (const OptimShape* const q = RankedInput(scope, kQ, 4)) {
    batch.Add(scope, *q, kQ, 0);
    q_heads.Add(scope, *q, kQ, 1);
    queries.Add(scope, *q, kQ, 2);
    dim.Add(scope, *q, kQ, 3);
  }
  for (const int i : {kK, kV}) {
    const OptimShape* const shape = RankedInput(scope, i, 4);
    if (shape == nullptr) continue;
    batch.Add(scope, *shape, i, 0);
    kv_heads.Add(scope, *shape, i, 1);
    keys.Add(scope, *shape, i, 2);
    (i == kK ? dim : v_dim).Add(scope, *shape, i, 3);
  }
  const OptimDim n = batch.Get(scope, "N"), heads = q_heads.Get(scope, "H"), length = queries.Get(scope, "L");
  const TensorType type = scope.InputType(kQ);
  // Where the type is not known, only the attribute tells what the graphs see.
  const TensorType precision = type == TensorType::kUndefined && !scope.attrs().Has("softmax_precision")
                                   ? type
                                   : ReadPrecision(scope.attrs(), type);
  const ShapeValue scores = ShapeValue::Tensor(precision, OptimShape{n, heads, length, keys.Get(scope, "S")});
  InferModifier(scope, kScoreMod, scores);
  InferModifier(scope, kProbMod, scores);
  scope.SetTensor(0, type, OptimShape{n, heads, length, v_dim.Get(scope, "D")});
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  for (const std::string_view name : {kScoreMod, kProbMod})
    if (ctx.attrs().Has(name)) CheckBody(ctx.node(), name, 1, 1);
  return nullptr;
}

}  // namespace

std::span<const OpDef> flex_attention_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.preview",
       .type = "FlexAttention",
       .since_version = 1,
       .inputs = {{"Q", kFloatTypes, "T1"}, {"K", kFloatTypes, "T1"}, {"V", kFloatTypes, "T1"}},
       .outputs = {{"Y", kFloatTypes, "T1"}},
       .attributes = {{kProbMod, AttrKind::kGraph},
                      {"scale", AttrKind::kFloat},
                      {kScoreMod, AttrKind::kGraph},
                      {"softmax_precision", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
