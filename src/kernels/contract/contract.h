// SPDX-License-Identifier: Apache-2.0
// contract: sums of products over any axes of any number of strided arrays. The plain way, for what no matrix product
// says.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct Contraction {
  std::vector<int64_t> out_dims, sum_dims;
  // By operand: its strides in elements along the axes of out_dims, then along those of sum_dims.
  std::vector<std::vector<int64_t>> strides;
};

// out, dense with out_dims, = the sum over sum_dims of the products of the operands' elements. All have the same
// numeric type; halves are computed as float, integers wrap.
// `pause` is called now and then, and may throw.
void Contract(TensorType type, std::span<const void* const> operands, const Contraction& how, void* out,
              const std::function<void()>& pause = {});

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
