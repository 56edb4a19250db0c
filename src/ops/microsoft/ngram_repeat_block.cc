// SPDX-License-Identifier: Apache-2.0
// NGramRepeatBlock: scores [B,V] of the next token, -inf for those that would end an n-gram which input_ids [B,L] holds
// already.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.NGramRepeatBlock
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

int64_t NGramSize(const NodeAttributes& attrs) {
  const int64_t size = attrs.Int("ngram_size");
  if (size < 1) FailAttribute("ngram_size", fmt::format("is {}, must be 1 or more", size));
  return size;
}

void Run(RunContext& ctx) {
  const int64_t n = NGramSize(ctx.attrs());
  const Tensor ids = ctx.tensor(0);
  Tensor scores = ctx.TakeInput(1).tensor();
  scores.Unshare();
  CheckRank(ctx, 0, 2);
  if (scores.rank() != 2 || scores.dim(0) != ids.dim(0))
    ctx.FailInput(1, fmt::format("must be [{},tokens], got {}", ids.dim(0), scores.shape().ToString()));
  const int64_t length = ids.dim(1), tokens = scores.dim(1);
  for (int64_t b = 0; b < ids.dim(0); ++b) {
    const int64_t* const row = ids.View<int64_t>().data() + b * length;
    float* const to = scores.MutableView<float>().data() + b * tokens;
    for (int64_t i = 0; i + n <= length; ++i) {
      if (!std::equal(row + i, row + i + n - 1, row + length - n + 1)) continue;
      const int64_t token = row[i + n - 1];
      if (token < 0 || token >= tokens) ctx.FailInput(0, fmt::format("token {} is not in [0, {}]", token, tokens - 1));
      to[token] = -std::numeric_limits<float>::infinity();
    }
  }
  ctx.SetOutput(0, std::move(scores));
}

void ShapeRule(InferScope& scope) {
  NGramSize(scope.attrs());
  OptimShape scores = scope.InputShape(1);
  const OptimShape& ids = scope.InputShape(0);
  if (!scores.IsUnknown() && !ids.IsUnknown() && scores.Rank() == 2 && ids.Rank() == 2)
    scores[0] =
        scope.Unify(scores[0], ids[0], "the rows of " + scope.InputSubject(1), "those of " + scope.InputSubject(0));
  scope.SetTensor(0, TensorType::kFloat, std::move(scores));
}

constexpr TypeSet kTokens{TensorType::kInt64};

}  // namespace

std::span<const OpDef> ngram_repeat_block_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "NGramRepeatBlock",
       .since_version = 1,
       .inputs = {{"input_ids", kTokens, "Tid"}, {"scores", kFloat32, "T"}},
       .outputs = {{"scores_out", kFloat32, "T"}},
       .attributes = {{"ngram_size", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
