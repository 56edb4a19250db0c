// SPDX-License-Identifier: Apache-2.0
// dft: the discrete Fourier transform of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// A plan for one length: by the smallest prime factors, so n times their sum steps. Not thread safe.
class Dft {
 public:
  // `pause` is called now and then in transforms of large prime factors, and may throw.
  explicit Dft(int64_t n, std::function<void()> pause = {});
  // out[k] = sum over j of in[j] e^(-2 pi i j k / n); with `inverse` e^(+..), divided by n. Distinct arrays of n.
  void Run(const std::complex<double>* in, std::complex<double>* out, bool inverse);

 private:
  void Transform(const std::complex<double>* in, int64_t step, std::complex<double>* out, int64_t n, bool inverse);
  int64_t n_;
  std::function<void()> pause_;
  std::vector<std::complex<double>> roots_;  // e^(-2 pi i k / n)
  std::vector<std::complex<double>> terms_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
