// SPDX-License-Identifier: Apache-2.0
// The vector kernel of the GRU, compiled once per instruction set, for float and double.
#if defined(ONNXSEQ_KERNELS_GRU_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_GRU_KERNEL_INL_H_
#undef ONNXSEQ_KERNELS_GRU_KERNEL_INL_H_
#else
#define ONNXSEQ_KERNELS_GRU_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/gru/gru.h"
#include "kernels/recurrent/recurrent_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V GateVec(D d, const Gru::Packed<T>& w, V sum) {
  return w.plain ? SigmoidVec(d, sum) : ClipAndActivate(d, w.cell, w.cell.f, sum);
}

// (1 - z) h~ + z h
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V NewStateVec(D d, const Gru::Packed<T>& w, V z, V candidate_sum, V before) {
  const V candidate = w.plain ? TanhVec(d, candidate_sum) : ClipAndActivate(d, w.cell, w.cell.g, candidate_sum);
  return hn::MulAdd(z, before, hn::Mul(hn::Sub(hn::Set(d, T(1)), z), candidate));
}

// Where a row's z stands between the halves of a step: [group][rows][lanes]. r h stands as h does.
template <class T>
HWY_INLINE T* UpdateGate(const Step<Gru, T>& step, int64_t row, int64_t group) {
  return step.part.extra[0] + (group * step.part.rows + row) * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

// First half of a step: `sums` [row][panel][z, r][lane] give z and r h.
template <class T>
HWY_NOINLINE void ResetState(const Step<Gru, T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                             const T* sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& w = *step.part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row)
    for (int64_t panel = 0; panel < panels; ++panel, sums += 2 * lanes) {
      const int64_t at = row * step.stride + (group + panel) * lanes;
      const auto r = GateVec<T>(d, w, hn::Load(d, sums + lanes));
      hn::Store(GateVec<T>(d, w, hn::Load(d, sums)), d, UpdateGate(step, row, group + panel));
      hn::Store(hn::Mul(r, hn::Load(d, step.h + at)), d, step.part.extra[1] + at);
    }
}

// Second half: `sums` [row][panel][lane] are the candidate's.
template <class T>
HWY_NOINLINE void UpdateState(const Step<Gru, T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                              const T* sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& w = *step.part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row) {
    for (int64_t panel = 0; panel < panels; ++panel, sums += lanes) {
      const int64_t at = row * step.stride + (group + panel) * lanes;
      const auto z = hn::Load(d, UpdateGate(step, row, group + panel));
      hn::Store(NewStateVec<T>(d, w, z, hn::Load(d, sums), hn::Load(d, step.h + at)), d, step.h_next + at);
    }
    WriteY(step, row, group, panels);
  }
}

// A step with linear_before_reset: `sums` [row][panel][z, r, h][lane], h those of R alone.
template <class T>
HWY_NOINLINE void UpdateLinear(const Step<Gru, T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                               const T* sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& w = *step.part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row) {
    for (int64_t panel = 0; panel < panels; ++panel, sums += 3 * lanes) {
      const int64_t at = row * step.stride + (group + panel) * lanes;
      const auto z = GateVec<T>(d, w, hn::Load(d, sums)), r = GateVec<T>(d, w, hn::Load(d, sums + lanes));
      const auto of_x = hn::Load(d, step.Sums(row, group + panel) + 2 * lanes);
      const auto candidate = hn::MulAdd(r, hn::Load(d, sums + 2 * lanes), of_x);
      hn::Store(NewStateVec<T>(d, w, z, candidate, hn::Load(d, step.h + at)), d, step.h_next + at);
    }
    WriteY(step, row, group, panels);
  }
}

template <class S, class T>
HWY_INLINE void RunStep(const Step<Gru, T>& step, const RecurrentShare<T>& share) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& w = *step.part.weights;
  if (w.cell.linear_before_reset) {
    const auto init = [&](int64_t row, int64_t group, int gate) HWY_ATTR {
      return hn::Load(d, gate < 2 ? step.Sums(row, group) + gate * lanes : w.rb + group * lanes);
    };
    const auto update = [&](int64_t row, int64_t rows, int64_t group, int64_t panels, const T* sums)
                            HWY_ATTR { UpdateLinear(step, row, rows, group, panels, sums); };
    return MultiplyState<3, S>(step, share, step.h, w.r, init, update);
  }
  const auto gate_init = [&](int64_t row, int64_t group, int gate)
                             HWY_ATTR { return hn::Load(d, step.Sums(row, group) + gate * lanes); };
  const auto reset = [&](int64_t row, int64_t rows, int64_t group, int64_t panels, const T* sums)
                         HWY_ATTR { ResetState(step, row, rows, group, panels, sums); };
  MultiplyState<2, S>(step, share, step.h, w.r, gate_init, reset, true);
  // The candidates of each share need r h of all.
  if (!share.barrier->Wait(share.width)) return;
  const auto candidate_init = [&](int64_t row, int64_t group, int)
                                  HWY_ATTR { return hn::Load(d, step.Sums(row, group) + 2 * lanes); };
  const auto update = [&](int64_t row, int64_t rows, int64_t group, int64_t panels, const T* sums)
                          HWY_ATTR { UpdateState(step, row, rows, group, panels, sums); };
  MultiplyState<1, S>(step, share, static_cast<const T*>(step.part.extra[1]), w.r_candidate, candidate_init, update,
                      true);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
