// SPDX-License-Identifier: Apache-2.0
#include "kernels/normalize/normalize.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/dispatch_float.h"
#include "kernels/elementwise/rows.h"
#include "kernels/normalize/float_rows.h"
#include "kernels/reduce/fold_floats.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

double FoldedSum(FloatFold fold, const float* x, int64_t n) {
  double sum = 0;
  FoldFloats(fold, x, &sum, n, 1);
  return sum;
}

// The sum of a row, of its squares, of its square distances from `center`.
struct PlainSum {
  double operator()(double v) const { return v; }
  double operator()(const float* x, int64_t n) const { return FoldedSum(FloatFold::kSum, x, n); }
};
struct SquareSum {
  double operator()(double v) const { return v * v; }
  double operator()(const float* x, int64_t n) const { return FoldedSum(FloatFold::kSumOfSquares, x, n); }
};
struct DeviationSum {
  double center;
  double operator()(double v) const { return (v - center) * (v - center); }
  double operator()(const float* x, int64_t n) const { return SumOfSquaredDeviations(x, n, center); }
};

// Partial sums that vectorise; their number is fixed, so that the result depends on n alone.
template <class Fn>
double SumOfEach(const float* x, int64_t n, Fn fn) {
  return fn(x, n);
}
template <class T, class Fn>
double SumOfEach(const T* x, int64_t n, Fn fn) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += fn(static_cast<double>(Load(x[i + k])));
  double sum = 0;
  for (; i < n; ++i) sum += fn(static_cast<double>(Load(x[i])));
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void Moments(TensorType type, const void* x, int64_t outer, int64_t channels, int64_t inner, double* mean,
             double* variance, int64_t begin, int64_t end) {
  const auto count = static_cast<double>(outer * inner);
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    for (int64_t c = begin; c < end; ++c) {
      const auto sum = [&](auto fn) {
        double total = 0;
        for (int64_t o = 0; o < outer; ++o)
          total += SumOfEach(static_cast<const T*>(x) + (o * channels + c) * inner, inner, fn);
        return total;
      };
      const double center = sum(PlainSum()) / count;
      mean[c] = center;
      variance[c] = sum(DeviationSum{center}) / count;
    }
  });
}

void MeanSquares(TensorType type, const void* x, int64_t row, double* squares, int64_t begin, int64_t end) {
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    for (int64_t r = begin; r < end; ++r)
      squares[r] = SumOfEach(static_cast<const T*>(x) + r * row, row, SquareSum()) / static_cast<double>(row);
  });
}

void NormalizeRows(TensorType type, const void* x, void* y, int64_t channels, int64_t inner, const double* center,
                   const double* scale, const double* shift, int64_t begin, int64_t end) {
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t c = r % channels;
      const C mid = static_cast<C>(center[c]), factor = static_cast<C>(scale[c]);
      const C added = shift == nullptr ? C(0) : static_cast<C>(shift[c]);
      const T* from = static_cast<const T*>(x) + r * inner;
      T* to = static_cast<T*>(y) + r * inner;
      for (int64_t i = 0; i < inner; ++i)
        to[i] = static_cast<T>((static_cast<C>(Load(from[i])) - mid) * factor + added);
    }
  });
}

void LpNormalize(TensorType type, const void* x, void* y, int64_t outer, int64_t n, int64_t inner, int p) {
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const T* from = static_cast<const T*>(x) + o * n * inner + i;
        T* to = static_cast<T*>(y) + o * n * inner + i;
        double norm = 0;
        for (int64_t k = 0; k < n; ++k) {
          const auto value = static_cast<double>(Load(from[k * inner]));
          norm += p == 1 ? std::abs(value) : value * value;
        }
        if (p == 2) norm = std::sqrt(norm);
        for (int64_t k = 0; k < n; ++k) {
          const auto value = static_cast<double>(Load(from[k * inner]));
          to[k * inner] = T(static_cast<decltype(Load(*from) + 0)>(norm == 0 ? 0 : value / norm));
        }
      }
    }
  });
}

void NormalizeResponse(TensorType type, const void* x, void* y, int64_t outer, int64_t channels, int64_t inner,
                       const ResponseNormalization& how, const std::function<void()>& pause) {
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        if (pause) pause();
        const T* from = static_cast<const T*>(x) + o * channels * inner + i;
        T* to = static_cast<T*>(y) + o * channels * inner + i;
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t before = (how.size - 1) / 2, after = how.size - 1 - before;
          double sum = 0;
          for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(channels - 1, c + after); ++k) {
            const auto value = static_cast<double>(Load(from[k * inner]));
            sum += value * value;
          }
          const double divisor = std::pow(how.bias + how.alpha / static_cast<double>(how.size) * sum, how.beta);
          to[c * inner] =
              T(static_cast<decltype(Load(*from) + 0)>(static_cast<double>(Load(from[c * inner])) / divisor));
        }
      }
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
