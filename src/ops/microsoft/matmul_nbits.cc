// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: A [..,K] times a matrix of K rows and N columns held as 2-, 4- or 8-bit integers, plus a bias. Each
// column is cut into blocks along K with a scale and a zero point each: B [N, blocks, bytes of a block], low bits
// first; scales [N * blocks]; zero points packed alike in bytes, row by row, or of A's type, or the middle of the range
// when absent. g_idx is not supported. The matrix is unpacked to floats, once when it is constant.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulNBits
#include <fmt/format.h>

#include "kernels/gemm/gemm.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Layout {
  int64_t k, n, bits, block, blocks;
  int64_t BlockBytes() const { return block * bits / 8; }
  int64_t ZeroBytes() const { return (blocks * bits + 7) / 8; }  // of one column
};
Layout ReadLayout(const NodeAttributes& attrs) {
  Layout layout{attrs.Int("K"), attrs.Int("N"), attrs.Int("bits", 4), attrs.Int("block_size"), 0};
  const auto require = [](bool holds, std::string_view name, int64_t value, std::string_view what) {
    if (!holds) FailAttribute(name, fmt::format("is {}, must be {}", value, what));
  };
  constexpr int64_t kMost = int64_t{1} << 31;
  require(layout.k >= 1 && layout.k < kMost, "K", layout.k, "in [1, 2^31)");
  require(layout.n >= 1 && layout.n < kMost, "N", layout.n, "in [1, 2^31)");
  require(layout.bits == 2 || layout.bits == 4 || layout.bits == 8, "bits", layout.bits, "2, 4 or 8");
  require(layout.block >= 16 && layout.block < kMost && (layout.block & (layout.block - 1)) == 0, "block_size",
          layout.block, "a power of 2 from 16 on");
  layout.blocks = (layout.k + layout.block - 1) / layout.block;
  return layout;
}

struct Packed : OpState {
  Layout layout;
  kernels::PackedMatrix<float> matrix;  // none when K() is 0
};

void CheckSize(const NodeProto& node, int i, std::string_view name, const Tensor& t, int64_t expected) {
  if (t.NumElements() == expected) return;
  throw InvalidArgument(fmt::format("must have {} elements, got {}", expected, t.shape().ToString()),
                        ErrorWhere{.op_type = {},
                                   .node_name = {},
                                   .subject = fmt::format("input {} '{}' (\"{}\")", i, name,
                                                          node.input(static_cast<size_t>(i)).as_string()),
                                   .path = {}});
}

// The matrix as floats, [N,K]. `zeros` may be undefined.
Tensor Unpacked(const NodeProto& node, const Layout& layout, const Tensor& b, const Tensor& scales,
                const Tensor& zeros) {
  const bool packed_zeros = zeros.defined() && zeros.dtype() == TensorType::kUint8;
  CheckSize(node, 1, "B", b, layout.n * layout.blocks * layout.BlockBytes());
  CheckSize(node, 2, "scales", scales, layout.n * layout.blocks);
  if (zeros.defined())
    CheckSize(node, 3, "zero_points", zeros, layout.n * (packed_zeros ? layout.ZeroBytes() : layout.blocks));
  const int64_t bits = layout.bits, each = 8 / bits;
  const auto element = [&](const uint8_t* bytes, int64_t i) {
    return static_cast<float>((bytes[i / each] >> (i % each * bits)) & ((1 << bits) - 1));
  };
  const Tensor scale = AsType(scales, TensorType::kFloat);
  const Tensor zero = zeros.defined() && !packed_zeros ? AsType(zeros, TensorType::kFloat) : zeros;
  const uint8_t* const bytes = b.View<uint8_t>().data();
  Tensor matrix(TensorType::kFloat, Shape{layout.n, layout.k});
  float* to = matrix.MutableView<float>().data();
  for (int64_t n = 0; n < layout.n; ++n) {
    for (int64_t g = 0; g < layout.blocks; ++g) {
      const int64_t at = n * layout.blocks + g;
      float shift = static_cast<float>(1 << (bits - 1));
      if (packed_zeros) shift = element(zero.View<uint8_t>().data() + n * layout.ZeroBytes(), g);
      if (zero.defined() && !packed_zeros) shift = zero.View<float>()[static_cast<size_t>(at)];
      const float step = scale.View<float>()[static_cast<size_t>(at)];
      const int64_t count = std::min(layout.block, layout.k - g * layout.block);
      for (int64_t i = 0; i < count; ++i) *to++ = (element(bytes + at * layout.BlockBytes(), i) - shift) * step;
    }
  }
  return matrix;
}

kernels::PackedMatrix<float> Pack(const NodeProto& node, const Layout& layout, const Tensor& b, const Tensor& scales,
                                  const Tensor& zeros, bool flush_denormals) {
  const Tensor matrix = Unpacked(node, layout, b, scales, zeros);
  return {layout.k, layout.n, {matrix.View<float>().data(), 1, layout.k}, flush_denormals};
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  RefuseInput(ctx.node(), 4, "g_idx");
  RefuseAttribute(ctx.attrs(), "weight_prepacked");
  auto state = std::make_unique<Packed>();
  state->layout = ReadLayout(ctx.attrs());
  const Tensor *b = ctx.ConstantInput(1), *scales = ctx.ConstantInput(2), *zeros = ctx.ConstantInput(3);
  if (b != nullptr && scales != nullptr && (zeros != nullptr || !ctx.HasInput(3)))
    state->matrix =
        Pack(ctx.node(), state->layout, *b, *scales, zeros != nullptr ? *zeros : Tensor(), ctx.flush_denormals());
  return state;
}

void Run(RunContext& ctx) {
  const auto& state = ctx.state<Packed>();
  const Layout& layout = state.layout;
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor a = AsType(ctx.tensor(0), TensorType::kFloat);
  if (a.rank() == 0 || a.dim(a.rank() - 1) != layout.k)
    ctx.FailInput(0, fmt::format("must have {} columns, got {}", layout.k, a.shape().ToString()));
  kernels::PackedMatrix<float> unpacked;
  if (state.matrix.k() == 0)
    unpacked =
        Pack(ctx.node(), layout, ctx.tensor(1), ctx.tensor(2), ctx.HasInput(3) ? ctx.tensor(3) : Tensor(), false);
  Tensor bias;
  if (ctx.HasInput(5)) {
    bias = AsType(ctx.tensor(5), TensorType::kFloat);
    if (bias.shape() != Shape{layout.n})
      ctx.FailInput(5, fmt::format("must be [{}], got {}", layout.n, bias.shape().ToString()));
  }
  Shape shape = a.shape();
  shape[shape.rank() - 1] = layout.n;
  Tensor y(TensorType::kFloat, std::move(shape));
  (state.matrix.k() == 0 ? unpacked : state.matrix)
      .Multiply(a.NumElements() / layout.k, a.View<float>().data(), layout.k,
                bias.defined() ? bias.View<float>().data() : nullptr, false, y.MutableView<float>().data(), layout.n,
                &ctx.team(), ctx.threads());
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  const Layout layout = ReadLayout(scope.attrs());
  OptimShape shape = scope.InputShape(0);
  if (!shape.IsUnknown()) {
    if (shape.Rank() == 0) scope.Fail(scope.InputSubject(0), "must not be a scalar");
    OptimDim& last = shape[shape.Rank() - 1];
    scope.Unify(last, OptimDim(layout.k), "the columns of " + scope.InputSubject(0), "attribute 'K'");
    last = OptimDim(layout.n);
  }
  SetLikeInput(scope, 0, std::move(shape));
}

constexpr TypeSet kBytesOnly{TensorType::kUint8};
constexpr TypeSet kZeroTypes = kBytesOnly | kFloatOrHalf;

}  // namespace

std::span<const OpDef> matmul_nbits_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "MatMulNBits",
       .since_version = 1,
       .inputs = {{"A", kFloatOrHalf, "T1"},
                  {"B", kBytesOnly, "T2"},
                  {"scales", kFloatOrHalf, "T1"},
                  Optional("zero_points", kZeroTypes, "T3"),
                  Optional("g_idx", kInt32, "T4"),
                  Optional("bias", kFloatOrHalf, "T1")},
       .outputs = {{"Y", kFloatOrHalf, "T1"}},
       .attributes = {{"K", AttrKind::kInt, true},
                      {"N", AttrKind::kInt, true},
                      {"accuracy_level", AttrKind::kInt},
                      {"bits", AttrKind::kInt},
                      {"block_size", AttrKind::kInt, true},
                      {"weight_prepacked", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
