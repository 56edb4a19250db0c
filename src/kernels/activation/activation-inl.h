// SPDX-License-Identifier: Apache-2.0
// Activations of one vector, compiled once per instruction set: included by the .cc files that Highway's foreach_target
// repeats.
#if defined(ONNXSEQ_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_ACTIVATION_INL_H_
#undef ONNXSEQ_KERNELS_ACTIVATION_INL_H_
#else
#define ONNXSEQ_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

#include <limits>

#include "kernels/activation/activation.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The greater of the two; x where it is NaN. Vectors of x86 hand on the second operand then, single numbers the other
// one.
template <class V>
HWY_INLINE V NotBelow(V low, V x) {
  if constexpr (HWY_TARGET == HWY_SCALAR) return hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::Max(low, x);
}
// The smaller of the two, in the same way.
template <class V>
HWY_INLINE V NotAbove(V high, V x) {
  if constexpr (HWY_TARGET == HWY_SCALAR) return hn::IfThenElse(hn::Lt(high, x), high, x);
  return hn::Min(high, x);
}

// e^x 2^shift, within 1 unit in the last place (1.2 where multiply-adds round twice), where that is no denormal.
// x = n ln2 + r, |r| <= ln2 / 2; ln2 is split so that n times its first part is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ScaledExp(D d, V held, float shift) {
  const hn::RebindToSigned<D> di;
  // So large a number has no place for fractions: what is added rounds to n, and the lowest bits are those of n + shift
  // + 127, the exponent of 2^(n + shift).
  const V large = hn::Set(d, 0x1.8p23f + 127.0f + shift);
  const V rounded = hn::MulAdd(held, hn::Set(d, 1.44269504088896341f), large);
  const V n = hn::Sub(rounded, large);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), held);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  // Minimax on [-ln2/2, ln2/2] for the relative error of 1 + r + r^2 p: 2^-28.
  V p = hn::Set(d, 1.381453942e-3f);
  p = hn::MulAdd(p, r, hn::Set(d, 8.368745446e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.166838899e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.666652113e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.999999404e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, rounded));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

// e^x for x <= 0; 0 where it would be denormal. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfNegative(D d, V x) {
  const auto in_range = hn::Not(hn::Lt(x, hn::Set(d, -87.336f)));
  return hn::IfThenElseZero(in_range, ScaledExp(d, NotBelow(hn::Set(d, -87.4f), x), 0.0f));
}

// Every lane through the plain function: what has no vector form.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V ActivateLanes(D d, const Activation& activation, V x) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = Activate<T>(activation, lanes[i]);
  return hn::Load(d, lanes);
}

// Holds x within [low, high]; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V HoldWithin(D, V low, V high, V x) {
  return NotAbove(high, NotBelow(low, x));
}

// 1 + e^-x of floats, infinite where e^-x would be: what sigmoid is one over.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V OnePlusExpOfMinus(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  // From 2^128 on the exponent below is that of infinity; from 20 on 1 + e^-x is 1.
  const V held = HoldWithin(d, hn::Set(d, -89.0f), hn::Set(d, 20.0f), x);
  // As in ExpOfNegative, with n = -x / ln2 rounded and s = -r = x + n ln2.
  const V large = hn::Set(d, 0x1.8p23f + 127.0f);
  const V rounded = hn::NegMulAdd(held, hn::Set(d, 1.44269504088896341f), large);
  const V n = hn::Sub(rounded, large);
  V s = hn::MulAdd(n, hn::Set(d, 0.693359375f), held);
  s = hn::MulAdd(n, hn::Set(d, -2.12194440e-4f), s);
  V p = hn::Set(d, 1.381453942e-3f);
  p = hn::MulAdd(p, s, hn::Set(d, -8.368745446e-3f));
  p = hn::MulAdd(p, s, hn::Set(d, 4.166838899e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, -1.666652113e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, 4.999999404e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, -1.0f));
  p = hn::MulAdd(p, s, one);
  return hn::MulAdd(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, rounded))), one);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidVec(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8)
    return ActivateLanes(d, Activation{ActivationKind::kSigmoid}, x);
  else
    return hn::Div(hn::Set(d, 1.0f), OnePlusExpOfMinus(d, x));
}

template <class V>
struct Fraction {
  V over, under;
};

// tanh x of floats = m / (2 - m) with the sign of x, m = 1 - e^-2|x|. As in ExpOfNegative e^-2|x| = 2^n e^r; e^r - 1
// has its full precision where n = 0, so that no small x is a case of its own. s = -r / 2 = |x| + n ln2 / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Fraction<V> TanhFraction(D d, V x) {
  const hn::RebindToSigned<D> di;
  // From 20 on e^-2|x| is nothing beside 1.
  const V size = NotAbove(hn::Set(d, 20.0f), hn::Abs(x));
  const V large = hn::Set(d, 0x1.8p23f + 127.0f);
  const V rounded = hn::NegMulAdd(size, hn::Set(d, 2 * 1.44269504088896341f), large);
  const V n = hn::Sub(rounded, large);
  V s = hn::MulAdd(n, hn::Set(d, 0.693359375f / 2), size);
  s = hn::MulAdd(n, hn::Set(d, -2.12194440e-4f / 2), s);
  V p = hn::Set(d, 64 * 1.381453942e-3f);
  p = hn::MulAdd(p, s, hn::Set(d, -32 * 8.368745446e-3f));
  p = hn::MulAdd(p, s, hn::Set(d, 16 * 4.166838899e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, -8 * 1.666652113e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, 4 * 4.999999404e-1f));
  p = hn::Mul(s, hn::MulAdd(p, s, hn::Set(d, -2.0f)));
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, rounded)));
  const V m = hn::NegMulAdd(p, scale, hn::Sub(hn::Set(d, 1.0f), scale));
  return {hn::CopySign(m, x), hn::Sub(hn::Set(d, 2.0f), m)};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhVec(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return ActivateLanes(d, Activation{ActivationKind::kTanh}, x);
  } else {
    const auto [over, under] = TanhFraction(d, x);
    return hn::Div(over, under);
  }
}

// e^x - 1 for x <= 0, keeping its precision near 0. NaN stays NaN. No part of the tiles that call it now and then.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V Expm1OfNegative(D d, V x) {
  // Highway makes a whole number of x / ln2, which NaN and infinities are not; from -104 on the result is -1.
  const V held = hn::Max(hn::Set(d, -105.0f), hn::IfThenZeroElse(hn::IsNaN(x), x));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Expm1(d, held));
}

// log(1 + e^x), from e^-|x|.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V SoftplusVec(D d, V x) {
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  return hn::Add(NotBelow(hn::Zero(d), x), hn::Log1p(d, e));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V ActivateVec(D d, const Activation& activation, V x) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V alpha = hn::Set(d, static_cast<T>(activation.alpha)), beta = hn::Set(d, static_cast<T>(activation.beta));
  switch (activation.kind) {
    case ActivationKind::kSigmoid:
      return SigmoidVec(d, x);
    case ActivationKind::kTanh:
      return TanhVec(d, x);
    case ActivationKind::kRelu:
      return hn::IfThenZeroElse(hn::Lt(x, zero), x);
    case ActivationKind::kHardSigmoid:
      return HoldWithin(d, zero, hn::Set(d, T(1)), hn::Add(hn::Mul(alpha, x), beta));
    case ActivationKind::kAffine:
      return hn::Add(hn::Mul(alpha, x), beta);
    case ActivationKind::kLeakyRelu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, x), x);
    case ActivationKind::kThresholdedRelu:
      return hn::IfThenZeroElse(hn::Lt(x, alpha), x);
    case ActivationKind::kScaledTanh:
      return hn::Mul(alpha, TanhVec(d, hn::Mul(beta, x)));
    case ActivationKind::kSoftsign: {
      const V size = hn::Abs(x), one = hn::Set(d, T(1));
      const auto is_inf = hn::Eq(size, hn::Set(d, std::numeric_limits<T>::infinity()));
      return hn::IfThenElse(is_inf, hn::CopySign(one, x), hn::Div(x, hn::Add(one, size)));
    }
    case ActivationKind::kElu:
      if constexpr (sizeof(T) == 8) break;
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, Expm1OfNegative(d, x)), x);
    case ActivationKind::kSoftplus:
      if constexpr (sizeof(T) == 8) break;
      return SoftplusVec(d, x);
  }
  return ActivateLanes(d, activation, x);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
