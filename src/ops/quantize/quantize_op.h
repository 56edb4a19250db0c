// SPDX-License-Identifier: Apache-2.0
// What QuantizeLinear and DequantizeLinear share: scales and zero points (inputs 1 and 2), of one element for the whole
// tensor, one for each place along `axis`, or one for each block along it (version 21 on).
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "kernels/quantize/byte_rows.h"
#include "kernels/quantize/quantize.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kQuantizedTypes =
    kFloat8Types | kSubByteTypes |
    TypeSet{TensorType::kInt8, TensorType::kUint8, TensorType::kInt16, TensorType::kUint16};
inline constexpr TypeSet kByteTypes{TensorType::kInt8, TensorType::kUint8};
inline constexpr TypeSet kRealTypes{TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16};
inline constexpr TypeSet kScaleTypes = kRealTypes | kPowerType;

struct Scales {
  kernels::ScaleGrid grid;
  std::vector<float> scales;
  std::vector<double> zeros;  // as many
};
// InvalidArgument for an input that is there with more or fewer.
void CheckOneElement(const RunContext& ctx, int i);
Scales ReadScales(const RunContext& ctx);
// fn(first element, their grid) for parts that are all of the grid, on several threads where one scale serves all.
void ForParts(RunContext& ctx, const kernels::ScaleGrid& grid,
              FunctionRef<void(int64_t first, const kernels::ScaleGrid& part)> fn);

// The byte scale of inputs `scale`, of one float, and `zero`, which may be absent, for elements of `type`, int8 or
// uint8. InvalidArgument for more or fewer elements.
kernels::ByteScale ReadByteScale(const RunContext& ctx, int scale, int zero, TensorType type);

}  // namespace ONNX_LIGHT_NAMESPACE
