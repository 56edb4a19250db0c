// SPDX-License-Identifier: Apache-2.0
// The vector kernel of the RNN, compiled once per instruction set, for float and double.
#if defined(ONNXSEQ_KERNELS_RNN_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_RNN_KERNEL_INL_H_
#undef ONNXSEQ_KERNELS_RNN_KERNEL_INL_H_
#else
#define ONNXSEQ_KERNELS_RNN_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/recurrent/recurrent_kernel-inl.h"
#include "kernels/rnn/rnn.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The units of a tile: `sums` [row][panel][lane].
template <class T>
HWY_NOINLINE void UpdateUnits(const Step<Rnn, T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                              const T* sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& w = *step.part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row) {
    T* const h = step.h_next + row * step.stride + group * lanes;
    for (int64_t panel = 0; panel < panels; ++panel, sums += lanes) {
      const auto sum = hn::Load(d, sums);
      hn::Store(w.plain ? TanhVec(d, sum) : ClipAndActivate(d, w.cell, w.cell.f, sum), d, h + panel * lanes);
    }
    WriteY(step, row, group, panels);
  }
}

template <class S, class T>
HWY_INLINE void RunStep(const Step<Rnn, T>& step, const RecurrentShare<T>& share) {
  const hn::ScalableTag<T> d;
  const auto init = [&](int64_t row, int64_t group, int) HWY_ATTR { return hn::Load(d, step.Sums(row, group)); };
  const auto update = [&](int64_t row, int64_t rows, int64_t group, int64_t panels, const T* sums)
                          HWY_ATTR { UpdateUnits(step, row, rows, group, panels, sums); };
  MultiplyState<1, S>(step, share, step.h, step.part.weights->r, init, update);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
