// SPDX-License-Identifier: Apache-2.0
#include "kernels/cast/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "kernels/cast/half_rows.h"
#include "kernels/elementwise/rows.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Calls fn with the C++ type of a number or bool.
template <class Fn>
void WithType(TensorType type, Fn&& fn) {
  switch (type) {
    case TensorType::kFloat:
      return fn(std::type_identity<float>());
    case TensorType::kDouble:
      return fn(std::type_identity<double>());
    case TensorType::kFloat16:
      return fn(std::type_identity<Float16>());
    case TensorType::kBfloat16:
      return fn(std::type_identity<BFloat16>());
    case TensorType::kInt8:
      return fn(std::type_identity<int8_t>());
    case TensorType::kInt16:
      return fn(std::type_identity<int16_t>());
    case TensorType::kInt32:
      return fn(std::type_identity<int32_t>());
    case TensorType::kInt64:
      return fn(std::type_identity<int64_t>());
    case TensorType::kUint8:
      return fn(std::type_identity<uint8_t>());
    case TensorType::kUint16:
      return fn(std::type_identity<uint16_t>());
    case TensorType::kUint32:
      return fn(std::type_identity<uint32_t>());
    case TensorType::kUint64:
      return fn(std::type_identity<uint64_t>());
    case TensorType::kBool:
      return fn(std::type_identity<bool>());
    default:
      return;
  }
}

// The type every value of T fits into, in which the second step starts.
template <class T>
using Middle =
    std::conditional_t<kIsFloating<T>, double, std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

template <class To, class From>
To Convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From> && sizeof(To) < sizeof(int32_t)) {
    // Without branches: loops over it become vectors.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min()),
                   kHigh = static_cast<From>(std::numeric_limits<To>::max());
    const From number = value == value ? value : From(0);
    const From above = number > kLow ? number : kLow;
    return static_cast<To>(static_cast<int32_t>(above < kHigh ? above : kHigh));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // The bounds as doubles: the upper one is exact as max+1.
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (std::isnan(value)) return To(0);
    if (value <= kLow) return std::numeric_limits<To>::min();
    if (value >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

constexpr int64_t kBlock = 256;

// The whole numbers of 4 and 2 bits: a byte each, of which the low bits count.
bool IsNarrowInteger(TensorType type) { return onnx_optim::IsIntegerTensorType(type) && onnx_optim::BitsOf(type) < 8; }

bool HasOwnType(TensorType type) { return !IsNarrowInteger(type) && NarrowFloat::Find(type) == nullptr; }

template <class M>
void ToMiddle(const void* from, TensorType type, int64_t begin, int64_t n, M* middle) {
  const uint8_t* const codes = static_cast<const uint8_t*>(from) + begin;
  if constexpr (std::is_same_v<M, double>) {
    if (const NarrowFloat* format = NarrowFloat::Find(type)) {
      for (int64_t i = 0; i < n; ++i) middle[i] = format->Value(codes[i]);
      return;
    }
  } else if (IsNarrowInteger(type)) {
    const int unused = 8 - onnx_optim::BitsOf(type);
    const bool is_signed = type == TensorType::kInt4 || type == TensorType::kInt2;
    for (int64_t i = 0; i < n; ++i) {
      const auto high = static_cast<uint8_t>(codes[i] << unused);
      middle[i] = static_cast<M>((is_signed ? static_cast<int8_t>(high) : static_cast<int>(high)) >> unused);
    }
    return;
  }
  WithType(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<Middle<T>, M>) {
      const T* a = static_cast<const T*>(from) + begin;
      for (int64_t i = 0; i < n; ++i) middle[i] = static_cast<M>(Load(a[i]));
    }
  });
}
template <class M>
void FromMiddle(const M* middle, void* to, TensorType type, int64_t begin, int64_t n, const CastRules& rules) {
  uint8_t* const codes = static_cast<uint8_t*>(to) + begin;
  if (const NarrowFloat* format = NarrowFloat::Find(type)) {
    for (int64_t i = 0; i < n; ++i) codes[i] = format->Code(static_cast<double>(middle[i]), rules);
    return;
  }
  if (IsNarrowInteger(type)) {
    const int64_t mask = (1 << onnx_optim::BitsOf(type)) - 1;
    for (int64_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(Convert<int64_t>(middle[i]) & mask);
    return;
  }
  WithType(type, [&]<class T>(std::type_identity<T>) {
    T* out = static_cast<T*>(to) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = Convert<T>(middle[i]);
  });
}

// Calls fn(std::type_identity<M>()) with the middle type of `type`.
template <class Fn>
void WithMiddle(TensorType type, Fn&& fn) {
  if (onnx_optim::IsFloatTensorType(type)) return fn(std::type_identity<double>());
  if (type == TensorType::kUint64) return fn(std::type_identity<uint64_t>());
  return fn(std::type_identity<int64_t>());
}

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <class T>
std::optional<T> Parse(std::string_view text) {
  text = Trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if constexpr (std::is_floating_point_v<T>) {
      // from_chars leaves the value alone: too large or too small.
      const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
      const T magnitude = tiny ? T(0) : std::numeric_limits<T>::infinity();
      return text[0] == '-' ? -magnitude : magnitude;
    }
    return std::nullopt;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

template <class T>
bool FromString(std::string_view text, T* to) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using M = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
    if (const std::optional<M> whole = Parse<M>(text)) {
      *to = static_cast<T>(std::clamp<M>(*whole, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      return true;
    }
  }
  // float is read as float: by way of double it could round twice.
  using F = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const std::optional<F> value = Parse<F>(text);
  if (value) *to = Convert<T>(*value);
  return value.has_value();
}

template <class T>
std::string ToString(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
    return fmt::format("{}", value);
  } else {
    return fmt::format("{}", static_cast<Middle<T>>(value));
  }
}

// Calls fn with the C++ type of those that models are full of.
template <class Fn>
bool WithUsualType(TensorType type, Fn&& fn) {
  switch (type) {
    case TensorType::kFloat:
      return fn(std::type_identity<float>());
    case TensorType::kInt32:
      return fn(std::type_identity<int32_t>());
    case TensorType::kInt64:
      return fn(std::type_identity<int64_t>());
    case TensorType::kUint8:
      return fn(std::type_identity<uint8_t>());
    case TensorType::kInt8:
      return fn(std::type_identity<int8_t>());
    case TensorType::kBool:
      return fn(std::type_identity<bool>());
    default:
      return false;
  }
}

template <class Half>
bool CastHalf(const void* from, TensorType from_type, void* to, TensorType to_type, int64_t n, TensorType half) {
  if (from_type == half && to_type == TensorType::kFloat) {
    FloatsOf(static_cast<const Half*>(from), n, static_cast<float*>(to));
    return true;
  }
  if (from_type != TensorType::kFloat || to_type != half) return false;
  HalvesOf(static_cast<const float*>(from), n, static_cast<Half*>(to));
  return true;
}

// By values of its own: a store of bytes could change what a caller holds by reference, and the loop would not become
// vectors.
template <class From, class To>
void ConvertAll(const From* from, int64_t n, To* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = Convert<To>(from[i]);
}

// The usual pairs of types, without a step between; says whether they are one.
bool CastAtOnce(const void* from, TensorType from_type, void* to, TensorType to_type, int64_t n) {
  return CastHalf<Float16>(from, from_type, to, to_type, n, TensorType::kFloat16) ||
         CastHalf<BFloat16>(from, from_type, to, to_type, n, TensorType::kBfloat16) ||
         WithUsualType(from_type, [&]<class From>(std::type_identity<From>) {
           return WithUsualType(to_type, [&]<class To>(std::type_identity<To>) {
             // Bytes of 0 and 1: loops over them become vectors.
             using Stored = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
             ConvertAll(static_cast<const Stored*>(from), n, static_cast<To*>(to));
             return true;
           });
         });
}

}  // namespace

void Cast(const void* from, TensorType from_type, void* to, TensorType to_type, int64_t n, const CastRules& rules) {
  if (CastAtOnce(from, from_type, to, to_type, n)) return;
  WithMiddle(from_type, [&]<class M>(std::type_identity<M>) {
    M middle[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      ToMiddle(from, from_type, i, count, middle);
      FromMiddle(middle, to, to_type, i, count, rules);
    }
  });
}

void CastToString(const void* from, TensorType from_type, std::string* to, int64_t n) {
  if (!HasOwnType(from_type)) {
    const auto* const codes = static_cast<const uint8_t*>(from);
    for (int64_t i = 0; i < n; ++i) {
      float value = 0;  // holds each of them, whole numbers too
      Cast(codes + i, from_type, &value, TensorType::kFloat, 1);
      to[i] = ToString(value);
    }
    return;
  }
  WithType(from_type, [&]<class T>(std::type_identity<T>) {
    const T* a = static_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = ToString(Load(a[i]));
  });
}

int64_t CastFromString(const std::string* from, void* to, TensorType to_type, int64_t n, const CastRules& rules) {
  int64_t i = 0;
  if (!HasOwnType(to_type)) {
    double value = 0;
    for (; i < n && FromString(from[i], &value); ++i)
      Cast(&value, TensorType::kDouble, static_cast<uint8_t*>(to) + i, to_type, 1, rules);
    return i;
  }
  WithType(to_type, [&]<class T>(std::type_identity<T>) {
    T* out = static_cast<T*>(to);
    while (i < n && FromString(from[i], &out[i])) ++i;
  });
  return i;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
