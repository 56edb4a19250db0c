// SPDX-License-Identifier: Apache-2.0
#include "ops/as_type.h"

#include "kernels/cast/cast.h"

namespace ONNX_LIGHT_NAMESPACE {

Tensor AsType(const Tensor& t, TensorType type) {
  if (t.dtype() == type) return t;
  Tensor cast(type, t.shape());
  kernels::Cast(t.data(), t.dtype(), cast.mutable_data(), type, t.NumElements());
  return cast;
}

Tensor WithOwnType(const Tensor& t) {
  return kernels::NarrowFloat::Find(t.dtype()) != nullptr ? AsType(t, TensorType::kFloat) : t;
}

Tensor Widened(const Tensor& t) {
  const bool half = t.dtype() == TensorType::kFloat16 || t.dtype() == TensorType::kBfloat16;
  return half ? AsType(t, TensorType::kFloat) : t;
}

}  // namespace ONNX_LIGHT_NAMESPACE
