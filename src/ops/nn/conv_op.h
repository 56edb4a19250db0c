// SPDX-License-Identifier: Apache-2.0
// What Conv and ConvTranspose share: inputs X [N,C,d..], W of the same rank and B, the sizes of the window, and how
// much of its columns is in memory at once.
#pragma once

#include <optional>
#include <vector>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// InvalidArgument for an input of rank below 3 and for weights of another rank.
void CheckConvRanks(const RunContext& ctx, const Tensor& x, const Tensor& w);
// Input B, float or double; undefined when it is absent. InvalidArgument unless it is a vector of `channels`.
Tensor ReadConvBias(const RunContext& ctx, int64_t channels);
// The spatial dims of W where all are known; none, for attribute kernel_shape to say, where that is there; else
// nothing.
std::optional<std::vector<int64_t>> KnownKernel(const InferScope& scope, const OptimShape& w, int axes);
// Columns of `depth` elements handled at a time: about a megabyte of them stays in cache between being gathered and
// being multiplied.
int64_t ColumnBlock(int64_t depth);

}  // namespace ONNX_LIGHT_NAMESPACE
