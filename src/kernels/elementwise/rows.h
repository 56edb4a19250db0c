// SPDX-License-Identifier: Apache-2.0
// The rows of elementwise/broadcast.h for functors over C++ element types. float16 and bfloat16 are computed as float.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cast/half_rows.h"
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

// Elements of half types go through blocks of floats.
inline constexpr int64_t kHalfBlock = 256;

// to[i] = of(i) for i < count, of a float and to in a half type.
template <class Out, class Of>
void StoreBlock(int64_t count, Out* to, const Of& of) {
  if constexpr (kIsHalf<Out>) {
    float block[kHalfBlock];
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) block[i] = static_cast<float>(of(i));
    HalvesOf(block, count, to);
  } else {
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(of(i));
  }
}

template <class Fn, class In, class Out>
void UnaryRow(const void* const* in, const int64_t* /*step*/, void* out, int64_t n, const void* fn) {
  const Fn f = *static_cast<const Fn*>(fn);
  const auto* a = static_cast<const In*>(in[0]);
  auto* to = static_cast<Out*>(out);
  if constexpr (kIsHalf<In>) {
    float block[kHalfBlock];
    for (int64_t i = 0; i < n; i += kHalfBlock) {
      const int64_t count = std::min(kHalfBlock, n - i);
      FloatsOf(a + i, count, block);
      StoreBlock(count, to + i, [&](int64_t k) { return f(block[k]); });
    }
  } else {
    ONNXSEQ_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(Load(a[i])));
  }
}

// Where a row is longer than one, some operand advances.
template <class Fn, class A, class B, class Out>
void BinaryRow(const void* const* in, const int64_t* step, void* out, int64_t n, const void* fn) {
  const Fn f = *static_cast<const Fn*>(fn);
  const auto* a = static_cast<const A*>(in[0]);
  const auto* b = static_cast<const B*>(in[1]);
  auto* to = static_cast<Out*>(out);
  if constexpr (kIsHalf<A> && kIsHalf<B>) {
    float left[kHalfBlock], right[kHalfBlock];
    if (step[0] == 0) std::fill_n(left, kHalfBlock, static_cast<float>(*a));
    if (step[1] == 0) std::fill_n(right, kHalfBlock, static_cast<float>(*b));
    for (int64_t i = 0; i < n; i += kHalfBlock) {
      const int64_t count = std::min(kHalfBlock, n - i);
      if (step[0] != 0) FloatsOf(a + i, count, left);
      if (step[1] != 0) FloatsOf(b + i, count, right);
      StoreBlock(count, to + i, [&](int64_t k) { return f(left[k], right[k]); });
    }
  } else if (step[0] != 0 && step[1] != 0) {
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
