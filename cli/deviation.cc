// SPDX-License-Identifier: Apache-2.0
#include "deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

void Add(const Value& got, const Value& exact, double& error, double& most) {
  if (exact.IsSequence() && got.IsSequence()) {
    const int64_t size = exact.sequence().size();
    if (got.sequence().size() != size) {
      error = kInfinite;
      return;
    }
    for (int64_t i = 0; i < size; ++i) Add(got.sequence().ValueAt(i), exact.sequence().ValueAt(i), error, most);
    return;
  }
  if (!exact.IsTensor() || !got.IsTensor() || exact.tensor().dtype() != TensorType::kFloat) return;
  if (got.tensor().shape() != exact.tensor().shape()) {
    error = kInfinite;
    return;
  }
  const auto y = got.tensor().View<float>(), z = exact.tensor().View<float>();
  for (size_t i = 0; i < y.size(); ++i) {
    const bool alike = y[i] == z[i] || (std::isnan(y[i]) && std::isnan(z[i]));
    const double difference = alike ? 0 : std::abs(static_cast<double>(y[i]) - static_cast<double>(z[i]));
    error = std::max(error, std::isnan(difference) ? kInfinite : difference);
    if (std::isfinite(z[i])) most = std::max(most, static_cast<double>(std::abs(z[i])));
  }
}

}  // namespace

Deviation DeviationOf(const Value& got, const Value& exact) {
  double error = 0, most = 0;
  Add(got, exact, error, most);
  return {error, most > 0 ? error / most : error};
}

}  // namespace ONNX_LIGHT_NAMESPACE
