// SPDX-License-Identifier: Apache-2.0
// What MatMul and Gemm share: a product of dense row-major matrices of any element type they take.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kMatrixTypes =
    kFloatTypes | TypeSet{TensorType::kInt32, TensorType::kInt64, TensorType::kUint32, TensorType::kUint64};

// `batch` products C[m,n] = op(A) op(B), where op transposes on demand: A is stored [m,k], or [k,m] when transposed, B
// [k,n] or [n,k]. Offsets in elements, [batch] each, or empty for one product.
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1;
  std::vector<int64_t> a_offsets = {}, b_offsets = {}, c_offsets = {};
};

// c is an own tensor of the type of a and b.
void Multiply(RunContext& ctx, const MatrixProduct& product, const Tensor& a, const Tensor& b, Tensor& c);

}  // namespace ONNX_LIGHT_NAMESPACE
