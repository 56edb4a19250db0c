// SPDX-License-Identifier: Apache-2.0
// normalize: means and variances of stretches of an array, and what the normalisation operators make of them. Arrays of
// float, double, float16 or bfloat16 (halves are computed as float); sums are kept in double.
#pragma once

#include <cstdint>
#include <functional>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Of x[outer, channels, inner] for channels [begin, end): the mean over outer and inner, and the mean square distance
// from it; NaN when there is nothing.
void Moments(TensorType type, const void* x, int64_t outer, int64_t channels, int64_t inner, double* mean,
             double* variance, int64_t begin, int64_t end);
// The mean square of rows [begin, end) of x[rows, row]; NaN when there is nothing.
void MeanSquares(TensorType type, const void* x, int64_t row, double* squares, int64_t begin, int64_t end);

// y[r, i] = (x[r, i] - center[c]) * scale[c] + shift[c] with c = r % channels, for rows [begin, end) of x[rows, inner].
// shift may be null. y may be x.
void NormalizeRows(TensorType type, const void* x, void* y, int64_t channels, int64_t inner, const double* center,
                   const double* scale, const double* shift, int64_t begin, int64_t end);

// y[o, :, i] = x[o, :, i] / (sum |x|^p)^(1/p), 0 where that is 0, of x[outer, n, inner]; p 1 or 2.
void LpNormalize(TensorType type, const void* x, void* y, int64_t outer, int64_t n, int64_t inner, int p);

// y[o, c, i] = x[o, c, i] / (bias + alpha / size * s)^beta, s the sum of squares over the `size` channels around c (one
// more after than before when even).
struct ResponseNormalization {
  int64_t size;
  double alpha, beta, bias;
};
void NormalizeResponse(TensorType type, const void* x, void* y, int64_t outer, int64_t channels, int64_t inner,
                       const ResponseNormalization& how, const std::function<void()>& pause = {});

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
