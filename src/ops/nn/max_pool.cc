// SPDX-License-Identifier: Apache-2.0
// MaxPool: the greatest element under each window that slides over the axes from 2 on; its place (version 8 on) as a
// flat index into the input, by columns with storage_order 1. Ceiling and dilations from version 10 on.
// https://onnx.ai/onnx/operators/onnx__MaxPool.html
#include <numeric>

#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The place within a plane counted with the first axis fastest.
int64_t ByColumns(int64_t place, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = place % dims[d];
    place /= dims[d];
  }
  int64_t result = 0;
  for (size_t d = dims.size(); d-- > 0;) result = result * dims[d] + index[d];
  return result;
}

void Run(RunContext& ctx) {
  CheckPooled(ctx);
  const Tensor x = ctx.tensor(0);
  const kernels::Window window = WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2), x.shape());
  Shape shape{x.dim(0), x.dim(1)};
  for (const int64_t d : window.out) shape.push_back(d);
  Tensor y(x.dtype(), shape), places;
  if (ctx.HasOutput(1)) places = Tensor(TensorType::kInt64, shape);
  int64_t* const to = places.defined() ? places.MutableView<int64_t>().data() : nullptr;
  const int64_t planes = x.dim(0) * x.dim(1), in = window.InSize();
  kernels::MaxPool(x.dtype(), x.data(), y.mutable_data(), to, planes, window, [&] { ctx.CheckCancelled(); });
  ctx.SetOutput(0, std::move(y));
  if (!places.defined()) return;
  const bool by_columns = ctx.attrs().Int("storage_order", 0) != 0;
  const int64_t out = window.OutSize();
  for (int64_t i = 0; i < planes * out; ++i) to[i] = i / out * in + (by_columns ? ByColumns(to[i], window.in) : to[i]);
  ctx.SetOutput(1, std::move(places));
}

OpDef VersionOf(int since, TypeSet types, std::vector<AttrDef> more) {
  OpDef op = PoolOp("MaxPool", since, types, Run, std::move(more));
  if (since >= 8)
    op.outputs.push_back({.name = "Indices", .types = {TensorType::kInt64}, .count = FormalCount::kOptional});
  return op;
}
constexpr TypeSet kWithBytes = kFloatTypes | TypeSet{TensorType::kInt8, TensorType::kUint8};

}  // namespace

std::span<const OpDef> max_pool_ops() {
  static const OpDef ops[] = {
      VersionOf(1, kFloatTypes, {}),
      VersionOf(8, kFloatTypes, {{"storage_order", AttrKind::kInt}}),
      VersionOf(10, kFloatTypes,
                {{"ceil_mode", AttrKind::kInt}, {"dilations", AttrKind::kInts}, {"storage_order", AttrKind::kInt}}),
      VersionOf(12, kWithBytes,
                {{"ceil_mode", AttrKind::kInt}, {"dilations", AttrKind::kInts}, {"storage_order", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
