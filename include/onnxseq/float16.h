// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 as values: 16 stored bits that convert to and from float (round to nearest even).
#pragma once

#include <bit>
#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The float next to `value` whose last bit is set where it is not exact: rounding that to 16 bits gives what rounding
// `value` itself gives, where the nearest float may lie half way between two.
inline float RoundToOdd(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  if (!(nearest < value) && !(nearest > value)) return nearest;  // exact, or no number
  const auto bits = std::bit_cast<uint32_t>(nearest);
  const double beyond = value < 0 ? value - nearest : nearest - value;  // > 0: rounded away from zero
  return std::bit_cast<float>((beyond > 0 ? bits - 1 : bits) | 1u);
}

// IEEE binary16.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) noexcept {
    const auto f = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
    const uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {  // NaN stays NaN, made quiet
      bits = static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
      bits = static_cast<uint16_t>(sign | 0x7c00u);
    } else if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal; adding 0.5 lets the FPU round in its last bits
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
      bits = static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
    }
  }
  explicit Float16(double value) noexcept : Float16(RoundToOdd(value)) {}
  static Float16 FromBits(uint16_t b) noexcept {
    Float16 r;
    r.bits = b;
    return r;
  }

  operator float() const noexcept {  // NOLINT(google-explicit-constructor): reads as the number it is
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
};

// The upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept {
    const auto f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((f >> 16) | 0x40u);
    } else {
      bits = static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
    }
  }
  explicit BFloat16(double value) noexcept : BFloat16(RoundToOdd(value)) {}
  static BFloat16 FromBits(uint16_t b) noexcept {
    BFloat16 r;
    r.bits = b;
    return r;
  }

  operator float() const noexcept {  // NOLINT(google-explicit-constructor): reads as the number it is
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace ONNX_LIGHT_NAMESPACE
