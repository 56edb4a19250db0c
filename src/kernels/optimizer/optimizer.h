// SPDX-License-Identifier: Apache-2.0
// optimizer: one update of tensors that are trained: x against its gradient g, with a regularization c |x|^2 / 2 added
// to what is minimised. All spans have one size; x and the states are updated in place. Each element is computed in T,
// T being float or double.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// v is the gradient, averaged over the updates so far: alpha v + beta g. Nesterov looks one update ahead.
template <class T>
struct MomentumUpdate {
  T rate, regularization, alpha, beta;
  bool nesterov;

  void operator()(std::span<const T> g, std::span<T> x, std::span<T> v) const noexcept {
    for (size_t i = 0; i < g.size(); ++i) {
      const T gradient = regularization * x[i] + g[i];
      v[i] = alpha * v[i] + beta * gradient;
      x[i] -= rate * (nesterov ? gradient + alpha * v[i] : v[i]);
    }
  }
};

// h is the sum of the squared gradients so far.
template <class T>
struct AdagradUpdate {
  T rate, regularization, epsilon;

  void operator()(std::span<const T> g, std::span<T> x, std::span<T> h) const noexcept {
    for (size_t i = 0; i < g.size(); ++i) {
      const T gradient = regularization * x[i] + g[i];
      h[i] += gradient * gradient;
      x[i] -= rate * gradient / (std::sqrt(h[i]) + epsilon);
    }
  }
};

// v and h are running means of the gradient and of its square; `shrink` takes its part of the new x away.
template <class T>
struct AdamUpdate {
  T rate, regularization, alpha, beta, epsilon, shrink;

  void operator()(std::span<const T> g, std::span<T> x, std::span<T> v, std::span<T> h) const noexcept {
    for (size_t i = 0; i < g.size(); ++i) {
      const T gradient = regularization * x[i] + g[i];
      v[i] = alpha * v[i] + (1 - alpha) * gradient;
      h[i] = beta * h[i] + (1 - beta) * (gradient * gradient);
      x[i] = (1 - shrink) * (x[i] - rate * v[i] / (std::sqrt(h[i]) + epsilon));
    }
  }
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
