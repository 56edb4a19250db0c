// SPDX-License-Identifier: Apache-2.0
// The vector kernel of the LSTM, compiled once per instruction set, for float and double.
//
// A group is a vector of hidden units; its panel of W and R holds the columns of their four gates, so the sums of one
// tile are all the gates of some units, and those cells are updated at once.
#if defined(ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#undef ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#else
#define ONNXSEQ_KERNELS_LSTM_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/activation/activation-inl.h"
#include "kernels/gemm/tile-inl.h"
#include "kernels/lstm/lstm_variant.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// z = bias + x W^T for the rows listed in x_rows.
template <class T>
struct ProjectOp {
  const LstmPart<T>& part;
  const T* const* x_rows;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t group) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d)), width = kPanelVectors * lanes;
    const auto& w = *part.weights;
    const T* HWY_RESTRICT bias = w.bias + group * width;
    T* HWY_RESTRICT z = part.z + (group * part.z_rows + row) * width;
    const auto init = [&](int, int v) HWY_ATTR { return hn::Load(d, bias + v * lanes); };
    const auto done = [&](int r, const auto* sums) HWY_ATTR {
      for (int v = 0; v < kPanels * kPanelVectors; ++v)
        hn::Store(sums[v], d, z + ((v / kPanelVectors) * part.z_rows + r) * width + (v % kPanelVectors) * lanes);
    };
    const int64_t stride = w.input_size * width;
    Tile<kRows, kPanels>(d, x_rows + row, w.input_size, w.w + group * stride, stride, width, init, done);
  }
};

// The update of a cell that has more than the default: peepholes, clip, coupled gates, other activations. Returns h',
// replaces c.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V UpdateGeneralCell(D d, const typename PackedLstm<T>::Data& w, const T* p, const T* gates, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V before = hn::Load(d, c), one = hn::Set(d, T(1));
  const bool clips = w.cell.clips();
  // A bound beyond T's range holds nothing back.
  const T bound = static_cast<T>(std::min(w.cell.clip, static_cast<double>(std::numeric_limits<T>::max())));
  const auto gate = [&](int index, int peephole, V state, const Activation& activation) HWY_ATTR {
    V z = hn::Load(d, gates + index * lanes);
    if (p != nullptr && peephole >= 0) z = hn::MulAdd(hn::Load(d, p + peephole * lanes), state, z);
    return ActivateVec(d, activation, clips ? HoldWithin(d, hn::Set(d, -bound), hn::Set(d, bound), z) : z);
  };
  V i = gate(0, 0, before, w.cell.f), f = gate(2, 2, before, w.cell.f);
  if (w.cell.coupling == LstmCoupling::kForgetFromInput) f = hn::Sub(one, i);
  if (w.cell.coupling == LstmCoupling::kInputFromForget) i = hn::Sub(one, f);
  const V after = hn::MulAdd(f, before, hn::Mul(i, gate(3, -1, before, w.cell.g)));
  hn::Store(after, d, c);
  return hn::Mul(gate(1, 1, after, w.cell.f), ActivateVec(d, w.cell.h, after));
}

template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V UpdatePlainCell(D d, const T* gates, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V i = SigmoidVec(d, hn::Load(d, gates)), f = SigmoidVec(d, hn::Load(d, gates + 2 * lanes));
  const V candidate = TanhVec(d, hn::Load(d, gates + 3 * lanes));
  const V after = hn::MulAdd(f, hn::Load(d, c), hn::Mul(i, candidate));
  hn::Store(after, d, c);
  return hn::Mul(SigmoidVec(d, hn::Load(d, gates + lanes)), TanhVec(d, after));
}

// One step of a part.
template <class T>
struct Step {
  const LstmPart<T>& part;
  int64_t number;
  const T* h;      // [rows][stride], before the step
  T* h_next;       // after it
  const T* z;      // first row of this step in part.z
  int64_t stride;  // of a row of h
};

// The cells of a tile: `gates` [row][panel][gate][lane] are its sums. Called, not repeated in every tile: it is by far
// the larger part of the code, and the sums it takes are still in the nearest cache.
template <class T>
HWY_NOINLINE void UpdateCells(const Step<T>& step, int64_t row, int64_t rows, int64_t group, int64_t panels,
                              const T* gates) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const LstmPart<T>& part = step.part;
  const auto& w = *part.weights;
  for (const int64_t row_end = row + rows; row < row_end; ++row) {
    T* const h = step.h_next + row * step.stride + group * lanes;
    for (int64_t panel = 0; panel < panels; ++panel, gates += kPanelVectors * lanes) {
      T* const c = part.c + ((group + panel) * part.rows + row) * lanes;
      const T* const p = w.p != nullptr ? w.p + (group + panel) * 3 * lanes : nullptr;
      hn::Store(w.plain ? UpdatePlainCell<T>(d, gates, c) : UpdateGeneralCell<T>(d, w, p, gates, c), d,
                h + panel * lanes);
    }
    if (part.io->y == nullptr) continue;
    const int64_t at = part.io->reverse ? part.lengths[row] - 1 - step.number : step.number;
    T* const y = part.io->y + part.order[row] * part.io->y_row + at * part.io->y_step + group * lanes;
    const int64_t units = std::min(panels * lanes, w.hidden_size - group * lanes);
    int64_t unit = 0;
    for (; unit + lanes <= units; unit += lanes) hn::StoreU(hn::Load(d, h + unit), d, y + unit);
    for (; unit < units; ++unit) y[unit] = h[unit];
  }
}

// z + h R^T, then the cells.
template <class T>
struct StepOp {
  const Step<T>& step;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t group) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d)), width = kPanelVectors * lanes;
    const LstmPart<T>& part = step.part;
    const auto& w = *part.weights;
    const T* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = step.h + (row + r) * step.stride;
    const T* HWY_RESTRICT start = step.z + (group * part.z_rows + row) * width;
    HWY_ALIGN T gates[kRows * kPanels * kPanelVectors * HWY_MAX_BYTES / sizeof(T)];
    const auto init = [&](int r, int v) HWY_ATTR {
      return hn::Load(d, start + ((v / kPanelVectors) * part.z_rows + r) * width + (v % kPanelVectors) * lanes);
    };
    const auto done = [&](int r, const auto* sums) HWY_ATTR {
      for (int v = 0; v < kPanels * kPanelVectors; ++v)
        hn::Store(sums[v], d, gates + (r * kPanels * kPanelVectors + v) * lanes);
    };
    const int64_t panel_stride = w.hidden_size * width;
    Tile<kRows, kPanels>(d, rows, w.hidden_size, w.r + group * panel_stride, panel_stride, width, init, done);
    UpdateCells(step, row, kRows, group, kPanels, gates);
  }
};

// This share's units of the initial states, and zeros where y has no step.
template <class T>
HWY_NOINLINE void BeginPart(const LstmPart<T>& part, const LstmShare<T>& share) {
  const auto& w = *part.weights;
  const LstmSequence<T>& io = *part.io;
  const int64_t lanes = w.lanes, stride = w.groups * lanes, first = share.group_begin * lanes;
  const int64_t units = std::min(share.group_end * lanes, w.hidden_size) - first,
                padded = share.group_end * lanes - first;
  for (int64_t row = 0; row < part.rows; ++row) {
    const int64_t from = part.order[row];
    T* const h = part.h + row * stride + first;
    std::fill_n(h, padded, T(0));
    if (io.h0 != nullptr) std::copy_n(io.h0 + from * io.h0_row + first, units, h);
    for (int64_t group = share.group_begin; group < share.group_end; ++group) {
      T* const c = part.c + (group * part.rows + row) * lanes;
      std::fill_n(c, lanes, T(0));
      if (io.c0 != nullptr)
        std::copy_n(io.c0 + from * io.c0_row + group * lanes, std::min(lanes, w.hidden_size - group * lanes), c);
    }
    if (io.y != nullptr)
      for (int64_t step = part.lengths[row]; step < io.steps; ++step)
        std::fill_n(io.y + from * io.y_row + step * io.y_step + first, units, T(0));
  }
}

// This share's units of the final states.
template <class T>
HWY_NOINLINE void EndPart(const LstmPart<T>& part, const LstmShare<T>& share) {
  const auto& w = *part.weights;
  const LstmSequence<T>& io = *part.io;
  const int64_t lanes = w.lanes, stride = w.groups * lanes;
  for (int64_t row = 0; row < part.rows; ++row) {
    const int64_t length = part.lengths[row], to = part.order[row];
    const bool zero = length == 0 && io.steps > 0;
    const T* const h = part.h + (length & 1) * part.rows * stride + row * stride;
    for (int64_t group = share.group_begin; group < share.group_end; ++group) {
      const int64_t first = group * lanes, units = std::min(lanes, w.hidden_size - first);
      const T* const c = part.c + (group * part.rows + row) * lanes;
      const auto put = [&](T* out, const T* in) { zero ? std::fill_n(out, units, T(0)) : std::copy_n(in, units, out); };
      if (io.yh != nullptr) put(io.yh + to * io.yh_row + first, h + first);
      if (io.yc != nullptr) put(io.yc + to * io.yc_row + first, c);
    }
  }
}

template <class T>
HWY_INLINE void RunSteps(const LstmPart<T>& part, const LstmShare<T>& share) {
  const auto& w = *part.weights;
  const LstmSequence<T>& io = *part.io;
  const int64_t stride = w.groups * w.lanes, width = kPanelVectors * w.lanes;
  const int64_t steps = part.rows > 0 ? part.lengths[0] : 0;
  int64_t active = part.rows;
  for (int64_t begin = 0; begin < steps;) {
    // As many steps as z holds; a step's rows are those that have not ended.
    int64_t end = begin, filled = 0, ahead = active;
    for (; end < steps; ++end) {
      while (part.lengths[ahead - 1] <= end) --ahead;
      if (filled + ahead > part.z_rows) break;
      for (int64_t row = 0; row < ahead; ++row) {
        const int64_t at = io.reverse ? part.lengths[row] - 1 - end : end;
        share.x_rows[filled + row] = io.x + part.order[row] * io.x_row + at * io.x_step;
      }
      filled += ahead;
    }
    ForEachTile(filled, share.group_begin, share.group_end, ProjectOp<T>{part, share.x_rows});
    const T* z = part.z;
    for (; begin < end; ++begin) {
      while (part.lengths[active - 1] <= begin) --active;
      T* const halves[2] = {part.h, part.h + part.rows * stride};
      const Step<T> step{part, begin, halves[begin & 1], halves[~begin & 1], z, stride};
      ForEachTile(active, share.group_begin, share.group_end, StepOp<T>{step});
      z += active * width;
      if (!share.barrier->Wait(share.width)) return;
    }
  }
}

template <class T>
HWY_INLINE void RunShare(const LstmPart<T>& part, const LstmShare<T>& share) {
  BeginPart(part, share);
  if (!share.barrier->Wait(share.width)) return;
  RunSteps(part, share);
  EndPart(part, share);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
