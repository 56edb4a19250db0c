// SPDX-License-Identifier: Apache-2.0
#include "kernels/dft/dft.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

int64_t SmallestFactor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

}  // namespace

Dft::Dft(int64_t n, std::function<void()> pause) : n_(n), pause_(std::move(pause)) {
  for (int64_t k = 0; k < n; ++k)
    roots_.push_back(std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
}

void Dft::Transform(const std::complex<double>* in, int64_t step, std::complex<double>* out, int64_t n, bool inverse) {
  if (n == 1) {
    *out = *in;
    return;
  }
  const int64_t p = SmallestFactor(n), m = n / p;
  for (int64_t r = 0; r < p; ++r) Transform(in + r * step, step * p, out + r * m, m, inverse);
  // Element k of each of the p parts makes elements k, k + m, .. of the whole, which lie in the same places.
  const int64_t root_step = n_ / n;
  for (int64_t k = 0; k < m; ++k) {
    terms_.clear();
    for (int64_t r = 0; r < p; ++r) terms_.push_back(out[r * m + k]);
    for (int64_t q = 0; q < p; ++q) {
      if (pause_ && p >= 1024) pause_();
      const int64_t at = k + q * m;
      std::complex<double> sum = terms_[0];
      for (int64_t r = 1; r < p; ++r) {
        const std::complex<double> root = roots_[static_cast<size_t>(r * at % n * root_step)];
        sum += terms_[static_cast<size_t>(r)] * (inverse ? std::conj(root) : root);
      }
      out[at] = sum;
    }
  }
}

void Dft::Run(const std::complex<double>* in, std::complex<double>* out, bool inverse) {
  if (n_ == 0) return;
  Transform(in, 1, out, n_, inverse);
  if (!inverse) return;
  for (int64_t k = 0; k < n_; ++k) out[k] /= static_cast<double>(n_);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
