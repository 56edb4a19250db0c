// SPDX-License-Identifier: Apache-2.0
// What MatMulInteger and QLinearMatMul share: products of 8-bit matrices, less their zero points, as int32.
#pragma once

#include <optional>

#include "kernels/gemm/byte_product.h"
#include "ops/math/matmul_op.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kByteTypes{TensorType::kInt8, TensorType::kUint8};

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
  std::optional<kernels::PackedBytes> packed;
};
// Of input `b`.
std::unique_ptr<OpState> PackConstantBytes(const PrepareContext& ctx, int b);

// The product of inputs a and b less the zero points, inputs a_zero and b_zero where they are given. Sums wrap. The
// operator's state is a ConstantBytes.
Tensor IntegerProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero);

}  // namespace ONNX_LIGHT_NAMESPACE
