// SPDX-License-Identifier: Apache-2.0
// Functions of one vector of floats, compiled once per instruction set: Highway's where it has them, with the values
// it does not take.
#if defined(ONNXSEQ_KERNELS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_FUNCTIONS_INL_H_
#undef ONNXSEQ_KERNELS_FUNCTIONS_INL_H_
#else
#define ONNXSEQ_KERNELS_FUNCTIONS_INL_H_
#endif

#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "kernels/activation/activation-inl.h"
#include "kernels/functions/functions.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V KeepNaN(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// e^x; infinite where it is beyond the range, 0 below 2^-125. By half of it, whose exponent always fits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpVec(D d, V x) {
  const V low = hn::Set(d, -86.64f);
  const V half = ScaledExp(d, HoldWithin(d, low, hn::Set(d, 89.0f), x), -1.0f);
  return hn::IfThenZeroElse(hn::Lt(x, low), hn::Add(half, half));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V LogVec(D d, V x) {
  const V zero = hn::Zero(d), inf = hn::Set(d, std::numeric_limits<float>::infinity());
  V y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  return hn::IfThenElse(hn::Or(hn::Eq(x, inf), hn::IsNaN(x)), x, y);
}

// erfc |x| for |x| >= 0.9: e^-r with r = t (1 + q(t)), q fitted on [0.9, 9.3] so that 1 - e^-r is within 2^-25 of erf.
// Beyond, 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ErfcOfFar(D d, V size) {
  const V t = NotAbove(hn::Set(d, 9.3f), size);
  V q = hn::Set(d, -1.7975791e-09f);
  q = hn::MulAdd(q, t, hn::Set(d, 1.16656786e-07f));
  q = hn::MulAdd(q, t, hn::Set(d, -3.3330211e-06f));
  q = hn::MulAdd(q, t, hn::Set(d, 5.5633915e-05f));
  q = hn::MulAdd(q, t, hn::Set(d, -6.0792576e-04f));
  q = hn::MulAdd(q, t, hn::Set(d, 4.6318495e-03f));
  q = hn::MulAdd(q, t, hn::Set(d, -2.572152e-02f));
  q = hn::MulAdd(q, t, hn::Set(d, 1.0844505e-01f));
  q = hn::MulAdd(q, t, hn::Set(d, 6.3383806e-01f));
  q = hn::MulAdd(q, t, hn::Set(d, 1.2896751e-01f));
  return ExpOfNegative(d, hn::Neg(hn::MulAdd(q, t, t)));
}

// erf x for |x| < 0.93: x (1 + p(x x)), within 2^-31.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ErfOfNear(D d, V x) {
  const V s = hn::Mul(x, x);
  V p = hn::Set(d, 8.3168095e-05f);
  p = hn::MulAdd(p, s, hn::Set(d, -8.130023e-04f));
  p = hn::MulAdd(p, s, hn::Set(d, 5.199908e-03f));
  p = hn::MulAdd(p, s, hn::Set(d, -2.6858943e-02f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.12836875e-01f));
  p = hn::MulAdd(p, s, hn::Set(d, -3.7612632e-01f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.2837917e-01f));
  return hn::MulAdd(p, x, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V ErfVec(D d, V x) {
  const V size = hn::Abs(x);
  const V far = hn::CopySign(hn::Sub(hn::Set(d, 1.0f), ErfcOfFar(d, size)), x);
  return KeepNaN<D>(x, hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.92f)), ErfOfNear(d, x), far));
}

// x times half of erfc(-x / sqrt 2), which keeps the relative precision of the negative tail.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluVec(D d, V x) {
  const V half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  const V t = hn::Mul(x, hn::Set(d, static_cast<float>(std::numbers::sqrt2 / 2)));
  const V size = hn::Abs(t);
  const V tail = hn::Mul(half, ErfcOfFar(d, size));
  const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  const V near = hn::MulAdd(half, ErfOfNear(d, t), half);
  return hn::Mul(x, hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.92f)), near, far));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluTanhVec(D d, V x) {
  constexpr double kScale = std::numbers::inv_sqrtpi * std::numbers::sqrt2;
  const V cube = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 0.044715f), x), x), x);
  const V gate = TanhVec(d, hn::Mul(hn::Set(d, static_cast<float>(kScale)), hn::Add(x, cube)));
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(hn::Set(d, 1.0f), gate));
}

// With n = e (e + 2), e = e^x: tanh(log(1 + e)) = n / (n + 2).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V MishVec(D d, V x) {
  const V two = hn::Set(d, 2.0f), most = hn::Set(d, 20.0f);
  const V e = ExpVec(d, NotAbove(most, x));
  const V n = hn::Mul(e, hn::Add(e, two));
  return hn::IfThenElse(hn::Gt(x, most), x, hn::Mul(x, hn::Div(n, hn::Add(n, two))));
}

// Every lane through the plain function.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V EvaluateLanes(D d, const Function& function, V x) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = Evaluate<T>(function, lanes[i]);
  return hn::Load(d, lanes);
}

// Highway's reduce |x| by up to three parts of pi, which serves to 39000.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SinOrCosVec(D d, const Function& function, V x) {
  const auto in_range = hn::Lt(hn::Abs(x), hn::Set(d, 39000.0f));
  if (HWY_UNLIKELY(!hn::AllTrue(d, in_range))) return EvaluateLanes(d, function, x);
  return function.kind == FunctionKind::kSin ? hn::Sin(d, x) : hn::Cos(d, x);
}

template <FunctionKind kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V EvaluateVec(D d, const Function& function, V x) {
  using Kind = FunctionKind;
  const V zero = hn::Zero(d), alpha = hn::Set(d, function.alpha), beta = hn::Set(d, function.beta);
  if constexpr (kKind == Kind::kAtan) return KeepNaN<D>(x, hn::Atan(d, x));
  if constexpr (kKind == Kind::kCeil) return hn::Ceil(x);
  if constexpr (kKind == Kind::kCelu) {
    if (HWY_UNLIKELY(function.alpha < 0)) return EvaluateLanes(d, function, x);
    return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, Expm1OfNegative(d, hn::Div(x, alpha))), x);
  }
  if constexpr (kKind == Kind::kCos || kKind == Kind::kSin) return SinOrCosVec(d, function, x);
  if constexpr (kKind == Kind::kCube) return hn::Mul(hn::Mul(x, x), x);
  if constexpr (kKind == Kind::kErf) return ErfVec(d, x);
  if constexpr (kKind == Kind::kExp) return ExpVec(d, x);
  if constexpr (kKind == Kind::kFloor) return hn::Floor(x);
  if constexpr (kKind == Kind::kGelu) return GeluVec(d, x);
  if constexpr (kKind == Kind::kGeluTanh) return GeluTanhVec(d, x);
  if constexpr (kKind == Kind::kHardSwish) {
    const V gate = hn::Add(hn::Div(x, hn::Set(d, 6.0f)), hn::Set(d, 0.5f));
    return hn::Mul(x, HoldWithin(d, zero, hn::Set(d, 1.0f), gate));
  }
  if constexpr (kKind == Kind::kLog) return LogVec(d, x);
  if constexpr (kKind == Kind::kMish) return MishVec(d, x);
  if constexpr (kKind == Kind::kRound) return hn::Round(x);
  if constexpr (kKind == Kind::kSelu)
    return hn::Mul(beta, hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, Expm1OfNegative(d, x)), x));
  if constexpr (kKind == Kind::kSqrt) return hn::Sqrt(x);
  if constexpr (kKind == Kind::kSquare) return hn::Mul(x, x);
  if constexpr (kKind == Kind::kSwish) return hn::Mul(x, SigmoidVec(d, hn::Mul(alpha, x)));
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
