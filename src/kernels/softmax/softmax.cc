// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax/softmax.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activation/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

// e^x for x <= 0; of doubles one by one.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOf(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return ExpOfNegative(d, x);
  } else {
    HWY_ALIGN double lanes[HWY_MAX_BYTES / sizeof(double)];
    hn::Store(x, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::exp(lanes[i]);
    return hn::Load(d, lanes);
  }
}

// Fewer numbers than a vector holds, -infinity after them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFew(D d, const T* x, int64_t n) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  std::fill_n(lanes, hn::Lanes(d), -std::numeric_limits<T>::infinity());
  for (int64_t i = 0; i < n; ++i) lanes[i] = x[i];
  return hn::Load(d, lanes);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreFew(hn::Vec<D> v, D d, T* y, int64_t n) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  std::copy_n(lanes, std::min(n, static_cast<int64_t>(hn::Lanes(d))), y);
}

// Longer rows would push each other out of the nearest cache.
constexpr int64_t kMostAhead = 2048;

// Rows and columns are cut into vectors of at least this many numbers and less than one such vector.
constexpr size_t kLeastLanes = 4;

// Max's second operand is what x86 hands on where one is NaN: none is kept in a maximum, but in every sum. While the
// exponentials keep the CPU busy, the row after this one, `next` numbers on, comes into the nearest cache (0 for none).
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void LongRow(D d, const T* x, T* y, int64_t n, int64_t next, bool log) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Where n is no multiple, the last vector overlaps the one before; y may be x, so it is taken first.
  const V last = hn::LoadU(d, x + n - lanes);
  const int64_t whole = n - n % lanes;
  V max = hn::Max(last, hn::Set(d, -std::numeric_limits<T>::infinity())), max1 = max, max2 = max, max3 = max;
  int64_t i = 0;
  for (; i + 4 * lanes <= whole; i += 4 * lanes) {
    max = hn::Max(hn::LoadU(d, x + i), max);
    max1 = hn::Max(hn::LoadU(d, x + i + lanes), max1);
    max2 = hn::Max(hn::LoadU(d, x + i + 2 * lanes), max2);
    max3 = hn::Max(hn::LoadU(d, x + i + 3 * lanes), max3);
  }
  for (; i < whole; i += lanes) max = hn::Max(hn::LoadU(d, x + i), max);
  max = hn::MaxOfLanes(d, hn::Max(hn::Max(max, max1), hn::Max(max2, max3)));

  V sum = hn::Zero(d);
  for (i = 0; i < whole; i += lanes) {
    hwy::Prefetch(x + next + i);
    hwy::Prefetch(y + next + i);
    const V e = ExpOf(d, hn::Sub(hn::LoadU(d, x + i), max));
    sum = hn::Add(sum, e);
    if (!log) hn::StoreU(e, d, y + i);
  }
  V last_e = hn::Zero(d);
  if (whole < n) {
    last_e = ExpOf(d, hn::Sub(last, max));
    sum = hn::Add(sum, hn::IfThenZeroElse(hn::FirstN(d, static_cast<size_t>(lanes - (n - whole))), last_e));
  }
  const T total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (log) {
    const V log_sum = hn::Set(d, std::log(total));
    for (i = 0; i < whole; i += lanes) hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, x + i), max), log_sum), d, y + i);
    if (whole < n) hn::StoreU(hn::Sub(hn::Sub(last, max), log_sum), d, y + n - lanes);
  } else {
    const V scale = hn::Set(d, T(1) / total);
    for (i = 0; i < whole; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, y + i), scale), d, y + i);
    if (whole < n) hn::StoreU(hn::Mul(last_e, scale), d, y + n - lanes);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void ShortRow(D d, const T* x, T* y, int64_t n, bool log) {
  const auto v = LoadFew(d, x, n);
  const auto shifted = hn::Sub(v, hn::MaxOfLanes(d, v));
  const auto e = ExpOf(d, shifted);
  const T total = hn::GetLane(hn::SumOfLanes(d, e));
  StoreFew(log ? hn::Sub(shifted, hn::Set(d, std::log(total))) : hn::Mul(e, hn::Set(d, T(1) / total)), d, y, n);
}

// 1 / sum, or log sum, of each lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Scales(D d, V sum, bool log) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  if (!log) return hn::Div(hn::Set(d, T(1)), sum);
  hn::Store(sum, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::log(lanes[i]);
  return hn::Load(d, lanes);
}

// As many rows of kNumbers as there are lanes, one in each.
template <int kNumbers, class D, class T = hn::TFromD<D>>
HWY_INLINE void TinyRows(D d, const T* x, T* y, bool log) {
  hn::Vec<D> v[kNumbers];
  if constexpr (kNumbers == 2) hn::LoadInterleaved2(d, x, v[0], v[1]);
  if constexpr (kNumbers == 3) hn::LoadInterleaved3(d, x, v[0], v[1], v[2]);
  if constexpr (kNumbers == 4) hn::LoadInterleaved4(d, x, v[0], v[1], v[2], v[3]);
  auto max = v[0], sum = hn::Zero(d);
  for (int i = 1; i < kNumbers; ++i) max = hn::Max(v[i], max);
  for (int i = 0; i < kNumbers; ++i) {
    const auto shifted = hn::Sub(v[i], max), e = ExpOf(d, shifted);
    sum = hn::Add(sum, e);
    v[i] = log ? shifted : e;
  }
  const auto scale = Scales(d, sum, log);
  for (int i = 0; i < kNumbers; ++i) v[i] = log ? hn::Sub(v[i], scale) : hn::Mul(v[i], scale);
  if constexpr (kNumbers == 2) hn::StoreInterleaved2(v[0], v[1], d, y);
  if constexpr (kNumbers == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, y);
  if constexpr (kNumbers == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, y);
}
template <int kNumbers, class D, class T = hn::TFromD<D>>
HWY_INLINE void TinyRows(D d, const T* x, T* y, int64_t rows, bool log) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t row = 0;
  for (; row + lanes <= rows; row += lanes) TinyRows<kNumbers>(d, x + row * kNumbers, y + row * kNumbers, log);
  if (row == rows) return;
  // The last ones in the same way, so that a row gives the same wherever it stands.
  HWY_ALIGN T few[kNumbers * HWY_MAX_BYTES / sizeof(T)] = {};
  std::copy(x + row * kNumbers, x + rows * kNumbers, few);
  TinyRows<kNumbers>(d, few, few, log);
  std::copy_n(few, (rows - row) * kNumbers, y + row * kNumbers);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void Rows(D d, const T* x, T* y, int64_t rows, int64_t n, bool log) {
  if (n >= static_cast<int64_t>(hn::Lanes(d))) {
    for (int64_t row = 0; row < rows; ++row)
      LongRow(d, x + row * n, y + row * n, n, row + 1 < rows && n <= kMostAhead ? n : 0, log);
  } else if constexpr (hn::MaxLanes(D()) > kLeastLanes) {
    Rows(hn::Half<D>(), x, y, rows, n, log);
  } else {
    for (int64_t row = 0; row < rows; ++row) ShortRow(d, x + row * n, y + row * n, n, log);
  }
}

// kVectors vectors of neighbouring columns, or, with kFew, the first `few` of one.
template <int kVectors, bool kFew, class D, class T = hn::TFromD<D>>
HWY_INLINE void ColumnBlock(D d, const T* x, T* y, int64_t n, int64_t few, int64_t stride, bool log) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto load = [&](const T* from, int v) HWY_ATTR {
    if constexpr (kFew) return LoadFew(d, from, few);
    return hn::LoadU(d, from + v * lanes);
  };
  const auto store = [&](V values, T* to, int v) HWY_ATTR {
    if constexpr (kFew) {
      StoreFew(values, d, to, few);
    } else {
      hn::StoreU(values, d, to + v * lanes);
    }
  };
  V max[kVectors], sum[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    max[v] = hn::Set(d, -std::numeric_limits<T>::infinity());
    sum[v] = hn::Zero(d);
  }
  for (int64_t j = 0; j < n; ++j)
    for (int v = 0; v < kVectors; ++v) max[v] = hn::Max(load(x + j * stride, v), max[v]);
  for (int64_t j = 0; j < n; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      const V shifted = hn::Sub(load(x + j * stride, v), max[v]);
      const V e = ExpOf(d, shifted);
      sum[v] = hn::Add(sum[v], e);
      store(log ? shifted : e, y + j * stride, v);
    }
  }
  for (int v = 0; v < kVectors; ++v) sum[v] = Scales(d, sum[v], log);
  for (int64_t j = 0; j < n; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      const V e = load(y + j * stride, v);
      store(log ? hn::Sub(e, sum[v]) : hn::Mul(e, sum[v]), y + j * stride, v);
    }
  }
}

// Fewer columns than the least vector has lanes, as rows of a copy where that is small.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void FewColumns(D d, const T* x, T* y, int64_t n, int64_t columns, int64_t stride, bool log) {
  constexpr int64_t kMost = 2048;
  if (n * columns > kMost) return ColumnBlock<1, true>(d, x, y, n, columns, stride, log);
  const hn::ScalableTag<T> whole;
  T copy[kMost];
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t j = 0; j < n; ++j) copy[c * n + j] = x[j * stride + c];
  Rows(whole, copy, copy, columns, n, log);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t j = 0; j < n; ++j) y[j * stride + c] = copy[c * n + j];
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void Columns(D d, const T* x, T* y, int64_t n, int64_t columns, int64_t stride, bool log) {
  constexpr int kVectors = 4;  // their maxima and sums are in registers
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + kVectors * lanes <= columns; c += kVectors * lanes)
    ColumnBlock<kVectors, false>(d, x + c, y + c, n, 0, stride, log);
  for (; c + lanes <= columns; c += lanes) ColumnBlock<1, false>(d, x + c, y + c, n, 0, stride, log);
  if (c == columns) return;
  if constexpr (hn::MaxLanes(D()) > kLeastLanes) {
    Columns(hn::Half<D>(), x + c, y + c, n, columns - c, stride, log);
  } else {
    FewColumns(d, x + c, y + c, n, columns - c, stride, log);
  }
}

template <class T>
HWY_INLINE void AllRows(const T* x, T* y, int64_t rows, int64_t n, bool log) {
  const hn::ScalableTag<T> d;
  if constexpr (hn::MaxLanes(hn::ScalableTag<T>()) >= kLeastLanes) {
    if (n == 2) return TinyRows<2>(d, x, y, rows, log);
    if (n == 3) return TinyRows<3>(d, x, y, rows, log);
    if (n == 4) return TinyRows<4>(d, x, y, rows, log);
  }
  Rows(d, x, y, rows, n, log);
}

void RowsFloat(const float* x, float* y, int64_t rows, int64_t n, bool log) { AllRows(x, y, rows, n, log); }
void RowsDouble(const double* x, double* y, int64_t rows, int64_t n, bool log) { AllRows(x, y, rows, n, log); }
void ColumnsFloat(const float* x, float* y, int64_t n, int64_t columns, int64_t stride, bool log) {
  Columns(hn::ScalableTag<float>(), x, y, n, columns, stride, log);
}
void ColumnsDouble(const double* x, double* y, int64_t n, int64_t columns, int64_t stride, bool log) {
  Columns(hn::ScalableTag<double>(), x, y, n, columns, stride, log);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(RowsFloat);
HWY_EXPORT(RowsDouble);
HWY_EXPORT(ColumnsFloat);
HWY_EXPORT(ColumnsDouble);

template <class T>
void SoftmaxRows(const T* x, T* y, int64_t rows, int64_t n, bool log) noexcept {
  if (n == 0) return;
  EnsureIsa();
  if constexpr (sizeof(T) == 4) {
    HWY_DYNAMIC_DISPATCH(RowsFloat)(x, y, rows, n, log);
  } else {
    HWY_DYNAMIC_DISPATCH(RowsDouble)(x, y, rows, n, log);
  }
}

template <class T>
void SoftmaxColumns(const T* x, T* y, int64_t n, int64_t columns, int64_t stride, bool log) noexcept {
  if (n == 0) return;
  EnsureIsa();
  if constexpr (sizeof(T) == 4) {
    HWY_DYNAMIC_DISPATCH(ColumnsFloat)(x, y, n, columns, stride, log);
  } else {
    HWY_DYNAMIC_DISPATCH(ColumnsDouble)(x, y, n, columns, stride, log);
  }
}

template void SoftmaxRows(const float*, float*, int64_t, int64_t, bool) noexcept;
template void SoftmaxRows(const double*, double*, int64_t, int64_t, bool) noexcept;
template void SoftmaxColumns(const float*, float*, int64_t, int64_t, int64_t, bool) noexcept;
template void SoftmaxColumns(const double*, double*, int64_t, int64_t, int64_t, bool) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
