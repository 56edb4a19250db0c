// SPDX-License-Identifier: Apache-2.0
// What the support vector machines share: the kernel, and the support vectors.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {

class SvmKernel {
 public:
  SvmKernel() = default;
  // From attributes 'kernel_type' and 'kernel_params' (InvalidArgument for another name or count).
  explicit SvmKernel(const NodeAttributes& attrs);
  // a and b are as long as each other.
  double operator()(std::span<const float> a, std::span<const float> b) const;

 private:
  enum class Kind { kLinear, kPoly, kRbf, kSigmoid };
  Kind kind_ = Kind::kLinear;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

// Attribute 'support_vectors' [count, features], the elements of which must be a multiple of count.
struct SvmVectors {
  std::vector<float> elements;
  int64_t count = 0;
  int64_t features = 0;
  std::span<const float> operator[](int64_t i) const {
    return {elements.data() + i * features, static_cast<size_t>(features)};
  }
};
SvmVectors ReadSvmVectors(const NodeAttributes& attrs, int64_t count);

}  // namespace ONNX_LIGHT_NAMESPACE
