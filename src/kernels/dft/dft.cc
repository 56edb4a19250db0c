// SPDX-License-Identifier: Apache-2.0
#include "kernels/dft/dft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/cpu_features.h"
#include "base/stop_token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dft/dft.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kWidth transforms at once. An element is kWidth numbers at offset `re` and as many at offset `im`; exchanging the two
// turns a transform into its inverse, times n.
template <int64_t kWidth>
class Transforms {
  using D = hn::CappedTag<double, kWidth>;
  using V = hn::Vec<D>;
  struct Complex {
    V re, im;
  };

 public:
  Transforms(std::span<const Dft::Level> levels, bool inverse, double* terms)
      : levels_(levels), re_(inverse ? kWidth : 0), im_(inverse ? 0 : kWidth), terms_(terms) {}

  void Run(const double* in, int64_t step, double* out, size_t level) const {
    if (level == levels_.size()) {
      std::copy_n(in, kElement, out);
      return;
    }
    const Dft::Level& l = levels_[level];
    const int64_t m = l.n / l.factor;
    for (int64_t r = 0; r < l.factor; ++r)
      Run(in + r * step * kElement, step * l.factor, out + r * m * kElement, level + 1);
    // Element k of each part makes elements k, k + m, .. of the whole, which lie in the same places.
    const double* twiddle = l.twiddles.data();
    for (int64_t k = 0; k < m; ++k, twiddle += 2 * (l.factor - 1)) {
      double* const at = out + k * kElement;
      if (l.factor == 4)
        Combine4(at, m, twiddle);
      else if (l.factor == 2)
        Combine2(at, m, twiddle);
      else if (!CombineAny(at, m, l, twiddle))
        return;
    }
  }

 private:
  static constexpr int64_t kElement = 2 * kWidth;

  HWY_INLINE Complex Load(const double* element, int64_t lane) const {
    return {hn::LoadU(D(), element + re_ + lane), hn::LoadU(D(), element + im_ + lane)};
  }
  HWY_INLINE void Store(V re, V im, double* element, int64_t lane) const {
    hn::StoreU(re, D(), element + re_ + lane);
    hn::StoreU(im, D(), element + im_ + lane);
  }
  HWY_INLINE static Complex Times(Complex x, const double* w) {
    const V re = hn::Set(D(), w[0]), im = hn::Set(D(), w[1]);
    return {hn::NegMulAdd(x.im, im, hn::Mul(x.re, re)), hn::MulAdd(x.im, re, hn::Mul(x.re, im))};
  }

  HWY_INLINE void Combine2(double* at, int64_t m, const double* twiddle) const {
    for (int64_t lane = 0; lane < kWidth; lane += static_cast<int64_t>(hn::Lanes(D()))) {
      const Complex a = Load(at, lane), b = Times(Load(at + m * kElement, lane), twiddle);
      Store(hn::Add(a.re, b.re), hn::Add(a.im, b.im), at, lane);
      Store(hn::Sub(a.re, b.re), hn::Sub(a.im, b.im), at + m * kElement, lane);
    }
  }

  HWY_INLINE void Combine4(double* at, int64_t m, const double* twiddle) const {
    const int64_t next = m * kElement;
    for (int64_t lane = 0; lane < kWidth; lane += static_cast<int64_t>(hn::Lanes(D()))) {
      const Complex a = Load(at, lane), b = Times(Load(at + next, lane), twiddle);
      const Complex c = Times(Load(at + 2 * next, lane), twiddle + 2);
      const Complex d = Times(Load(at + 3 * next, lane), twiddle + 4);
      const V sum_re = hn::Add(a.re, c.re), sum_im = hn::Add(a.im, c.im);
      const V odd_re = hn::Add(b.re, d.re), odd_im = hn::Add(b.im, d.im);
      const V gap_re = hn::Sub(a.re, c.re), gap_im = hn::Sub(a.im, c.im);
      const V turn_re = hn::Sub(b.re, d.re), turn_im = hn::Sub(b.im, d.im);  // to be turned by -i
      Store(hn::Add(sum_re, odd_re), hn::Add(sum_im, odd_im), at, lane);
      Store(hn::Add(gap_re, turn_im), hn::Sub(gap_im, turn_re), at + next, lane);
      Store(hn::Sub(sum_re, odd_re), hn::Sub(sum_im, odd_im), at + 2 * next, lane);
      Store(hn::Sub(gap_re, turn_im), hn::Add(gap_im, turn_re), at + 3 * next, lane);
    }
  }

  // By the definition. False where the run is to stop.
  bool CombineAny(double* at, int64_t m, const Dft::Level& level, const double* twiddle) const {
    const int64_t p = level.factor, next = m * kElement, lanes = static_cast<int64_t>(hn::Lanes(D()));
    for (int64_t r = 0; r < p; ++r) {
      for (int64_t lane = 0; lane < kWidth; lane += lanes) {
        Complex x = Load(at + r * next, lane);
        if (r > 0) x = Times(x, twiddle + 2 * (r - 1));
        Store(x.re, x.im, terms_ + r * kElement, lane);
      }
    }
    for (int64_t q = 0; q < p; ++q) {
      if (p >= kLongFactor && StopRequested()) return false;
      for (int64_t lane = 0; lane < kWidth; lane += lanes) {
        Complex sum = Load(terms_, lane);
        for (int64_t r = 1, root = q; r < p; ++r, root = root + q < p ? root + q : root + q - p) {
          const Complex term = Times(Load(terms_ + r * kElement, lane), level.roots.data() + 2 * root);
          sum = {hn::Add(sum.re, term.re), hn::Add(sum.im, term.im)};
        }
        Store(sum.re, sum.im, at + q * next, lane);
      }
    }
    return true;
  }

  static constexpr int64_t kLongFactor = 1024;

  std::span<const Dft::Level> levels_;
  int64_t re_, im_;
  double* terms_;  // for as many elements as the largest factor
};

void RunOne(std::span<const Dft::Level> levels, const double* in, double* out, bool inverse, double* terms) {
  Transforms<1>(levels, inverse, terms).Run(in, 1, out, 0);
}
void RunLanes(std::span<const Dft::Level> levels, const double* in, double* out, bool inverse, double* terms) {
  Transforms<Dft::kLanes>(levels, inverse, terms).Run(in, 1, out, 0);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

HWY_EXPORT(RunOne);
HWY_EXPORT(RunLanes);

int64_t NextFactor(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

void AppendRoot(int64_t k, int64_t n, std::vector<double>& to) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  to.push_back(std::cos(angle));
  to.push_back(std::sin(angle));
}

}  // namespace

Dft::Dft(int64_t n) : n_(n) {
  for (int64_t left = n; left > 1; left /= levels_.back().factor) {
    Level& level = levels_.emplace_back(Level{NextFactor(left), left, {}, {}});
    for (int64_t k = 0; k < left / level.factor; ++k)
      for (int64_t r = 1; r < level.factor; ++r) AppendRoot(r * k, left, level.twiddles);
    if (level.factor != 2 && level.factor != 4)
      for (int64_t k = 0; k < level.factor; ++k) AppendRoot(k, level.factor, level.roots);
    largest_ = std::max(largest_, level.factor);
  }
}

int64_t Dft::LanesFor(int64_t transforms) const {
  constexpr int64_t kMostTogether = int64_t{1} << 16;  // elements of a transform, several of which still fit a cache
  return transforms > 1 && n_ <= kMostTogether ? kLanes : 1;
}

void Dft::Run(int64_t lanes, const double* in, double* out, bool inverse) const {
  EnsureIsa();
  std::vector<double> terms(static_cast<size_t>(2 * lanes * largest_));
  if (lanes == 1)
    HWY_DYNAMIC_DISPATCH(RunOne)(levels_, in, out, inverse, terms.data());
  else
    HWY_DYNAMIC_DISPATCH(RunLanes)(levels_, in, out, inverse, terms.data());
  if (!inverse) return;
  for (int64_t i = 0; i < 2 * n_ * lanes; ++i) out[i] /= static_cast<double>(n_);
}

void Dft::Run(const std::complex<double>* in, std::complex<double>* out, bool inverse) const {
  Run(1, reinterpret_cast<const double*>(in), reinterpret_cast<double*>(out), inverse);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
