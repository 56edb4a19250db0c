// SPDX-License-Identifier: Apache-2.0
// Gather: along one axis, the slices that indices name; their dims take the place of that axis. An index counts from
// the back when negative (version 11 on says so; before it none is meant to be).
// https://onnx.ai/onnx/operators/onnx__Gather.html
#include <algorithm>
#include <cstring>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), data.rank());
  Shape shape;
  for (int d = 0; d < axis; ++d) shape.push_back(data.dim(d));
  for (const int64_t d : ctx.tensor(1).shape()) shape.push_back(d);
  for (int d = axis + 1; d < data.rank(); ++d) shape.push_back(data.dim(d));
  const std::vector<int64_t> indices = ReadIndices(ctx, 1, data.dim(axis));
  const int64_t outer = DimsProduct(data.shape().dims(), 0, axis),
                inner = DimsProduct(data.shape().dims(), axis + 1, data.rank());
  const auto count = static_cast<int64_t>(indices.size());
  const int64_t block = data.dim(axis) * inner;
  Tensor& out = ctx.AllocateOutput(0, data.dtype(), std::move(shape));
  if (out.NumElements() == 0) return;
  if (data.dtype() == TensorType::kString) {
    const std::string* from = data.View<std::string>().data();
    std::string* to = out.MutableView<std::string>().data();
    for (int64_t o = 0; o < outer; ++o)
      for (const int64_t index : indices) to = std::copy_n(from + o * block + index * inner, inner, to);
    return;
  }
  const size_t size = onnx_optim::BytesOf(data.dtype());
  const size_t row = static_cast<size_t>(inner) * size;
  const auto* from = static_cast<const std::byte*>(data.data());
  auto* const to = static_cast<std::byte*>(out.mutable_data());
  ctx.ParallelFor(outer * count, std::max<int64_t>(1, kElementGrain / inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t source = i / count * block + indices[static_cast<size_t>(i % count)] * inner;
      std::memcpy(to + static_cast<size_t>(i) * row, from + static_cast<size_t>(source) * size, row);
    }
  });
}

std::vector<int64_t> DimsOf(const OptimShape& shape) {
  std::vector<int64_t> dims;
  for (const OptimDim& d : shape) dims.push_back(d.AsInt());
  return dims;
}

void ShapeRule(InferScope& scope) {
  const OptimShape& data = scope.InputShape(0);
  const OptimShape& indices = scope.InputShape(1);
  if (data.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(data.Rank()));
  const OptimDim& n = data[static_cast<size_t>(axis)];
  const std::optional<std::vector<int64_t>> known = scope.InputInts(1);
  CheckKnownIndices(scope, 1, n);
  if (indices.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  OptimShape shape;
  for (size_t d = 0; d < static_cast<size_t>(axis); ++d) shape.PushBack(data[d]);
  for (const OptimDim& d : indices) shape.PushBack(d);
  for (size_t d = static_cast<size_t>(axis) + 1; d < data.Rank(); ++d) shape.PushBack(data[d]);
  SetLikeInput(scope, 0, shape);
  const KnownElements* elements = InputElements(scope, 0);
  if (elements == nullptr || !known) return;
  const std::vector<int64_t> dims = DimsOf(data);
  const int64_t outer = DimsProduct(dims, 0, axis), inner = DimsProduct(dims, axis + 1, static_cast<int>(dims.size()));
  KnownElements picked;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : *known) {
      const int64_t at = (o * n.AsInt() + (index < 0 ? index + n.AsInt() : index)) * inner;
      picked.insert(picked.end(), elements->begin() + at, elements->begin() + at + inner);
    }
  }
  SetTensorWithElements(scope, 0, scope.InputType(0), shape, std::move(picked));
}

}  // namespace

std::span<const OpDef> gather_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Gather",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
