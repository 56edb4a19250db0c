// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/fold_floats.h"

#include <limits>
#include <type_traits>

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/fold_floats.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <FloatFold kFold>
inline constexpr bool kIsExtreme = kFold == FloatFold::kGreatest || kFold == FloatFold::kLeast;
template <FloatFold kFold>
using AccOf = std::conditional_t<kIsExtreme<kFold>, float, double>;

// The greater, or smaller, of each two; NaN where one is.
template <FloatFold kFold, class D, class V = hn::Vec<D>>
HWY_INLINE V Extreme(D, V acc, V v) {
  const auto better = kFold == FloatFold::kGreatest ? hn::Gt(v, acc) : hn::Lt(v, acc);
  return hn::IfThenElse(hn::Or(better, hn::IsNaN(v)), v, acc);
}

// The floats that accumulators in vectors of D take at a step.
template <class D>
using FloatsFor = hn::Rebind<float, D>;

// The accumulators with floats folded into them.
template <FloatFold kFold, class D, class V = hn::Vec<D>>
HWY_INLINE V Step(D d, V acc, hn::Vec<FloatsFor<D>> x) {
  if constexpr (kIsExtreme<kFold>) {
    return Extreme<kFold>(d, acc, x);
  } else {
    const V v = hn::PromoteTo(d, x);
    if constexpr (kFold == FloatFold::kSum) return hn::Add(acc, v);
    if constexpr (kFold == FloatFold::kSumOfMagnitudes) return hn::Add(acc, hn::Abs(v));
    return hn::MulAdd(v, v, acc);
  }
}
template <FloatFold kFold, class D, class V = hn::Vec<D>>
HWY_INLINE V Step(D d, V acc, const float* x) {
  return Step<kFold>(d, acc, hn::LoadU(FloatsFor<D>(), x));
}

// One float more, without a jump.
template <FloatFold kFold, class A = AccOf<kFold>>
HWY_INLINE A StepOne(A acc, float x) {
  const hn::CappedTag<A, 1> one;
  return hn::GetLane(Step<kFold>(one, hn::Set(one, acc), hn::Set(FloatsFor<decltype(one)>(), x)));
}

// What comes of `total` and n floats, at least a vector of them.
template <FloatFold kFold, class D, class A = AccOf<kFold>>
HWY_INLINE A Row(D d, const float* x, A total, int64_t n) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Four chains hide what an addition takes.
  constexpr int kChains = 4;
  const V none = hn::Set(d, kIsExtreme<kFold> ? total : A(0));
  V first = none;
  int64_t i = 0;
  const bool chained = n >= kChains * lanes;
  V acc[kChains - 1] = {none, none, none};
  for (; i + kChains * lanes <= n; i += kChains * lanes) {
    first = Step<kFold>(d, first, x + i);
    for (int c = 1; c < kChains; ++c) acc[c - 1] = Step<kFold>(d, acc[c - 1], x + i + c * lanes);
  }
  for (; i + lanes <= n; i += lanes) first = Step<kFold>(d, first, x + i);
  if constexpr (kIsExtreme<kFold>) {
    // An extreme may take the same numbers twice.
    if (i < n) first = Step<kFold>(d, first, x + n - lanes);
    if (chained) first = Extreme<kFold>(d, Extreme<kFold>(d, first, acc[0]), Extreme<kFold>(d, acc[1], acc[2]));
    if (!hn::AllFalse(d, hn::IsNaN(first))) return std::numeric_limits<float>::quiet_NaN();
    return hn::GetLane(kFold == FloatFold::kGreatest ? hn::MaxOfLanes(d, first) : hn::MinOfLanes(d, first));
  } else {
    if (chained) first = hn::Add(hn::Add(first, acc[0]), hn::Add(acc[1], acc[2]));
    total += hn::GetLane(hn::SumOfLanes(d, first));
    for (; i < n; ++i) total = StepOne<kFold>(total, x[i]);
    return total;
  }
}

template <FloatFold kFold>
HWY_INLINE void Rows(const float* x, void* to, int64_t n, int64_t rows) {
  using A = AccOf<kFold>;
  const hn::ScalableTag<A> d;
  const hn::CappedTag<A, 4> four;
  A* const acc = static_cast<A*>(to);
  if (n >= static_cast<int64_t>(hn::Lanes(d))) {
    for (int64_t r = 0; r < rows; ++r) acc[r] = Row<kFold>(d, x + r * n, acc[r], n);
  } else if (n >= static_cast<int64_t>(hn::Lanes(four))) {
    for (int64_t r = 0; r < rows; ++r) acc[r] = Row<kFold>(four, x + r * n, acc[r], n);
  } else {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i) acc[r] = StepOne<kFold>(acc[r], x[r * n + i]);
  }
}

// Columns that fill kVectors vectors, which stay in registers over all rows.
template <FloatFold kFold, int kVectors, class D>
HWY_INLINE void Columns(D d, const float* x, AccOf<kFold>* acc, int64_t n, int64_t rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = hn::LoadU(d, acc + v * lanes);
  for (int64_t r = 0; r < rows; ++r, x += n)
    for (int v = 0; v < kVectors; ++v) total[v] = Step<kFold>(d, total[v], x + v * lanes);
  for (int v = 0; v < kVectors; ++v) hn::StoreU(total[v], d, acc + v * lanes);
}

template <FloatFold kFold>
HWY_INLINE void Each(const float* x, void* to, int64_t n, int64_t rows) {
  using A = AccOf<kFold>;
  const hn::ScalableTag<A> d;
  const hn::CappedTag<A, 4> four;
  const hn::CappedTag<A, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), few = static_cast<int64_t>(hn::Lanes(four));
  A* const acc = static_cast<A*>(to);
  // Down the columns only of what stays in the caches.
  constexpr int64_t kNear = 1 << 16;
  const int64_t down = n <= 4 * lanes || rows * n <= kNear ? rows : 1;
  for (int64_t r = 0; r < rows; r += down, x += down * n) {
    int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) Columns<kFold, 4>(d, x + i, acc + i, n, down);
    for (; i + lanes <= n; i += lanes) Columns<kFold, 1>(d, x + i, acc + i, n, down);
    for (; i + few <= n; i += few) Columns<kFold, 1>(four, x + i, acc + i, n, down);
    switch (n - i) {
      case 3:
        Columns<kFold, 3>(one, x + i, acc + i, n, down);
        break;
      case 2:
        Columns<kFold, 2>(one, x + i, acc + i, n, down);
        break;
      case 1:
        Columns<kFold, 1>(one, x + i, acc + i, n, down);
        break;
      default:
        break;
    }
  }
}

// fn(the fold as a type).
template <class Fn>
void Choose(FloatFold fold, const Fn& fn) {
  switch (fold) {
    case FloatFold::kSum:
      return fn(std::integral_constant<FloatFold, FloatFold::kSum>());
    case FloatFold::kSumOfMagnitudes:
      return fn(std::integral_constant<FloatFold, FloatFold::kSumOfMagnitudes>());
    case FloatFold::kSumOfSquares:
      return fn(std::integral_constant<FloatFold, FloatFold::kSumOfSquares>());
    case FloatFold::kGreatest:
      return fn(std::integral_constant<FloatFold, FloatFold::kGreatest>());
    case FloatFold::kLeast:
      break;
  }
  return fn(std::integral_constant<FloatFold, FloatFold::kLeast>());
}

void FoldRows(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) {
  Choose(fold, [&](auto which) HWY_ATTR { Rows<decltype(which)::value>(x, acc, n, rows); });
}
void FoldEach(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) {
  Choose(fold, [&](auto which) HWY_ATTR { Each<decltype(which)::value>(x, acc, n, rows); });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(FoldRows);
HWY_EXPORT(FoldEach);

void FoldFloats(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(FoldRows)(fold, x, acc, n, rows);
}
void FoldFloatsEach(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(FoldEach)(fold, x, acc, n, rows);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
