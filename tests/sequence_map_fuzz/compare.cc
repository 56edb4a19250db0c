// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
double Largest(const Tensor& tensor) {
  double largest = 1;
  for (const T x : tensor.View<T>())
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

double LargestOf(const Tensor& tensor) {
  if (tensor.dtype() == TensorType::kFloat) return Largest<float>(tensor);
  return tensor.dtype() == TensorType::kDouble ? Largest<double>(tensor) : 1;
}

template <class T>
std::string Floats(const Tensor& got, const Tensor& wanted, double largest) {
  const double allowed = 1e-5 * largest;
  for (size_t i = 0; i < wanted.View<T>().size(); ++i) {
    const T a = got.View<T>()[i], b = wanted.View<T>()[i];
    const bool same = std::isfinite(b) ? std::abs(static_cast<double>(a) - static_cast<double>(b)) <= allowed
                      : std::isnan(b)  ? std::isnan(a)
                                       : a == b;
    if (!same) return fmt::format("number {} is {}, not {} (allowed: {:.2g})", i, a, b, allowed);
  }
  return {};
}

std::string Tensors(const Tensor& got, const Tensor& wanted, double largest) {
  if (got.TypeString() != wanted.TypeString()) return fmt::format("{}, not {}", got.TypeString(), wanted.TypeString());
  if (wanted.dtype() == TensorType::kFloat) return Floats<float>(got, wanted, largest);
  if (wanted.dtype() == TensorType::kDouble) return Floats<double>(got, wanted, largest);
  return wanted.ByteSize() == 0 || std::memcmp(got.data(), wanted.data(), wanted.ByteSize()) == 0
             ? std::string()
             : "other numbers of " + wanted.TypeString();
}

}  // namespace

std::string Difference(const Value& got, const Value& wanted) {
  if (got.TypeString() != wanted.TypeString()) return fmt::format("{}, not {}", got.TypeString(), wanted.TypeString());
  if (wanted.IsTensor()) return Tensors(got.tensor(), wanted.tensor(), LargestOf(wanted.tensor()));
  double largest = 1;
  for (const Tensor& element : wanted.sequence().elements()) largest = std::max(largest, LargestOf(element));
  for (int64_t i = 0; i < wanted.sequence().size(); ++i) {
    const std::string text = Tensors(got.sequence()[i], wanted.sequence()[i], largest);
    if (!text.empty()) return fmt::format("element {}: {}", i, text);
  }
  return {};
}

}  // namespace ONNX_LIGHT_NAMESPACE
