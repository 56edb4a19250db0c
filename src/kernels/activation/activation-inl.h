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

// e^x for x <= 0, within 1 unit in the last place (1.2 where multiply-adds round twice); 0 where it would be denormal.
// NaN stays NaN.
// x = n ln2 + r, |r| <= ln2 / 2; ln2 is split so that n times its first part is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfNegative(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto in_range = hn::Not(hn::Lt(x, hn::Set(d, -87.336f)));
  const V held = NotBelow(hn::Set(d, -87.4f), x);
  // So large a number has no place for fractions: what is added rounds to n, and the lowest bits are those of n + 127,
  // the exponent of 2^n.
  const V large = hn::Set(d, 0x1.8p23f + 127.0f);
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
  return hn::IfThenElseZero(in_range, hn::Mul(p, hn::BitCast(d, exponent)));
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

// float: from e^-|x|, so that neither side overflows and the negative tail keeps its relative precision.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidVec(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return ActivateLanes(d, Activation{ActivationKind::kSigmoid}, x);
  } else {
    const V one = hn::Set(d, 1.0f);
    const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
    return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  }
}

// float: from e^-2|x|, and near 0, where 1 - e^-2|x| would cancel, an odd polynomial.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhVec(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return ActivateLanes(d, Activation{ActivationKind::kTanh}, x);
  } else {
    const V one = hn::Set(d, 1.0f);
    const V size = hn::Abs(x);
    const V e = ExpOfNegative(d, hn::Mul(size, hn::Set(d, -2.0f)));
    const V far = hn::Div(hn::Sub(one, e), hn::Add(one, e));
    const V z = hn::Mul(x, x);
    V p = hn::Set(d, -5.70498872745e-3f);
    p = hn::MulAdd(p, z, hn::Set(d, 2.06390887954e-2f));
    p = hn::MulAdd(p, z, hn::Set(d, -5.37397155531e-2f));
    p = hn::MulAdd(p, z, hn::Set(d, 1.33314422036e-1f));
    p = hn::MulAdd(p, z, hn::Set(d, -3.33332819422e-1f));
    const V near = hn::MulAdd(hn::Mul(p, z), size, size);
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625f)), near, far), x);
  }
}

// Holds x within [low, high]; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V HoldWithin(D, V low, V high, V x) {
  const V held = NotBelow(low, x);
  if constexpr (HWY_TARGET == HWY_SCALAR) return hn::IfThenElse(hn::Lt(high, held), high, held);
  return hn::Min(high, held);
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
    case ActivationKind::kSoftsign:
    case ActivationKind::kElu:
    case ActivationKind::kSoftplus:
      break;
  }
  return ActivateLanes(d, activation, x);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
