// SPDX-License-Identifier: Apache-2.0
// functions: what elementwise operators compute of one number beyond the activations of recurrent operators.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

enum class FunctionKind : uint8_t {
  kAtan,       // the arc tangent, in radians
  kCeil,       // the least whole number not below x
  kCelu,       // x, alpha (e^(x / alpha) - 1) below 0
  kCos,        // x in radians
  kCube,       // x x x
  kErf,        // the error function
  kExp,        // e^x
  kFloor,      // the greatest whole number not above x
  kGelu,       // x times the normal distribution function of x
  kGeluTanh,   // the same by tanh
  kHardSwish,  // x times x / 6 + 1 / 2 held within [0, 1]
  kLog,        // the natural logarithm; -inf for 0
  kMish,       // x tanh(log(1 + e^x))
  kRound,      // the nearest whole number, halves to the even one
  kSelu,       // beta x, beta alpha (e^x - 1) below 0
  kSin,        // x in radians
  kSqrt,       // the square root
  kSquare,     // x x
  kSwish,      // x times the sigmoid of alpha x
};
inline constexpr int kFunctionKinds = 19;

// A function with the values it takes.
struct Function {
  FunctionKind kind;
  float alpha = 0;
  float beta = 0;
};

// The plain definition, in T (float or double). NaN stays NaN. Thread safe.
template <class T>
T Evaluate(const Function& function, T x) noexcept {
  const T alpha = static_cast<T>(function.alpha), beta = static_cast<T>(function.beta);
  switch (function.kind) {
    case FunctionKind::kAtan:
      return std::atan(x);
    case FunctionKind::kCeil:
      return std::ceil(x);
    case FunctionKind::kCelu:
      return x < 0 ? alpha * std::expm1(x / alpha) : x;
    case FunctionKind::kCos:
      return std::cos(x);
    case FunctionKind::kCube:
      return x * x * x;
    case FunctionKind::kErf:
      return std::erf(x);
    case FunctionKind::kExp:
      return std::exp(x);
    case FunctionKind::kFloor:
      return std::floor(x);
    case FunctionKind::kGelu:
      return x * (T(0.5) * std::erfc(-x * static_cast<T>(std::numbers::sqrt2 / 2)));
    case FunctionKind::kGeluTanh: {
      constexpr double kScale = std::numbers::inv_sqrtpi * std::numbers::sqrt2;
      return T(0.5) * x * (1 + std::tanh(static_cast<T>(kScale) * (x + static_cast<T>(0.044715) * x * x * x)));
    }
    case FunctionKind::kHardSwish: {
      const T gate = x / T(6) + T(0.5);
      return x * (gate < 0 ? T(0) : gate > 1 ? T(1) : gate);
    }
    case FunctionKind::kLog:
      // The comparison reads a denormal as the run does, which may flush them; std::log takes its bits apart.
      return x == 0 ? -std::numeric_limits<T>::infinity() : std::log(x);
    case FunctionKind::kMish:
      return x * std::tanh((x > 0 ? x : T(0)) + std::log1p(std::exp(-std::abs(x))));
    case FunctionKind::kRound:
      return std::nearbyint(x);
    case FunctionKind::kSelu:
      return beta * (x < 0 ? alpha * std::expm1(x) : x);
    case FunctionKind::kSin:
      return std::sin(x);
    case FunctionKind::kSqrt:
      return std::sqrt(x);
    case FunctionKind::kSquare:
      return x * x;
    case FunctionKind::kSwish: {
      const T scaled = alpha * x;
      const T e = std::exp(-std::abs(scaled));  // never overflows, whatever the sign
      return x * (scaled < 0 ? e : T(1)) / (1 + e);
    }
  }
  return x;
}

// y[i] = function(x[i]) for i < n, vectorised. x and y need no alignment and may be the same. Float results are within
// 4 units in the last place of the true value for finite x: those of kGelu of that or x / 8, of kGeluTanh, kHardSwish,
// kMish and kSwish of that or x, of kSin and kCos of that or 1 / 4, whichever is larger; results below 2^-125 may be 0.
// Double ones are those of Evaluate. NaN stays NaN. An element's result depends on neither n nor its place. Thread
// safe.
void ApplyFunction(const Function& function, int64_t n, const float* x, float* y) noexcept;
void ApplyFunction(const Function& function, int64_t n, const double* x, double* y) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
