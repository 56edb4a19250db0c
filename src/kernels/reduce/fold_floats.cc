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

// The accumulators with as many floats from x folded into them.
template <FloatFold kFold, class D, class V = hn::Vec<D>>
HWY_INLINE V Step(D d, V acc, const float* x) {
  if constexpr (kIsExtreme<kFold>) {
    return Extreme<kFold>(d, acc, hn::LoadU(d, x));
  } else {
    const V v = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
    if constexpr (kFold == FloatFold::kSum) return hn::Add(acc, v);
    if constexpr (kFold == FloatFold::kSumOfMagnitudes) return hn::Add(acc, hn::Abs(v));
    return hn::MulAdd(v, v, acc);
  }
}

template <FloatFold kFold>
HWY_INLINE int64_t All(const float* x, void* to, int64_t n) {
  using A = AccOf<kFold>;
  const hn::ScalableTag<A> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  A& total = *static_cast<A*>(to);
  // Four chains hide what an addition takes.
  constexpr int kChains = 4;
  if (n < lanes) return 0;
  V acc[kChains];
  for (V& chain : acc) chain = hn::Set(d, kIsExtreme<kFold> ? total : A(0));
  int64_t i = 0;
  for (; i + kChains * lanes <= n; i += kChains * lanes)
    for (int c = 0; c < kChains; ++c) acc[c] = Step<kFold>(d, acc[c], x + i + c * lanes);
  for (; i + lanes <= n; i += lanes) acc[0] = Step<kFold>(d, acc[0], x + i);
  // An extreme may take the same numbers twice.
  if (kIsExtreme<kFold> && i < n) {
    acc[0] = Step<kFold>(d, acc[0], x + n - lanes);
    i = n;
  }
  if constexpr (kIsExtreme<kFold>) {
    const V best = Extreme<kFold>(d, Extreme<kFold>(d, acc[0], acc[1]), Extreme<kFold>(d, acc[2], acc[3]));
    if (!hn::AllFalse(d, hn::IsNaN(best)))
      total = std::numeric_limits<float>::quiet_NaN();
    else
      total = hn::GetLane(kFold == FloatFold::kGreatest ? hn::MaxOfLanes(d, best) : hn::MinOfLanes(d, best));
  } else {
    total += hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(acc[0], acc[1]), hn::Add(acc[2], acc[3]))));
  }
  return i;
}

template <FloatFold kFold>
HWY_INLINE int64_t Each(const float* x, void* to, int64_t n) {
  using A = AccOf<kFold>;
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  A* const acc = static_cast<A*>(to);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Step<kFold>(d, hn::LoadU(d, acc + i), x + i), d, acc + i);
  return i;
}

// fn(the fold as a type).
template <class Fn>
int64_t Choose(FloatFold fold, const Fn& fn) {
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

int64_t FoldAll(FloatFold fold, const float* x, void* acc, int64_t n) {
  return Choose(fold, [&](auto which) HWY_ATTR { return All<decltype(which)::value>(x, acc, n); });
}
int64_t FoldEach(FloatFold fold, const float* x, void* acc, int64_t n) {
  return Choose(fold, [&](auto which) HWY_ATTR { return Each<decltype(which)::value>(x, acc, n); });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(FoldAll);
HWY_EXPORT(FoldEach);

int64_t FoldFloats(FloatFold fold, const float* x, void* acc, int64_t n) noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(FoldAll)(fold, x, acc, n);
}
int64_t FoldFloatsEach(FloatFold fold, const float* x, void* acc, int64_t n) noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(FoldEach)(fold, x, acc, n);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
