// SPDX-License-Identifier: Apache-2.0
// indexed: elements fetched from, and stored at, places that numbers name. Gather, Scatter, Pad, nearest Resize and the
// like turn their inputs into such numbers, checked, and leave the loops to this.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Offsets are in elements of any type, strings included; where strings are written, strings are.

// to[i * row + k] = from[offsets[i] + k] for k < row.
void GatherRows(TensorType type, const void* from, std::span<const int64_t> offsets, int64_t row, void* to);

// Indices along an axis of n elements, int32 or int64, below 0 from its back: index k is at k * step + index * along.
struct IndexRow {
  TensorType index_type;
  const void* indices;
  int64_t count;
  int64_t n, step, along;

  int64_t Index(int64_t k) const {
    return index_type == TensorType::kInt32 ? static_cast<const int32_t*>(indices)[k]
                                            : static_cast<const int64_t*>(indices)[k];
  }
};
// offsets[k] = base + that place, and to[k] = from[base + that place], up to the first index outside [-n, n-1], whose
// number is returned: `count` when all are inside.
int64_t OffsetsOf(const IndexRow& row, int64_t base, int64_t* offsets);
int64_t GatherIndexed(TensorType type, const void* from, int64_t base, const IndexRow& row, void* to);

enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMin, kMax };
// Numbers take all of them; other types kNone alone.
bool CanScatter(TensorType type, ScatterReduction reduction);
// to[offsets[i] + k] = from[i * row + k] for k < row, in the order of i; with a reduction, what it makes of the element
// that is there and the new one. Integers wrap, a NaN wins a minimum or maximum, halves are computed as float.
void ScatterRows(TensorType type, ScatterReduction reduction, void* to, std::span<const int64_t> offsets, int64_t row,
                 const void* from);
// to[i] = *value for i < n, and to[offset] = *value at each offset.
void Fill(TensorType type, void* to, int64_t n, const void* value);
void FillAt(TensorType type, void* to, std::span<const int64_t> offsets, const void* value);

// to[i0, i1, ..] = from[maps[0][i0], maps[1][i1], ..], or *fill where a map holds -1. `dims` are those of `from`; maps
// are as many, each as long as the dim of `to` it stands for. Returns early, unfinished, once the run is to end
// (base/stop_token.h).
void MappedCopy(TensorType type, const void* from, std::span<const int64_t> dims,
                std::span<const std::vector<int64_t>> maps, const void* fill, void* to);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
