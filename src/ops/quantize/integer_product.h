// SPDX-License-Identifier: Apache-2.0
// What MatMulInteger, ConvInteger and their quantised forms share: products and convolutions of 8-bit numbers, less
// their zero points.
#pragma once

#include <mutex>
#include <optional>

#include "base/function_ref.h"
#include "kernels/conv/byte_conv.h"
#include "kernels/gemm/byte_product.h"
#include "ops/math/matmul_op.h"
#include "ops/quantize/quantize_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// One number for all of a matrix, or one for each row of A (column of B): a scalar or vector, or with the dims of the
// matrix, its other axis of one element. The place in that list for each element of the matrix.
class Granularity {
 public:
  // The list is input `i`, the matrix `matrix`, its rows when it is A. InvalidArgument for any other shape.
  Granularity(const RunContext& ctx, int i, const Shape& matrix, bool rows);
  int64_t PlaceOf(int64_t element) const;

 private:
  int64_t count_, columns_, matrix_size_;
  bool rows_, by_matrix_ = false;
};

// B of a product of bytes, made ready once where it is a constant matrix.
struct ConstantBytes : OpState {
  Tensor b;  // undefined when it is none
  bool transposed = false;
  mutable std::once_flag once;
  mutable std::optional<kernels::PackedBytes> packed;  // by the first run
};
// Of input `b`; `transposed`: as it stands, it is [n,k].
std::unique_ptr<OpState> PackConstantBytes(const PrepareContext& ctx, int b, bool transposed = false);

// The product of inputs a and b, bytes, as planned, less the zero points, inputs a_zero and b_zero where they are
// given. Sums wrap. `done` gets pieces that are all of it, rows counted over all matrices, from several threads. The
// operator's state is a ConstantBytes.
using ByteSums = kernels::PackedBytes::Sums;
void IntegerProduct(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero,
                    FunctionRef<void(const ByteSums&)> done);
// The same where the operands' matrices are `a` [m,k] and input b, one of each; zero points of B are for its columns
// after transposing; `added`, of one for each column or of none, is added.
void IntegerProduct(RunContext& ctx, const PlannedProduct& plan, const Tensor& a, int a_zero, int b, int b_zero,
                    std::span<const int32_t> added, FunctionRef<void(const ByteSums&)> done);
// Of matrices of floats, either of them, computed as float.
Tensor CenteredProduct(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero);
// For each of `lines` its scale, or the one of all, times `factor`.
std::vector<float> LineScales(std::span<const float> scales, int64_t lines, float factor);

// The weights [M,..] of a convolution as M rows: what has one number for each channel goes by these.
Shape WeightMatrix(const Tensor& w);
// Weights of a convolution of bytes, packed by the first run where they and their zero points are constant.
struct ConstantByteConv : OpState {
  Tensor w;  // undefined when they are not
  mutable std::once_flag once;
  mutable std::optional<kernels::PackedByteConv> packed;
};
std::unique_ptr<OpState> PackConstantByteConv(const PrepareContext& ctx, int w, int w_zero);
// Where a convolution goes: elements of `element` bytes each, made of sums plus `added`, one for each channel or none.
struct ByteConvResult {
  void* y;
  int64_t element;
  std::span<const int32_t> added = {};
};
// The convolution of input 0 with input w, less the zero points, inputs x_zero, of one element, and w_zero, of one or
// of one for each channel it gives, where they are given. Sums wrap. Once shapes were checked, `start` gets that of the
// result; `finish` makes elements of sums. The operator's state is a ConstantByteConv.
void IntegerConvolution(RunContext& ctx, int x_zero, int w, int w_zero, FunctionRef<ByteConvResult(const Shape&)> start,
                        kernels::PackedByteConv::Finish finish);

}  // namespace ONNX_LIGHT_NAMESPACE
