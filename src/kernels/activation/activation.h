// SPDX-License-Identifier: Apache-2.0
// kernels: loops over spans and sizes, in the fastest form the CPU has; they know no graph, no value, no operator.
// Before it: base. After it: ops, which check everything and call in here. One folder per kernel: header, plain
// reference, vector variants (`-inl.h`, compiled once per instruction set and chosen at run time), test.
//
// activation: the eleven functions recurrent operators may name.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

enum class ActivationKind : uint8_t {
  kSigmoid,          // 1 / (1 + e^-x)
  kTanh,             // tanh x
  kRelu,             // max(x, 0)
  kHardSigmoid,      // alpha x + beta held within [0, 1]
  kAffine,           // alpha x + beta
  kLeakyRelu,        // x, alpha x below 0
  kThresholdedRelu,  // x, 0 below alpha
  kScaledTanh,       // alpha tanh(beta x)
  kElu,              // x, alpha (e^x - 1) below 0
  kSoftsign,         // x / (1 + |x|)
  kSoftplus,         // log(1 + e^x)
};
inline constexpr int kActivationKinds = 11;

// A function with the values it takes; those it does not take are ignored.
struct Activation {
  ActivationKind kind = ActivationKind::kSigmoid;
  double alpha = 0;
  double beta = 0;

  // With the function's default alpha and beta (ONNX Attributes of LSTM).
  static Activation Default(ActivationKind kind) noexcept;
  friend bool operator==(const Activation&, const Activation&) = default;
};

// ONNX's spelling: "Sigmoid", "ScaledTanh".
std::string_view ActivationName(ActivationKind kind) noexcept;
// The function with that name in any case of ASCII letters; nothing when none has.
std::optional<ActivationKind> ActivationFromName(std::string_view name) noexcept;
// Whether the function takes the value: only then an entry of activation_alpha / activation_beta is consumed.
bool TakesAlpha(ActivationKind kind) noexcept;
bool TakesBeta(ActivationKind kind) noexcept;

// The plain definition, in T (float or double). NaN stays NaN. Thread safe.
template <class T>
T Activate(const Activation& activation, T x) noexcept {
  const T alpha = static_cast<T>(activation.alpha), beta = static_cast<T>(activation.beta);
  switch (activation.kind) {
    case ActivationKind::kSigmoid: {
      const T e = std::exp(-std::abs(x));  // never overflows, and keeps the relative error of the negative tail
      return x < 0 ? e / (1 + e) : 1 / (1 + e);
    }
    case ActivationKind::kTanh:
      return std::tanh(x);
    case ActivationKind::kRelu:
      return x < 0 ? T(0) : x;
    case ActivationKind::kHardSigmoid: {
      const T y = alpha * x + beta;
      return y < 0 ? T(0) : y > 1 ? T(1) : y;
    }
    case ActivationKind::kAffine:
      return alpha * x + beta;
    case ActivationKind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case ActivationKind::kThresholdedRelu:
      return x < alpha ? T(0) : x;
    case ActivationKind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case ActivationKind::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case ActivationKind::kSoftsign:
      return std::isinf(x) ? std::copysign(T(1), x) : x / (1 + std::abs(x));
    case ActivationKind::kSoftplus:
      return (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

// y[i] = activation(x[i]) for i < n, vectorised. x and y need no alignment and may be the same. Of the float results,
// sigmoid and tanh are within 3 units in the last place of the true value (a sigmoid below 2^-125 may be 0), the others
// within 3 units of Activate in the terms they add up; double ones are those of Activate. NaN stays NaN. An element's
// result depends on neither n nor its place. Thread safe.
void ApplyActivation(const Activation& activation, int64_t n, const float* x, float* y) noexcept;
void ApplyActivation(const Activation& activation, int64_t n, const double* x, double* y) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
