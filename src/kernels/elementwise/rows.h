// SPDX-License-Identifier: Apache-2.0
// The rows of elementwise/broadcast.h for functors over C++ element types. float16 and bfloat16 are computed as float.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/elementwise/broadcast.h"
#include "onnxseq/float16.h"

// Iterations do not depend on each other: an output may be the very input it is computed from. clang finds out by a
// check at run time; its pragma would make an error of every loop that a build without full optimisation leaves as it
// is.
#if defined(__GNUC__) && !defined(__clang__)
#define ONNXSEQ_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ONNXSEQ_INDEPENDENT
#endif

namespace ONNX_LIGHT_NAMESPACE::kernels {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;

// What a functor sees of an element: float for the half types, a reference for types that are not numbers.
template <class T>
decltype(auto) Load(const T& value) {
  if constexpr (kIsHalf<T>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<const T&>(value);
  }
}

template <class Fn, class In, class Out>
void UnaryRow(const void* const* in, const int64_t* /*step*/, void* out, int64_t n, const void* fn) {
  const Fn f = *static_cast<const Fn*>(fn);
  const auto* a = static_cast<const In*>(in[0]);
  auto* to = static_cast<Out*>(out);
  ONNXSEQ_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(Load(a[i])));
}

// Where a row is longer than one, some operand advances.
template <class Fn, class A, class B, class Out>
void BinaryRow(const void* const* in, const int64_t* step, void* out, int64_t n, const void* fn) {
  const Fn f = *static_cast<const Fn*>(fn);
  const auto* a = static_cast<const A*>(in[0]);
  const auto* b = static_cast<const B*>(in[1]);
  auto* to = static_cast<Out*>(out);
  if (step[0] != 0 && step[1] != 0) {
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(Load(a[i]), Load(b[i])));
  } else if (step[1] == 0) {
    const B bv = *b;
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(Load(a[i]), Load(bv)));
  } else {
    const A av = *a;
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(Load(av), Load(b[i])));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
