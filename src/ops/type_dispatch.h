// SPDX-License-Identifier: Apache-2.0
// TypeList and Dispatch: from an element type known at run time to code compiled for its C++ type. Each type in a list
// costs compile time and bytes; lists hold what the specification allows and no more.
#pragma once

#include <cassert>
#include <complex>
#include <string>
#include <type_traits>

#include "onnxseq/value.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

template <class... Ts>
struct TypeList {
  static constexpr TypeSet kSet{kTensorTypeOf<Ts>...};
};
using FloatList = TypeList<float, double, Float16, BFloat16>;
using NumericList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                             uint32_t, uint64_t>;
using IntList = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using SignedList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>;

// Calls fn(std::type_identity<T>()) for the T of the list whose tensors have that type. `type` must be in the list:
// formals say which types an operator takes, and nothing else reaches it.
template <class... Ts, class Fn>
void Dispatch(TypeList<Ts...>, TensorType type, Fn&& fn) {
  [[maybe_unused]] const bool found =
      ((type == kTensorTypeOf<Ts> ? (fn(std::type_identity<Ts>()), true) : false) || ...);
  assert(found);
}

}  // namespace ONNX_LIGHT_NAMESPACE
