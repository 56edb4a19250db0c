// SPDX-License-Identifier: Apache-2.0
// What convolutions share: inputs X [N,C,d..] and W of the same rank, B, groups of channels, the sizes of the window,
// and how much of its columns is in memory at once.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// InvalidArgument for an input 0 of rank below 3 and for weights (input `w_input`) of another rank.
void CheckConvRanks(const RunContext& ctx, const Tensor& x, const Tensor& w, int w_input = 1);
// Input `i`, as floats where it is of halves; undefined when it is absent. InvalidArgument unless it is a vector of
// `channels`.
Tensor ReadConvBias(const RunContext& ctx, int i, int64_t channels);
// y[n,c,..] += bias[c]. T: float, double.
template <class T>
void AddConvBias(const Tensor& bias, Tensor& y);
// The spatial dims of W where all are known; none, for attribute kernel_shape to say, where that is there; else
// nothing.
std::optional<std::vector<int64_t>> KnownKernel(const InferScope& scope, const OptimShape& w, int axes);
// Columns of `depth` elements handled at a time: about a megabyte of them stays in cache between being gathered and
// being multiplied.
int64_t ColumnBlock(int64_t depth);

// The channels of one group.
struct ConvGroups {
  int64_t groups, in, out;
};
// By attribute 'group'; InvalidArgument where x [N,C,d..] and w [M,C/groups,k..], input `w_input`, do not go together.
ConvGroups ReadConvGroups(const RunContext& ctx, const Tensor& x, const Tensor& w, int w_input = 1);
// The shape of a convolution; unknown when not even the rank is known.
OptimShape ConvShape(InferScope& scope, int w_input = 1);
// Of Conv and the like, and `more`.
std::vector<AttrDef> ConvAttributes(std::initializer_list<AttrDef> more = {});

}  // namespace ONNX_LIGHT_NAMESPACE
