// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/indices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string NotInRange(size_t i, int64_t index, int64_t n) {
  if (n == 0) return fmt::format("element {} is {}, but the axis is empty", i, index);
  return fmt::format("element {} is {}, not in [{}, {}]", i, index, -n, n - 1);
}

}  // namespace

std::vector<int64_t> ReadIntegers(const Tensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.NumElements()));
  if (t.dtype() == TensorType::kInt32) {
    std::ranges::copy(t.View<int32_t>(), values.begin());
  } else {
    std::ranges::copy(t.View<int64_t>(), values.begin());
  }
  return values;
}

std::vector<int64_t> ReadIndices(const RunContext& ctx, int i, int64_t n) {
  std::vector<int64_t> indices = ReadIntegers(ctx.tensor(i));
  for (size_t k = 0; k < indices.size(); ++k) {
    int64_t& index = indices[k];
    if (index < -n || index >= n) ctx.FailInput(i, NotInRange(k, index, n));
    if (index < 0) index += n;
  }
  return indices;
}

void ForEachIndexRow(const RunContext& ctx, int i, const Shape& data, int axis, IndexRowFn fn) {
  const Tensor& indices = ctx.tensor(i);
  const Shape& own = indices.shape();
  if (own.rank() != data.rank())
    ctx.FailInput(i, fmt::format("has rank {}, the data has rank {}", own.rank(), data.rank()));
  const int64_t count = own.NumElements();
  if (count == 0) return;
  for (int d = 0; d < own.rank(); ++d) {
    if (d != axis && own[d] > data[d])
      ctx.FailInput(i, fmt::format("shape {} reaches beyond {} along axis {}", own.ToString(), data.ToString(), d));
  }
  constexpr int64_t kLongest = 1024;  // what is made of a part stays in the first level cache
  std::vector<int64_t> strides = DenseStrides(data.dims());
  const int64_t along = std::exchange(strides[static_cast<size_t>(axis)], 0);
  const int inner = own.rank() - 1;
  const int64_t row = own[inner], step = strides[static_cast<size_t>(inner)];
  const auto* const bytes = static_cast<const std::byte*>(indices.data());
  const size_t size = onnx_optim::BytesOf(indices.dtype());
  std::vector<int64_t> index(static_cast<size_t>(inner));
  kernels::IndexRow part{
      .index_type = indices.dtype(), .indices = nullptr, .count = 0, .n = data[axis], .step = step, .along = along};
  int64_t base = 0;
  for (int64_t first = 0; first < count;) {
    for (int64_t column = 0; column < row; column += part.count, first += part.count) {
      if (first % kElementGrain < part.count) ctx.CheckCancelled();
      part.indices = bytes + static_cast<size_t>(first) * size;
      part.count = std::min(row - column, kLongest);
      const int64_t done = fn(first, base + column * step, part);
      if (done < part.count) ctx.FailInput(i, NotInRange(static_cast<size_t>(first + done), part.Index(done), part.n));
    }
    for (int d = inner; d-- > 0;) {
      const auto at = static_cast<size_t>(d);
      base += strides[at];
      if (++index[at] < own[d]) break;
      base -= strides[at] * own[d];
      index[at] = 0;
    }
  }
}

TupleOffsets ReadTuples(const RunContext& ctx, int i, const Shape& data, int batch) {
  const Shape& own = ctx.tensor(i).shape();
  if (own.rank() <= batch || data.rank() <= batch)
    ctx.FailInput(i, fmt::format("shape {} and data {} leave nothing for indices below {} batch axes", own.ToString(),
                                 data.ToString(), batch));
  TupleOffsets tuples;
  const int64_t depth = own[own.rank() - 1];
  if (depth > data.rank() - batch)
    ctx.FailInput(i, fmt::format("holds tuples of {} indices for {} axes", depth, data.rank() - batch));
  for (int d = 0; d < batch; ++d) {
    if (own[d] != data[d])
      ctx.FailInput(i, fmt::format("batch axis {} has {} elements, {} in the data", d, own[d], data[d]));
  }
  tuples.depth = static_cast<int>(depth);
  tuples.row = DimsProduct(data.dims(), batch + tuples.depth, data.rank());
  const std::vector<int64_t> strides = DenseStrides(data.dims());
  const int64_t batches = DimsProduct(own.dims(), 0, batch);
  const int64_t count = DimsProduct(own.dims(), 0, own.rank() - 1);
  const int64_t slab = DimsProduct(data.dims(), batch, data.rank());
  const std::vector<int64_t> indices = ReadIntegers(ctx.tensor(i));
  tuples.offsets.reserve(static_cast<size_t>(count));
  for (int64_t t = 0; t < count; ++t) {
    int64_t offset = t / (count / batches) * slab;
    for (int d = 0; d < tuples.depth; ++d) {
      const auto at = static_cast<size_t>(t * depth + d);
      const int64_t n = data[batch + d];
      if (indices[at] < -n || indices[at] >= n) ctx.FailInput(i, NotInRange(at, indices[at], n));
      offset += (indices[at] < 0 ? indices[at] + n : indices[at]) * strides[static_cast<size_t>(batch + d)];
    }
    tuples.offsets.push_back(offset);
  }
  return tuples;
}

kernels::ScatterReduction ReadReduction(const RunContext& ctx, TensorType type, bool extremes) {
  constexpr std::pair<std::string_view, kernels::ScatterReduction> kNames[] = {
      {"none", kernels::ScatterReduction::kNone}, {"add", kernels::ScatterReduction::kAdd},
      {"mul", kernels::ScatterReduction::kMul},   {"min", kernels::ScatterReduction::kMin},
      {"max", kernels::ScatterReduction::kMax},
  };
  const std::string name = ctx.attrs().String("reduction", "none");
  const auto names = std::span(kNames).first(extremes ? 5 : 3);
  const auto it = std::ranges::find(names, name, [](const auto& entry) { return entry.first; });
  if (it == names.end())
    ctx.Fail("attribute 'reduction'",
             fmt::format("is \"{}\", must be none, add{}", name, extremes ? ", mul, min or max" : " or mul"));
  if (!kernels::CanScatter(type, it->second))
    ctx.Fail("attribute 'reduction'", fmt::format("{} is not defined for {}", name, onnx_optim::ToTypeString(type)));
  return it->second;
}

namespace {

// Input 0 to be changed, in its own memory where nobody else needs that.
Tensor TakeData(RunContext& ctx) {
  Value taken = ctx.TakeInput(0);
  Tensor out = std::move(taken.mutable_tensor());
  taken = Value();
  out.Unshare();
  return out;
}

}  // namespace

void RunScatter(RunContext& ctx, kernels::ScatterReduction reduction, std::span<const int64_t> offsets, int64_t row) {
  const Tensor updates = ctx.tensor(2);
  Tensor out = TakeData(ctx);
  if (updates.NumElements() > 0)
    kernels::ScatterRows(out.dtype(), reduction, out.mutable_data(), offsets, row, updates.data());
  ctx.SetOutput(0, std::move(out));
}

void RunScatterElements(RunContext& ctx, kernels::ScatterReduction reduction) {
  const Shape data = ctx.tensor(0).shape();
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), data.rank());
  if (ctx.tensor(2).shape() != ctx.tensor(1).shape()) {
    ctx.FailInput(2, fmt::format("shape {} is not {}, that of the indices", ctx.tensor(2).shape().ToString(),
                                 ctx.tensor(1).shape().ToString()));
  }
  const Tensor updates = ctx.tensor(2);
  Tensor out = TakeData(ctx);
  const auto* const from = static_cast<const std::byte*>(updates.data());
  const size_t size = onnx_optim::BytesOf(out.dtype());
  std::vector<int64_t> offsets;
  ForEachIndexRow(ctx, 1, data, axis, [&](int64_t first, int64_t base, const kernels::IndexRow& row) {
    offsets.resize(static_cast<size_t>(row.count));
    const int64_t good = kernels::OffsetsOf(row, base, offsets.data());
    if (good == row.count)
      kernels::ScatterRows(out.dtype(), reduction, out.mutable_data(), offsets, 1,
                           from + static_cast<size_t>(first) * size);
    return good;
  });
  ctx.SetOutput(0, std::move(out));
}

void CheckKnownIndices(InferScope& scope, int i, const OptimDim& n) {
  const std::optional<std::vector<int64_t>> known = scope.InputInts(i);
  if (!known || !n.IsInt()) return;
  for (size_t k = 0; k < known->size(); ++k) {
    if ((*known)[k] < -n.AsInt() || (*known)[k] >= n.AsInt())
      scope.Fail(scope.InputSubject(i), NotInRange(k, (*known)[k], n.AsInt()));
  }
}

void ScatterShape(InferScope& scope) {
  const OptimShape shape = scope.InputShape(0);
  SetLikeInput(scope, 0, shape);
  if (shape.IsUnknown() || shape.Rank() != 1) return;
  CheckKnownIndices(scope, 1, shape[0]);
  const KnownElements* data = InputElements(scope, 0);
  const KnownElements* updates = InputElements(scope, 2);
  const std::optional<std::vector<int64_t>> indices = scope.InputInts(1);
  if (data == nullptr || updates == nullptr || !indices || indices->size() != updates->size()) return;
  if (scope.attrs().String("reduction", "none") != "none") return;
  KnownElements elements = *data;
  const auto n = static_cast<int64_t>(elements.size());
  for (size_t k = 0; k < indices->size(); ++k)
    elements[static_cast<size_t>((*indices)[k] < 0 ? (*indices)[k] + n : (*indices)[k])] = (*updates)[k];
  SetTensorWithElements(scope, 0, scope.InputType(0), shape, std::move(elements));
}

void ScatterElementsShape(InferScope& scope) {
  const OptimShape& data = scope.InputShape(0);
  if (!data.IsUnknown()) {
    const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(data.Rank()));
    CheckKnownIndices(scope, 1, data[static_cast<size_t>(axis)]);
  }
  ScatterShape(scope);
}

}  // namespace ONNX_LIGHT_NAMESPACE
