// SPDX-License-Identifier: Apache-2.0
// What the normalisation operators share.
#pragma once

#include <vector>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// The mean and variance of each channel of x seen as [outer, channels, inner].
struct ChannelMoments {
  std::vector<double> mean, variance;
};
ChannelMoments MomentsOf(RunContext& ctx, const Tensor& x, int64_t outer, int64_t channels, int64_t inner);
// y = (x - center) * scale + shift by channel, both seen as [outer, channels, inner]; no shift when empty.
void NormalizeInto(RunContext& ctx, const Tensor& x, Tensor& y, int64_t outer, int64_t channels, int64_t inner,
                   const std::vector<double>& center, const std::vector<double>& scale,
                   const std::vector<double>& shift = {});
// 1 / sqrt(variance + epsilon).
std::vector<double> InverseDeviation(const std::vector<double>& variance, float epsilon);

// The elements of a vector of floats of any type, one for each channel; InvalidArgument for another shape.
std::vector<double> ReadChannels(const RunContext& ctx, int i, int64_t channels);

// y = y * t (or y + t), t broadcasting to y; both of one floating type. InvalidArgument about input i otherwise.
void CombineWith(RunContext& ctx, Tensor& y, int i, bool multiply);

// y = x seen as [rows, row], less the center and times the scale of its row, times input `scale` and plus input `shift`
// (none below 0) broadcasting to it: at once where these are rows of floats as well.
void NormalizeScaledInto(RunContext& ctx, const Tensor& x, Tensor& y, int64_t rows, int64_t row,
                         const std::vector<double>& center, const std::vector<double>& factor, int scale, int shift);

// What LayerNormalization and RMSNormalization share: the axes from `axis` on are normalised together. Rows that hold
// nothing are none, however many, unless there is an output with a number for each.
struct RowSplit {
  int axis;
  int64_t rows, row;
};
RowSplit SplitAtAxis(const RunContext& ctx, const Shape& shape);

// RMSNormalization of input 0, times the scale that is input 1, as output 0. What each row was multiplied with.
std::vector<double> NormalizeByRootMeanSquare(RunContext& ctx);

}  // namespace ONNX_LIGHT_NAMESPACE
