// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of com.microsoft: pairs of elements of each head turned by the angle of the position: element i and
// that half on, or neighbours when interleaved. Input [B,S,heads*size] or [B,heads,S,size]; positions [B,S], or that of
// the first element, [1]. Packed batches are not supported.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.RotaryEmbedding
#include <fmt/format.h>

#include "ops/as_type.h"
#include "ops/microsoft/rotate.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kPositions{TensorType::kInt64};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  RefuseAttribute(ctx.attrs(), "is_packed_batching");
  return nullptr;
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  Tensor x = AsType(ctx.tensor(0), TensorType::kFloat);
  x.Unshare();
  if (x.rank() != 3 && x.rank() != 4) ctx.FailInput(0, fmt::format("must have rank 3 or 4, got {}", x.rank()));
  const int64_t turned = ctx.attrs().Int("rotary_embedding_dim", 0);
  int64_t heads = ctx.attrs().Int("num_heads", 0);
  if (x.rank() == 3 && heads == 0) {
    // Then a head is what is turned.
    if (turned > 0) ctx.Fail("attribute 'num_heads'", "is needed with rotary_embedding_dim");
    const int64_t half = ctx.tensor(2).rank() == 2 ? ctx.tensor(2).dim(1) : 0;
    heads = half > 0 && x.dim(2) % (2 * half) == 0 ? x.dim(2) / (2 * half) : 0;
  }
  if (x.rank() == 3 && (heads < 1 || x.dim(2) % heads != 0))
    ctx.FailInput(0, fmt::format("{} elements are not those of {} heads", x.dim(2), heads));
  HeadsOf all;
  const int64_t dim = x.rank() == 3 ? x.dim(2) / heads : 0;
  all = x.rank() == 3 ? SideBySide(std::move(x), heads, dim) : AsAxis(std::move(x));
  const Rotation rotation = ReadRotation(ctx, 2, 3, all.dim, ctx.attrs().Int("interleaved", 0) != 0);
  if (turned > 0 && rotation.cos.dim(1) != turned / 2)
    ctx.FailInput(2, fmt::format("must be [positions,{}] for rotary_embedding_dim {}, got {}", turned / 2, turned,
                                 rotation.cos.shape().ToString()));
  const Tensor& given = ctx.tensor(1);
  std::vector<int64_t> positions(given.View<int64_t>().begin(), given.View<int64_t>().end());
  if (given.NumElements() == 1 && given.rank() <= 1) {
    const int64_t first = positions[0];
    positions.resize(static_cast<size_t>(all.batch * all.length));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = first + static_cast<int64_t>(i) % all.length;
  } else if (given.shape() != Shape{all.batch, all.length}) {
    ctx.FailInput(1, fmt::format("must be [1] or [{},{}], got {}", all.batch, all.length, given.shape().ToString()));
  }
  Rotate(ctx, rotation, positions, ctx.InputSubject(1), all);
  ctx.SetOutput(0, AsType(all.data, type));
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> microsoft_rotary_embedding_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "RotaryEmbedding",
       .since_version = 1,
       .inputs = {{"input", kFloatOrHalf, "T"},
                  {"position_ids", kPositions, "M"},
                  {"cos_cache", kFloatOrHalf, "T"},
                  {"sin_cache", kFloatOrHalf, "T"}},
       .outputs = {{"output", kFloatOrHalf, "T"}},
       .attributes = {{"interleaved", AttrKind::kInt},
                      {"is_packed_batching", AttrKind::kInt},
                      {"num_heads", AttrKind::kInt},
                      {"rotary_embedding_dim", AttrKind::kInt},
                      {"scale", AttrKind::kFloat}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
