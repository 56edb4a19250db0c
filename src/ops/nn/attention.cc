// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(scale Q K^T + bias) V by batch entry and head, with caches, masks and windows; heads are an axis,
// or in rank 3 lie side by side in the last one. Computed in float, or double where an input is or softmax_precision
// says so, and rounded once to the type of the inputs: halves come out more exact than from the operator's function
// body, which rounds after each step. A query that sees no key gives zeros.
// https://onnx.ai/onnx/operators/onnx__Attention.html
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "kernels/strided/strided_copy.h"
#include "ops/as_type.h"
#include "ops/nn/attention_job.h"
#include "ops/nn/softmax_precision.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

HeadsOf ReadHeads(const RunContext& ctx, int i, Tensor t, std::string_view heads_attribute) {
  if (t.rank() == 4) return AsAxis(std::move(t));
  if (t.rank() != 3) ctx.FailInput(i, fmt::format("must have rank 3 or 4, got {}", t.TypeString()));
  const int64_t n = ctx.attrs().Int(heads_attribute);
  if (n < 1) ctx.Fail(fmt::format("attribute '{}'", heads_attribute), fmt::format("is {}, must be 1 or more", n));
  const int64_t width = t.dim(2);
  if (width % n != 0) ctx.FailInput(i, fmt::format("{} elements are not those of {} heads", width, n));
  return SideBySide(std::move(t), n, width / n);
}

// The cache as [batch, heads, past + length, dim], dense: what was there and what came.
HeadsOf Appended(const RunContext& ctx, int past_input, const HeadsOf& heads) {
  const Tensor& now = heads.data;
  int64_t past = 0;
  Tensor before;
  if (ctx.HasInput(past_input)) {
    before = AsType(ctx.tensor(past_input), now.dtype());
    if (before.rank() != 4 || before.dim(0) != heads.batch || before.dim(1) != heads.heads ||
        before.dim(3) != heads.dim)
      ctx.FailInput(past_input, fmt::format("must be [{},{},past,{}], got {}", heads.batch, heads.heads, heads.dim,
                                            before.TypeString()));
    past = before.dim(2);
  }
  const int64_t total = past + heads.length;
  Tensor all(now.dtype(), Shape{heads.batch, heads.heads, total, heads.dim});
  const size_t size = onnx_optim::BytesOf(now.dtype());
  auto* const to = static_cast<std::byte*>(all.mutable_data());
  const auto copy = [&](const Tensor& from, int64_t batch_stride, int64_t head_stride, int64_t row_stride, int64_t rows,
                        int64_t first) {
    if (rows * heads.dim == 0) return;
    for (int64_t b = 0; b < heads.batch; ++b) {
      for (int64_t h = 0; h < heads.heads; ++h) {
        const int64_t source = b * batch_stride + h * head_stride;
        const int64_t target = ((b * heads.heads + h) * total + first) * heads.dim;
        const int64_t dims[] = {rows, heads.dim}, strides[] = {row_stride, 1};
        kernels::StridedCopy(static_cast<const std::byte*>(from.data()) + static_cast<size_t>(source) * size,
                             to + static_cast<size_t>(target) * size, dims, strides, size, 0, rows * heads.dim);
      }
    }
  };
  if (past > 0) copy(before, heads.heads * past * heads.dim, past * heads.dim, heads.dim, past, 0);
  copy(now, heads.batch_stride, heads.head_stride, heads.row_stride, heads.length, past);
  return AsAxis(std::move(all));
}

struct Job : AttentionJob {
  TensorType computed;
  Tensor mask;
};

int64_t WindowSide(const RunContext& ctx, std::string_view attribute) {
  const int64_t size = ctx.attrs().Int(attribute, -1);
  if (size < -1) ctx.Fail(fmt::format("attribute '{}'", attribute), fmt::format("is {}, must be -1 or more", size));
  return size == -1 ? std::numeric_limits<int64_t>::max() : size;
}

Job ReadJob(const RunContext& ctx) {
  const auto is_double = [&](int i) { return ctx.tensor(i).dtype() == TensorType::kDouble; };
  Job job;
  const bool precise = ReadSoftmaxPrecision(ctx.attrs()) == TensorType::kDouble;
  job.computed = precise || is_double(0) || is_double(2) ? TensorType::kDouble : TensorType::kFloat;
  job.q = ReadHeads(ctx, 0, AsType(ctx.tensor(0), job.computed), "q_num_heads");
  job.k = ReadHeads(ctx, 1, AsType(ctx.tensor(1), job.computed), "kv_num_heads");
  job.v = ReadHeads(ctx, 2, AsType(ctx.tensor(2), job.computed), "kv_num_heads");
  const HeadsOf &q = job.q, &k = job.k, &v = job.v;
  if (k.batch != q.batch || k.dim != q.dim || k.heads == 0 || q.heads % k.heads != 0)
    ctx.FailInput(1,
                  fmt::format("{} batch entries and {} heads of {} do not go with {} and {} heads of {} of the queries",
                              k.batch, k.heads, k.dim, q.batch, q.heads, q.dim));
  if (v.batch != k.batch || v.heads != k.heads || v.length != k.length)
    ctx.FailInput(2, fmt::format("{} batch entries, {} heads and {} positions are not the {}, {} and {} of the keys",
                                 v.batch, v.heads, v.length, k.batch, k.heads, k.length));
  const bool has_past = ctx.HasInput(4);
  if (has_past != ctx.HasInput(5)) ctx.Fail({}, "past_key and past_value must be given together");
  int64_t past = 0;
  if (has_past || ctx.HasOutput(1) || ctx.HasOutput(2)) {
    past = has_past && ctx.tensor(4).rank() == 4 ? ctx.tensor(4).dim(2) : 0;
    job.k = Appended(ctx, 4, job.k);
    job.v = Appended(ctx, 5, job.v);
    if (k.length != v.length) ctx.FailInput(5, fmt::format("makes {} positions, the keys have {}", v.length, k.length));
  }
  job.offsets.assign(static_cast<size_t>(q.batch), past);
  if (ctx.HasInput(6)) {
    if (has_past) ctx.FailInput(6, "does not go with past_key and past_value");
    job.valid = ReadInts(ctx, 6);
    if (static_cast<int64_t>(job.valid.size()) != q.batch)
      ctx.FailInput(6, fmt::format("has {} entries for {} batch entries", job.valid.size(), q.batch));
    for (size_t b = 0; b < job.valid.size(); ++b) {
      if (job.valid[b] < 0 || job.valid[b] > k.length)
        ctx.FailInput(6, fmt::format("element {} is {}, not in [0, {}]", b, job.valid[b], k.length));
      job.offsets[b] = job.valid[b] - q.length;
    }
  }
  if (ctx.attrs().Has("scale")) job.scale = ctx.attrs().Float("scale", 1);
  job.softcap = ctx.attrs().Float("softcap", 0);
  job.left = WindowSide(ctx, "left_window_size");
  job.right = WindowSide(ctx, "right_window_size");
  if (ctx.attrs().Int("is_causal", 0) != 0) job.right = 0;
  if (ctx.HasInput(3)) {
    job.mask = ctx.tensor(3);
    if (job.mask.dtype() != TensorType::kBool) job.mask = AsType(job.mask, job.computed);
  }
  return job;
}

template <class T>
void TakeMask(const RunContext& ctx, const Tensor& mask, kernels::AttentionArgs<T>& args) {
  const int64_t full[] = {args.batch, args.q_heads, args.q_length, args.kv_length};
  int64_t* const strides[] = {&args.mask_batch, &args.mask_head, &args.mask_row, &args.mask_column};
  const std::vector<int64_t> dense = DenseStrides(mask.shape().dims());
  bool fits = mask.rank() >= 1 && mask.rank() <= 4;
  for (int d = 0; d < mask.rank() && fits; ++d) {
    const int axis = 4 - mask.rank() + d;
    const int64_t dim = mask.dim(d);
    // The last axis does not broadcast: a shorter one hides the keys beyond it.
    fits = dim == full[axis] || (axis == 3 ? dim < full[axis] : dim == 1);
    if (axis == 3 || dim != 1) *strides[axis] = dense[static_cast<size_t>(d)];
    if (axis == 3) args.mask_length = dim;
  }
  if (!fits)
    ctx.FailInput(3, fmt::format("shape {} does not broadcast to [{},{},{},{}]", mask.shape().ToString(), full[0],
                                 full[1], full[2], full[3]));
  if (mask.dtype() == TensorType::kBool) {
    args.seen = mask.View<bool>().data();
  } else {
    args.bias = mask.View<T>().data();
  }
}

template <class T>
void RunTyped(RunContext& ctx, const Job& job) {
  const HeadsOf &q = job.q, &k = job.k, &v = job.v;
  const bool side_by_side = ctx.tensor(0).rank() == 3;
  Tensor y(job.computed,
           side_by_side ? Shape{q.batch, q.length, q.heads * v.dim} : Shape{q.batch, q.heads, q.length, v.dim});
  T* const to = y.MutableView<T>().data();
  kernels::AttentionArgs<T> args = AttentionArgsOf<T>(
      job, side_by_side ? kernels::HeadView<T>{to, q.length * q.heads * v.dim, v.dim, q.heads * v.dim}
                        : kernels::HeadView<T>{to, q.heads * q.length * v.dim, q.length * v.dim, v.dim});
  if (job.mask.defined()) TakeMask(ctx, job.mask, args);
  Tensor scores;
  const int64_t mode = ctx.attrs().Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    ctx.Fail("attribute 'qk_matmul_output_mode'", fmt::format("is {}, must be in [0, 3]", mode));
  if (ctx.HasOutput(3)) {
    scores = Tensor(job.computed, Shape{q.batch, q.heads, q.length, k.length});
    args.scores = scores.MutableView<T>().data();
    args.stage = static_cast<kernels::ScoreStage>(mode);
  }
  // Without outputs the scores may still be more than memory holds, and heads any number.
  if (y.NumElements() > 0 || (scores.defined() && scores.NumElements() > 0)) Attend(ctx, args);
  const TensorType type = ctx.tensor(0).dtype(), value_type = ctx.tensor(2).dtype();
  ctx.SetOutput(0, AsType(y, type));
  if (ctx.HasOutput(1)) ctx.SetOutput(1, AsType(job.k.data, type));
  if (ctx.HasOutput(2)) ctx.SetOutput(2, AsType(job.v.data, value_type));
  if (scores.defined()) ctx.SetOutput(3, AsType(scores, type));
}

void Run(RunContext& ctx) {
  const Job job = ReadJob(ctx);
  job.computed == TensorType::kDouble ? RunTyped<double>(ctx, job) : RunTyped<float>(ctx, job);
}

// [batch, heads, length, dim] of input i, fresh where not known; nothing for an unknown rank.
std::optional<OptimShape> InferHeads(InferScope& scope, int i, std::string_view heads_attribute) {
  const OptimShape& shape = scope.InputShape(i);
  if (shape.IsUnknown()) return std::nullopt;
  if (shape.Rank() == 4) return shape;
  if (shape.Rank() != 3)
    scope.Fail(scope.InputSubject(i),
               fmt::format("must have rank 3 or 4, got {}", InferScope::Describe(scope.Input(i))));
  const int64_t heads = scope.attrs().Int(heads_attribute);
  if (heads < 1)
    scope.Fail(fmt::format("attribute '{}'", heads_attribute), fmt::format("is {}, must be 1 or more", heads));
  return OptimShape{shape[0], OptimDim(heads), shape[1], FloorDiv(shape[2], heads)};
}

void ShapeRule(InferScope& scope) {
  const std::optional<OptimShape> q = InferHeads(scope, 0, "q_num_heads"), k = InferHeads(scope, 1, "kv_num_heads"),
                                  v = InferHeads(scope, 2, "kv_num_heads");
  const TensorType type = scope.InputType(0), value_type = scope.InputType(2);
  const OptimDim batch = q ? (*q)[0] : scope.Fresh(), heads = q ? (*q)[1] : scope.Fresh();
  const OptimDim length = q ? (*q)[2] : scope.Fresh(), v_dim = v ? (*v)[3] : scope.Fresh();
  if (!q) {
    scope.SetTensor(0, type, OptimShape::Unknown());
  } else if (scope.InputShape(0).Rank() == 3) {
    scope.SetTensor(0, type, OptimShape{batch, length, v ? heads * v_dim : scope.Fresh()});
  } else {
    scope.SetTensor(0, type, OptimShape{batch, heads, length, v_dim});
  }
  OptimDim past = 0;
  if (scope.HasInput(4))
    past = scope.InputShape(4).IsUnknown() || scope.InputShape(4).Rank() != 4 ? scope.Fresh() : scope.InputShape(4)[2];
  const OptimDim total = k ? past + (*k)[2] : scope.Fresh();
  const OptimDim kv_heads = k ? (*k)[1] : scope.Fresh();
  scope.SetTensor(1, type, OptimShape{batch, kv_heads, total, k ? (*k)[3] : scope.Fresh()});
  scope.SetTensor(2, value_type, OptimShape{batch, kv_heads, total, v_dim});
  scope.SetTensor(3, type, OptimShape{batch, heads, length, total});
}

constexpr TypeSet kMaskTypes = kNumericTypes | kBoolType;
Formal Optional(std::string_view name, TypeSet types, std::string_view type_var) {
  return {.name = name, .types = types, .type_var = type_var, .count = FormalCount::kOptional};
}
OpDef VersionOf(int since) {
  OpDef op{.domain = "",
           .type = "Attention",
           .since_version = since,
           .inputs = {{"Q", kFloatTypes, "T1"},
                      {"K", kFloatTypes, "T1"},
                      {"V", kFloatTypes, "T2"},
                      Optional("attn_mask", kMaskTypes, {}),
                      Optional("past_key", kFloatTypes, "T1"),
                      Optional("past_value", kFloatTypes, "T2")},
           .outputs = {{"Y", kFloatTypes, "T1"},
                       Optional("present_key", kFloatTypes, "T1"),
                       Optional("present_value", kFloatTypes, "T2"),
                       Optional("qk_matmul_output", kFloatTypes, "T1")},
           .attributes = {{"is_causal", AttrKind::kInt},
                          {"kv_num_heads", AttrKind::kInt},
                          {"q_num_heads", AttrKind::kInt},
                          {"qk_matmul_output_mode", AttrKind::kInt},
                          {"scale", AttrKind::kFloat},
                          {"softcap", AttrKind::kFloat},
                          {"softmax_precision", AttrKind::kInt}},
           .shape = ShapeRule,
           .run = Run};
  if (since >= 24) op.inputs.push_back(Optional("nonpad_kv_seqlen", {TensorType::kInt64}, {}));
  if (since >= 25) {
    op.attributes.push_back({"left_window_size", AttrKind::kInt});
    op.attributes.push_back({"right_window_size", AttrKind::kInt});
  }
  return op;
}

}  // namespace

std::span<const OpDef> attention_ops() {
  static const OpDef ops[] = {VersionOf(23), VersionOf(24), VersionOf(25)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
