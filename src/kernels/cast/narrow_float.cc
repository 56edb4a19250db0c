// SPDX-License-Identifier: Apache-2.0
#include "kernels/cast/narrow_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr int kDoubleMantissa = 52, kDoubleBias = 1023;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// std::ldexp is no constant expression.
constexpr double Scaled(double value, int exponent) {
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

}  // namespace

constexpr NarrowFloat::NarrowFloat(int exponent_bits, int mantissa_bits, int bias, Specials specials) noexcept
    : mantissa_bits_(mantissa_bits),
      bias_(bias),
      specials_(specials),
      mask_(static_cast<uint8_t>((1 << (exponent_bits + mantissa_bits + (specials == Specials::kPowers ? 0 : 1))) - 1)),
      sign_(static_cast<uint8_t>(specials == Specials::kPowers ? 0 : 1 << (exponent_bits + mantissa_bits))),
      max_(static_cast<uint8_t>((1 << (exponent_bits + mantissa_bits)) - 1)),
      nan_(sign_) {
  if (specials == Specials::kPowers || specials == Specials::kNan) nan_ = max_--;
  if (specials == Specials::kIeee) {
    nan_ = static_cast<uint8_t>(max_ - 1);  // quiet
    max_ = static_cast<uint8_t>(max_ - (1 << mantissa_bits));
  }
  for (int code = 0; code <= mask_; ++code) {
    const int magnitude = code & ~sign_;
    const int exponent = magnitude >> mantissa_bits, fraction = magnitude & ((1 << mantissa_bits) - 1);
    double value = Scaled(exponent == 0 ? fraction : fraction + (1 << mantissa_bits),
                          std::max(exponent, 1) - bias - mantissa_bits);
    if (specials == Specials::kPowers) value = Scaled(1, code - bias);
    if (magnitude > max_)
      value = specials == Specials::kIeee && fraction == 0 ? std::numeric_limits<double>::infinity() : kNaN;
    values_[static_cast<size_t>(code)] = (code & sign_) != 0 ? -value : value;
  }
  if (specials == Specials::kUnsignedZero) values_[sign_] = kNaN;
}

const NarrowFloat* NarrowFloat::Find(TensorType type) noexcept {
  static constexpr NarrowFloat kE4M3Fn(4, 3, 7, Specials::kNan), kE4M3Fnuz(4, 3, 8, Specials::kUnsignedZero),
      kE5M2(5, 2, 15, Specials::kIeee), kE5M2Fnuz(5, 2, 16, Specials::kUnsignedZero),
      kE8M0(8, 0, 127, Specials::kPowers), kE2M1(2, 1, 1, Specials::kNone), kE2M3(2, 3, 1, Specials::kNone),
      kE3M2(3, 2, 3, Specials::kNone);
  switch (type) {
    case TensorType::kFloat8e4m3fn:
      return &kE4M3Fn;
    case TensorType::kFloat8e4m3fnuz:
      return &kE4M3Fnuz;
    case TensorType::kFloat8e5m2:
      return &kE5M2;
    case TensorType::kFloat8e5m2fnuz:
      return &kE5M2Fnuz;
    case TensorType::kFloat8e8m0:
      return &kE8M0;
    case TensorType::kFloat4e2m1:
      return &kE2M1;
    case TensorType::kFloat6e2m3:
      return &kE2M3;
    case TensorType::kFloat6e3m2:
      return &kE3M2;
    default:
      return nullptr;
  }
}

uint8_t NarrowFloat::Code(double value, const CastRules& rules) const noexcept {
  if (specials_ == Specials::kPowers) return PowerCode(value, rules);
  const uint8_t sign = std::signbit(value) ? sign_ : 0;
  const bool one_zero = specials_ == Specials::kUnsignedZero;
  if (std::isnan(value)) return specials_ == Specials::kNan || specials_ == Specials::kIeee ? sign | nan_ : nan_;
  // The fraction of the double, cut to its leading bits, is that of the code; one that rounds up to the next power of
  // two carries into the exponent. Below the least normal number fewer bits are left.
  const auto bits = std::bit_cast<uint64_t>(std::fabs(value));
  const int exponent = static_cast<int>(bits >> kDoubleMantissa) - kDoubleBias;
  const int least = 1 - bias_;
  const int lost = kDoubleMantissa - mantissa_bits_ + std::max(0, least - exponent);
  uint64_t magnitude = 0;
  if (lost <= kDoubleMantissa + 1) {
    const uint64_t fraction = (bits & ((uint64_t{1} << kDoubleMantissa) - 1)) | uint64_t{1} << kDoubleMantissa;
    const uint64_t half = uint64_t{1} << (lost - 1), kept = fraction >> lost, rest = fraction & (2 * half - 1);
    magnitude = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
    magnitude += static_cast<uint64_t>(std::max(0, exponent - least)) << mantissa_bits_;
  }
  if (magnitude > max_) {
    if (!rules.saturate && one_zero) return nan_;
    if (!rules.saturate && specials_ == Specials::kIeee) return static_cast<uint8_t>(sign | (max_ + 1));
    if (!rules.saturate && specials_ == Specials::kNan) return sign | nan_;
    magnitude = max_;
  }
  return static_cast<uint8_t>(magnitude == 0 && one_zero ? 0 : sign | magnitude);
}

uint8_t NarrowFloat::PowerCode(double value, const CastRules& rules) const noexcept {
  if (std::isnan(value) || value < 0) return nan_;
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool between = (bits & ((uint64_t{1} << kDoubleMantissa) - 1)) != 0;
  const bool upper_half = (bits >> (kDoubleMantissa - 1) & 1) != 0;
  int power = static_cast<int>(bits >> kDoubleMantissa & 0x7ff) - kDoubleBias;
  if (between &&
      (rules.rounding == CastRules::Rounding::kUp || (rules.rounding == CastRules::Rounding::kNearest && upper_half)))
    ++power;
  const int code = power + bias_;
  if (code >= 0 && code <= max_) return static_cast<uint8_t>(code);
  if (!rules.saturate) return nan_;
  return code < 0 ? 0 : max_;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
