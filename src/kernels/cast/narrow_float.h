// SPDX-License-Identifier: Apache-2.0
// NarrowFloat: the floats of 8 bits and fewer, as codes in the low bits of a byte.
//
//   e4m3fn            NaN is all ones below the sign; no infinity
//   e5m2              as IEEE floats
//   e4m3fnuz, e5m2fnuz   no infinity and no negative zero, whose code is NaN
//   e2m1, e2m3, e3m2  neither NaN nor infinity
//   e8m0              2^(code-127), no sign, no zero; 255 is NaN
#pragma once

#include <array>
#include <cstdint>

#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// How numbers become narrow floats: attributes of Cast. Rounding is to nearest, ties to even, but for float8e8m0, where
// `rounding` says it and ties go up.
struct CastRules {
  enum class Rounding : uint8_t { kUp, kDown, kNearest };
  bool saturate = true;  // what is too large becomes the largest number, else infinity or NaN; 8-bit types alone ask
  Rounding rounding = Rounding::kUp;
};

class NarrowFloat {
 public:
  // Null for a type that is no such float.
  static const NarrowFloat* Find(TensorType type) noexcept;

  double Value(uint8_t code) const noexcept { return values_[code & mask_]; }
  // NaN where there is none becomes the code of the sign alone. A float8e8m0 of a number below zero is NaN; what is
  // less than its least number, zero too, is that when saturating, else NaN.
  uint8_t Code(double value, const CastRules& rules = {}) const noexcept;

 private:
  enum class Specials : uint8_t { kNone, kNan, kIeee, kUnsignedZero, kPowers };
  constexpr NarrowFloat(int exponent_bits, int mantissa_bits, int bias, Specials specials) noexcept;
  uint8_t PowerCode(double value, const CastRules& rules) const noexcept;

  int mantissa_bits_, bias_;
  Specials specials_;
  uint8_t mask_, sign_, max_, nan_;  // mask_: the bits of a code; max_: of the largest number
  std::array<double, 256> values_{};
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
