// SPDX-License-Identifier: Apache-2.0
// Constant weights of recurrent operators in another order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Of `tensor` [D, blocks * H, columns], whose raw_data are as many as its dims say, directions [first, first + count)
// with block order[k] as block k.
TensorProto OrderBlocks(const TensorProto& tensor, std::span<const int> order, int64_t first, int64_t count);

// Of a bias [Wb, Rb]: which two blocks are added for each block of a layer's, -1: none.
std::vector<std::pair<int, int>> BiasSums(std::span<const int> gates, bool linear_before_reset);

// [count, sums.size() * H] of a bias [D, blocks * H], in its own precision. Nothing for a type that is no float of 16,
// 32 or 64 bits.
std::optional<Bytes> SumBlocks(const TensorProto& bias, std::span<const std::pair<int, int>> sums, int64_t hidden,
                               int64_t first, int64_t count);

}  // namespace ONNX_LIGHT_NAMESPACE
