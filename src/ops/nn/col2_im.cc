// SPDX-License-Identifier: Apache-2.0
// Col2Im: columns [N, C * places, L] of a window back to the image [N, C, image_shape] it slid over, sums where it
// overlapped, integers modulo their width. Of numbers. https://onnx.ai/onnx/operators/onnx__Col2Im.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"
#include "ops/nn/window_op.h"
#include "ops/type_dispatch.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::vector<int64_t> ReadSizes(const RunContext& ctx, int i) {
  std::vector<int64_t> sizes = ReadInts(ctx, i);
  for (const int64_t size : sizes)
    if (size < 1 || size > 0x7fffffff) ctx.FailInput(i, fmt::format("{} is no size", size));
  return sizes;
}

template <class T>
void Add(const Tensor& columns, Tensor& image, int64_t planes, const kernels::Window& window) {
  std::ranges::fill(image.MutableView<T>(), T(0));
  const std::vector<int64_t> table = kernels::WindowTable(window, 0, window.OutSize());
  kernels::AddColumns(columns.View<T>().data(), image.MutableView<T>().data(), planes, window.InSize(),
                      window.KernelSize(), table);
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor columns = kFloatTypes.Has(type) ? Widened(ctx.tensor(0)) : AsType(ctx.tensor(0), TensorType::kInt64);
  const std::vector<int64_t> image = ReadSizes(ctx, 1), block = ReadSizes(ctx, 2);
  CheckRank(ctx, 0, 3);
  if (block.size() != image.size())
    ctx.FailInput(2, fmt::format("has {} entries, the image {}", block.size(), image.size()));
  Shape probe{1, 1};
  for (const int64_t d : image) probe.push_back(d);
  const kernels::Window window = WindowOver(ctx, ReadWindow(ctx.attrs(), static_cast<int>(image.size()), block), probe);
  const int64_t places = window.KernelSize();
  if (columns.dim(1) % places != 0 || columns.dim(2) != window.OutSize())
    ctx.FailInput(0, fmt::format("is {}, needs a multiple of {} rows and {} columns", columns.shape().ToString(),
                                 places, window.OutSize()));
  const int64_t channels = columns.dim(1) / places;
  Shape shape{columns.dim(0), channels};
  for (const int64_t d : image) shape.push_back(d);
  Tensor y(columns.dtype(), std::move(shape));
  Dispatch(TypeList<float, double, int64_t>(), columns.dtype(),
           [&]<class T>(std::type_identity<T>) { Add<T>(columns, y, columns.dim(0) * channels, window); });
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  const OptimShape* const columns = RankedInput(scope, 0, 3);
  const std::optional<std::vector<OptimDim>> image = scope.InputValue(1), block = scope.InputValue(2);
  OptimShape shape{columns != nullptr ? (*columns)[0] : scope.Fresh(), scope.Fresh()};
  if (columns != nullptr && block) shape[1] = FloorDiv((*columns)[1], onnx_optim::Product(*block));
  if (image) {
    for (const OptimDim& d : *image) shape.PushBack(d);
  } else {
    const std::optional<int> a = ListLength(scope.InputShape(1)), b = ListLength(scope.InputShape(2));
    if (!a && !b) return SetLikeInput(scope, 0, OptimShape::Unknown());
    for (int d = 0; d < (a ? *a : *b); ++d) shape.PushBack(scope.Fresh());
  }
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> col2_im_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Col2Im",
       .since_version = 18,
       .inputs = {{"input", kNumericTypes, "T"},
                  {"image_shape", {TensorType::kInt64}},
                  {"block_shape", {TensorType::kInt64}}},
       .outputs = {{"output", kNumericTypes, "T"}},
       .attributes = {{"dilations", AttrKind::kInts}, {"pads", AttrKind::kInts}, {"strides", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
