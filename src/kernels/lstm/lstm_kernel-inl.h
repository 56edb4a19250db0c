// SPDX-License-Identifier: Apache-2.0
// The vector kernel of the LSTM, compiled once per instruction set, for float and double.
#if defined(ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#undef ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#else
#define ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/lstm/lstm.h"
#include "kernels/recurrent/recurrent_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The update of a cell that has more than the default: peepholes, clip, coupled gates, other activations. Returns h',
// replaces c.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V UpdateGeneralCell(D d, const Lstm::Packed<T>& w, const T* p, const T* gates, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V before = hn::Load(d, c), one = hn::Set(d, T(1));
  const auto gate = [&](int index, int peephole, V state, const Activation& activation) HWY_ATTR {
    V z = hn::Load(d, gates + index * lanes);
    if (p != nullptr && peephole >= 0) z = hn::MulAdd(hn::Load(d, p + peephole * lanes), state, z);
    return ClipAndActivate(d, w.cell, activation, z);
  };
  V i = gate(0, 0, before, w.cell.f), f = gate(2, 2, before, w.cell.f);
  if (w.cell.coupling == LstmCoupling::kForgetFromInput) f = hn::Sub(one, i);
  if (w.cell.coupling == LstmCoupling::kInputFromForget) i = hn::Sub(one, f);
  const V after = hn::MulAdd(f, before, hn::Mul(i, gate(3, -1, before, w.cell.g)));
  hn::Store(after, d, c);
  return hn::Mul(gate(1, 1, after, w.cell.f), ActivateVec(d, w.cell.h, after));
}

// With the default activations. Of floats a gate is one over a sum and tanh a fraction: a product of both takes one
// division.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V UpdatePlainCell(D d, const T* gates, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if constexpr (sizeof(T) == 4) {
    const V i = OnePlusExpOfMinus(d, hn::Load(d, gates)), f = OnePlusExpOfMinus(d, hn::Load(d, gates + 2 * lanes));
    const Fraction<V> candidate = TanhFraction(d, hn::Load(d, gates + 3 * lanes));
    const V after = hn::Add(hn::Div(hn::Load(d, c), f), hn::Div(candidate.over, hn::Mul(i, candidate.under)));
    hn::Store(after, d, c);
    const Fraction<V> out = TanhFraction(d, after);
    return hn::Div(out.over, hn::Mul(OnePlusExpOfMinus(d, hn::Load(d, gates + lanes)), out.under));
  }
  const V i = SigmoidVec(d, hn::Load(d, gates)), f = SigmoidVec(d, hn::Load(d, gates + 2 * lanes));
  const V candidate = TanhVec(d, hn::Load(d, gates + 3 * lanes));
  const V after = hn::MulAdd(f, hn::Load(d, c), hn::Mul(i, candidate));
  hn::Store(after, d, c);
  return hn::Mul(SigmoidVec(d, hn::Load(d, gates + lanes)), TanhVec(d, after));
}

// The cells of a tile: `gates` [row][panel][gate][lane] are its sums. Called, not repeated in every tile: it is by far
// the larger part of the code, and the sums it takes are still in the nearest cache.
template <class T>
HWY_NOINLINE void UpdateCells(const Step<Lstm, T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                              const T* gates) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RecurrentPart<Lstm, T>& part = step.part;
  const auto& w = *part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row) {
    T* const h = step.h_next + row * step.stride + group * lanes;
    for (int64_t panel = 0; panel < panels; ++panel, gates += Lstm::kGates * lanes) {
      T* const c = part.extra[0] + ((group + panel) * part.rows + row) * lanes;
      const T* const p = w.p != nullptr ? w.p + (group + panel) * 3 * lanes : nullptr;
      hn::Store(w.plain ? UpdatePlainCell<T>(d, gates, c) : UpdateGeneralCell<T>(d, w, p, gates, c), d,
                h + panel * lanes);
    }
    WriteY(step, row, group, panels);
  }
}

template <class S, class T>
HWY_INLINE void RunStep(const Step<Lstm, T>& step, const RecurrentShare<T>& share) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto init = [&](int64_t row, int64_t group, int gate)
                        HWY_ATTR { return hn::Load(d, step.Sums(row, group) + gate * lanes); };
  const auto update = [&](int64_t row, int64_t rows, int64_t group, int64_t panels, const T* gates)
                          HWY_ATTR { UpdateCells(step, row, rows, group, panels, gates); };
  MultiplyState<Lstm::kGates, S>(step, share, step.h, step.part.weights->r, init, update);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
