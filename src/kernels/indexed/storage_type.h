// SPDX-License-Identifier: Apache-2.0
// Elements as bytes: code that only moves elements is compiled per size, not per type.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <type_traits>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct Bytes16 {
  uint64_t low, high;
};

// Calls fn(std::type_identity<E>()) with an E that elements of `type` (strings included) may be moved as.
template <class Fn>
void DispatchStorage(TensorType type, Fn&& fn) {
  if (type == TensorType::kString) return fn(std::type_identity<std::string>());
  switch (onnx_optim::BytesOf(type)) {
    case 1:
      return fn(std::type_identity<uint8_t>());
    case 2:
      return fn(std::type_identity<uint16_t>());
    case 4:
      return fn(std::type_identity<uint32_t>());
    case 8:
      return fn(std::type_identity<uint64_t>());
    case 16:
      return fn(std::type_identity<Bytes16>());
    default:
      assert(false);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
