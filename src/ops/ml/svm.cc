// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/svm.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {

SvmKernel::SvmKernel(const NodeAttributes& attrs) {
  const std::string name = attrs.String("kernel_type", "LINEAR");
  if (name == "POLY") {
    kind_ = Kind::kPoly;
  } else if (name == "RBF") {
    kind_ = Kind::kRbf;
  } else if (name == "SIGMOID") {
    kind_ = Kind::kSigmoid;
  } else if (name != "LINEAR") {
    FailAttribute("kernel_type", fmt::format("is \"{}\", must be LINEAR, POLY, RBF or SIGMOID", name));
  }
  const std::vector<float> params = attrs.Floats("kernel_params");
  if (params.empty()) return;
  constexpr size_t kParams = 3;
  if (params.size() != kParams)
    FailAttribute("kernel_params", fmt::format("has {} elements, expected 3", params.size()));
  gamma_ = static_cast<double>(params[0]);
  coef0_ = static_cast<double>(params[1]);
  degree_ = static_cast<double>(params[2]);
}

double SvmKernel::operator()(std::span<const float> a, std::span<const float> b) const {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    sum += kind_ == Kind::kRbf ? (x - y) * (x - y) : x * y;
  }
  switch (kind_) {
    case Kind::kPoly:
      return std::pow(gamma_ * sum + coef0_, degree_);
    case Kind::kRbf:
      return std::exp(-gamma_ * sum);
    case Kind::kSigmoid:
      return std::tanh(gamma_ * sum + coef0_);
    case Kind::kLinear:
      break;
  }
  return sum;
}

SvmVectors ReadSvmVectors(const NodeAttributes& attrs, int64_t count) {
  SvmVectors vectors;
  vectors.elements = attrs.Floats("support_vectors");
  vectors.count = count;
  const auto size = static_cast<int64_t>(vectors.elements.size());
  if (size % count != 0) FailAttribute("support_vectors", fmt::format("has {} elements for {} vectors", size, count));
  vectors.features = size / count;
  return vectors;
}

}  // namespace ONNX_LIGHT_NAMESPACE
