// SPDX-License-Identifier: Apache-2.0
// What QuantizeLinear and DequantizeLinear share: scales and zero points (inputs 1 and 2), of one element for the whole
// tensor, one for each place along `axis`, or one for each block along it (version 21 on).
#pragma once

#include <vector>

#include "kernels/quantize/quantize.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kQuantizedTypes =
    kFloat8Types | kSubByteTypes |
    TypeSet{TensorType::kInt8, TensorType::kUint8, TensorType::kInt16, TensorType::kUint16};
inline constexpr TypeSet kRealTypes{TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16};
inline constexpr TypeSet kScaleTypes = kRealTypes | kPowerType;

struct Scales {
  kernels::ScaleGrid grid;
  std::vector<float> scales;
  std::vector<double> zeros;  // as many
};
Scales ReadScales(const RunContext& ctx);

}  // namespace ONNX_LIGHT_NAMESPACE
