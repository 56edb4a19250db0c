// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <type_traits>

#include "onnx_optim/tensor_type.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Calls fn(std::type_identity<T>()) with the C++ type of a floating one: float, double, Float16 or BFloat16.
template <class Fn>
void DispatchFloat(TensorType type, Fn&& fn) {
  switch (type) {
    case TensorType::kFloat:
      return fn(std::type_identity<float>());
    case TensorType::kDouble:
      return fn(std::type_identity<double>());
    case TensorType::kFloat16:
      return fn(std::type_identity<Float16>());
    case TensorType::kBfloat16:
      return fn(std::type_identity<BFloat16>());
    default:
      assert(false);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
