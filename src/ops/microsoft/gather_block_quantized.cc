// SPDX-License-Identifier: Apache-2.0
// GatherBlockQuantized: Gather along gather_axis of a tensor that is quantised in blocks along quantize_axis: each has
// a scale and a zero point, 0 where none are given. Elements are int4, uint4, or of `bits` 2, 4 or 8 packed in uint8
// along the last axis, low bits first, their zero points likewise, or the middle of the range. Only what is gathered
// becomes floats.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherBlockQuantized
#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"
#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kData{TensorType::kInt4, TensorType::kUint4, TensorType::kUint8};
constexpr TypeSet kScales{TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16};

struct Layout {
  int64_t bits, block;
  int64_t Each(TensorType type) const { return type == TensorType::kUint8 ? 8 / bits : 1; }  // elements of a place
};
Layout ReadLayout(const NodeAttributes& attrs, TensorType type) {
  const Layout layout{attrs.Int("bits", 4), attrs.Int("block_size", 128)};
  const bool packed = type == TensorType::kUint8;
  if (layout.bits != 4 && !(packed && (layout.bits == 2 || layout.bits == 8)))
    FailAttribute("bits", fmt::format("is {}, must be {}", layout.bits, packed ? "2, 4 or 8" : "4"));
  if (layout.block < 16 || (layout.block & (layout.block - 1)) != 0)
    FailAttribute("block_size", fmt::format("is {}, must be a power of 2 from 16 on", layout.block));
  return layout;
}

// The numbers of a tensor by their place among all of them.
class Numbers {
 public:
  // `row`: numbers of the last axis, which begins a byte.
  Numbers(const Tensor& t, int64_t bits, int64_t row)
      : bytes_(static_cast<const uint8_t*>(t.data())),
        bits_(t.dtype() == TensorType::kUint8 ? bits : 8),
        each_(8 / bits_),
        row_(row),
        row_bytes_((row + each_ - 1) / each_),
        sign_(t.dtype() == TensorType::kInt4 ? 8 : 0),
        mask_(t.dtype() == TensorType::kUint8 ? (1 << bits_) - 1 : 15) {}

  int32_t At(int64_t i) const {
    const int64_t in_row = i % row_;
    const int32_t number = bytes_[i / row_ * row_bytes_ + in_row / each_] >> (in_row % each_ * bits_) & mask_;
    return (number ^ sign_) - sign_;
  }

 private:
  const uint8_t* bytes_;
  int64_t bits_, each_, row_, row_bytes_;
  int32_t sign_, mask_;
};

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  const TensorType type = data.dtype();
  const Layout layout = ReadLayout(ctx.attrs(), type);
  if (data.rank() == 0) ctx.FailInput(0, "must not be a scalar");
  Shape whole = data.shape();
  const int last = whole.rank() - 1;
  whole[last] *= layout.Each(type);
  const int gather = NormalizeAxis(ctx, ctx.attrs().Int("gather_axis", 0), whole.rank(), "attribute 'gather_axis'");
  const int quantize =
      NormalizeAxis(ctx, ctx.attrs().Int("quantize_axis", 1), whole.rank(), "attribute 'quantize_axis'");
  if (layout.Each(type) > 1 && gather == last)
    ctx.Fail("attribute 'gather_axis'", "is the last axis, along which elements are packed");
  Shape blocks = whole;
  blocks[quantize] = (whole[quantize] + layout.block - 1) / layout.block;
  if (ctx.tensor(2).shape() != blocks)
    ctx.FailInput(
        2, fmt::format("must be {}, one for each block, got {}", blocks.ToString(), ctx.tensor(2).shape().ToString()));
  if (ctx.HasInput(3)) {
    Shape packed = blocks;
    packed[last] = (blocks[last] + layout.Each(type) - 1) / layout.Each(type);
    if (ctx.tensor(3).shape() != packed)
      ctx.FailInput(3, fmt::format("must be {}, got {}", packed.ToString(), ctx.tensor(3).shape().ToString()));
  }
  Shape shape;
  for (int d = 0; d < gather; ++d) shape.push_back(whole[d]);
  for (const int64_t d : ctx.tensor(1).shape()) shape.push_back(d);
  for (int d = gather + 1; d <= last; ++d) shape.push_back(whole[d]);
  const std::vector<int64_t> indices = ReadIndices(ctx, 1, whole[gather]);
  const auto count = static_cast<int64_t>(indices.size());
  const int64_t row = DimsProduct(whole.dims(), gather + 1, whole.rank());
  Tensor y(TensorType::kFloat, shape);
  if (y.NumElements() > 0) {
    const Numbers numbers(data, layout.bits, whole[last]);
    const Tensor scales = AsType(ctx.tensor(2), TensorType::kFloat);
    const float* const scale = scales.View<float>().data();
    std::optional<Numbers> zeros;
    if (ctx.HasInput(3)) zeros.emplace(ctx.tensor(3), layout.bits, blocks[last]);
    const int32_t middle = type == TensorType::kUint8 ? 1 << (layout.bits - 1) : 0;
    const int64_t along = whole[quantize], inner = DimsProduct(whole.dims(), quantize + 1, whole.rank());
    float* const to = y.MutableView<float>().data();
    const int64_t outer = DimsProduct(whole.dims(), 0, gather);
    ctx.ParallelFor(outer * count, std::max<int64_t>(1, kElementGrain / row), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = (i / count * whole[gather] + indices[static_cast<size_t>(i % count)]) * row;
        for (int64_t e = 0; e < row; ++e) {
          const int64_t at = first + e, line = at / inner;
          const int64_t block = (line / along * blocks[quantize] + line % along / layout.block) * inner + at % inner;
          const int32_t zero = zeros ? zeros->At(block) : middle;
          to[i * row + e] = static_cast<float>(numbers.At(at) - zero) * scale[block];
        }
      }
    });
  }
  ctx.SetOutput(0, AsType(y, ctx.tensor(2).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape &data = scope.InputShape(0), &indices = scope.InputShape(1);
  const TensorType type = scope.InputType(0);
  if (data.IsUnknown() || indices.IsUnknown() || type == TensorType::kUndefined)
    return scope.SetTensor(0, scope.InputType(2), OptimShape::Unknown());
  const Layout layout = ReadLayout(scope.attrs(), type);
  if (data.Rank() == 0) scope.Fail(scope.InputSubject(0), "must not be a scalar");
  OptimShape whole = data;
  OptimDim& last = whole[whole.Rank() - 1];
  last = last * layout.Each(type);
  const auto gather =
      static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("gather_axis", 0), static_cast<int>(data.Rank())));
  CheckKnownIndices(scope, 1, whole[gather]);
  OptimShape shape;
  for (size_t d = 0; d < gather; ++d) shape.PushBack(whole[d]);
  for (const OptimDim& d : indices) shape.PushBack(d);
  for (size_t d = gather + 1; d < whole.Rank(); ++d) shape.PushBack(whole[d]);
  scope.SetTensor(0, scope.InputType(2), std::move(shape));
}

}  // namespace

std::span<const OpDef> gather_block_quantized_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "GatherBlockQuantized",
       .since_version = 1,
       .inputs = {{"data", kData, "T1"},
                  {"indices", kIndexTypes, "Tind"},
                  {"scales", kScales, "T2"},
                  Optional("zero_points", kData, "T1")},
       .outputs = {{"output", kScales, "T2"}},
       .attributes = {{"bits", AttrKind::kInt},
                      {"block_size", AttrKind::kInt},
                      {"gather_axis", AttrKind::kInt},
                      {"quantize_axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
