// SPDX-License-Identifier: Apache-2.0
// dft: discrete Fourier transforms of any length, several of one length at once.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// A plan for one length, by its factors 4 and its primes, so n times their sum steps. Thread safe once made.
class Dft {
 public:
  // Transforms that go together, one in each place of a vector.
  static constexpr int64_t kLanes = 8;

  explicit Dft(int64_t n);
  // How many of `transforms` to run at once.
  int64_t LanesFor(int64_t transforms) const;
  // out[k] = sum over j of in[j] e^(-2 pi i j k / n); with `inverse` e^(+..), divided by n. in and out are distinct, of
  // n elements each: the real parts of `lanes` transforms, then the imaginary ones. lanes is 1 or kLanes; a transform's
  // result does not depend on it. Ends early, with any result, where the run is to stop (base/stop_token.h).
  void Run(int64_t lanes, const double* in, double* out, bool inverse) const;
  // One transform.
  void Run(const std::complex<double>* in, std::complex<double>* out, bool inverse) const;

  // A step that makes one transform of n from `factor` of n / factor.
  struct Level {
    int64_t factor, n;
    std::vector<double> twiddles;  // e^(-2 pi i r k / n), r in [1, factor), for each k < n / factor
    std::vector<double> roots;     // e^(-2 pi i k / factor) where the factor is neither 2 nor 4
  };

 private:
  int64_t n_;
  int64_t largest_ = 1;  // factor
  std::vector<Level> levels_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
