// SPDX-License-Identifier: Apache-2.0
#include "compare_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool Near(double got, double expected, double rtol, double atol) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (std::isinf(got) || std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= atol + rtol * std::abs(expected);
}

template <class T>
std::string FloatDifference(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  const std::span<const T> a = got.View<T>(), b = expected.View<T>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Near(static_cast<double>(a[i]), static_cast<double>(b[i]), rtol, atol))
      return fmt::format("element {} is {}, expected {}", i, static_cast<double>(a[i]), static_cast<double>(b[i]));
  }
  return "";
}

std::string TensorDifference(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape())
    return fmt::format("is {}, expected {}", got.TypeString(), expected.TypeString());
  const bool exact = rtol == 0 && atol == 0;
  switch (got.dtype()) {
    case TensorType::kFloat:
      return FloatDifference<float>(got, expected, rtol, atol);
    case TensorType::kDouble:
      return FloatDifference<double>(got, expected, rtol, atol);
    case TensorType::kFloat16:
      return FloatDifference<Float16>(got, expected, exact ? 0 : std::max(rtol, 0x1p-10), atol);
    case TensorType::kBfloat16:
      return FloatDifference<BFloat16>(got, expected, exact ? 0 : std::max(rtol, 0x1p-7), atol);
    case TensorType::kString: {
      const std::span<const std::string> a = got.View<std::string>(), b = expected.View<std::string>();
      for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return fmt::format("element {} is \"{}\", expected \"{}\"", i, a[i], b[i]);
      return "";
    }
    default:
      break;
  }
  const auto* a = static_cast<const unsigned char*>(got.data());
  const auto* b = static_cast<const unsigned char*>(expected.data());
  if (got.NumElements() == 0 || std::memcmp(a, b, got.ByteSize()) == 0) return "";
  const auto at = static_cast<size_t>(std::mismatch(a, a + got.ByteSize(), b).first - a);
  const size_t size = std::max<size_t>(1, got.ByteSize() / static_cast<size_t>(got.NumElements()));
  int64_t left = 0, right = 0;
  std::memcpy(&left, a + at / size * size, std::min(size, sizeof(left)));
  std::memcpy(&right, b + at / size * size, std::min(size, sizeof(right)));
  return fmt::format("element {} has the bits {:x}, expected {:x}", at / size, left, right);
}

}  // namespace

std::string Difference(const Value& got, const Value& expected, double rtol, double atol) {
  if (got.IsTensor() && expected.IsTensor()) return TensorDifference(got.tensor(), expected.tensor(), rtol, atol);
  if (got.IsNone() && expected.IsNone()) return "";
  const bool maps = got.IsMap() && expected.IsMap();
  if (!maps && (!got.IsSequence() || !expected.IsSequence()))
    return fmt::format("is {}, expected {}", got.TypeString(), expected.TypeString());
  if (maps) {
    const std::string difference = TensorDifference(got.map().keys(), expected.map().keys(), 0, 0);
    if (!difference.empty()) return "keys: " + difference;
  }
  const Sequence& a = maps ? got.map().values() : got.sequence();
  const Sequence& b = maps ? expected.map().values() : expected.sequence();
  if (a.size() != b.size() || a.dtype() != b.dtype())
    return fmt::format("is {}, expected {}", a.TypeString(), b.TypeString());
  for (int64_t i = 0; i < a.size(); ++i) {
    const std::string difference = Difference(a.ValueAt(i), b.ValueAt(i), rtol, atol);
    if (!difference.empty()) return fmt::format("element {}: {}", i, difference);
  }
  return "";
}

}  // namespace ONNX_LIGHT_NAMESPACE
