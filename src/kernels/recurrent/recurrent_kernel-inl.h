// SPDX-License-Identifier: Apache-2.0
// What the vector kernels of all kinds share, compiled once per instruction set: projection of the inputs, the walk
// over steps, initial and final states. A kind adds
//   RunStep<S>(const Step<Kind, T>&, const RecurrentShare<T>&)   one step of this share's groups: h_next from h and z
// S is what weights are stored as: T, uint16_t for bfloat16, int8_t.
//
// A group is a vector of hidden units; its panel of W holds the columns of their gates, so the sums of one tile are all
// the gates of some units, and those are updated at once.
#if defined(ONNXSEQ_KERNELS_RECURRENT_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_RECURRENT_KERNEL_INL_H_
#undef ONNXSEQ_KERNELS_RECURRENT_KERNEL_INL_H_
#else
#define ONNXSEQ_KERNELS_RECURRENT_KERNEL_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/activation/activation-inl.h"
#include "kernels/gemm/tile-inl.h"
#include "kernels/recurrent/left_rows-inl.h"
#include "kernels/recurrent/recurrent_variant.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A share's weights, k for each unit and gate, are to be asked for ahead, for they come from beyond the L2. Bytes
// always need that, floats only where a step reads two matrices `in_turn`: of a single one enough stays in the L2 from
// step to step.
template <class Kind, class S, class T>
bool IsFar(const PackedSizes<T>& w, const RecurrentShare<T>& share, int64_t k, bool in_turn) {
  const int64_t columns = (share.group_end - share.group_begin) * w.lanes * Kind::kGates;
  const int64_t bytes = columns * k * static_cast<int64_t>(sizeof(S));
  return sizeof(S) == 1 ? bytes > kL2Bytes : in_turn && bytes > kL2Bytes / 2 * 3;
}

// z = bias + x W^T.
template <class Kind, class S, class T>
struct ProjectOp {
  const RecurrentPart<Kind, T>& part;
  const LeftRows<S, T>& x;
  int64_t rows, first_group;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t group) const {
    constexpr int kGates = Kind::kGates;
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d)), width = kGates * lanes;
    const auto& w = *part.weights;
    const T* HWY_RESTRICT bias = w.bias + group * width;
    T* HWY_RESTRICT z = part.z + (group * part.z_rows + row) * width;
    const auto init = [&](int, int v) HWY_ATTR { return hn::Load(d, bias + v * lanes); };
    const auto done = [&](int r, int v, hn::Vec<decltype(d)> sum) HWY_ATTR {
      hn::Store(sum, d, z + ((v / kGates) * part.z_rows + r) * width + (v % kGates) * lanes);
    };
    const Walk walk = {rows, 1, group == first_group};
    x.template Times<kRows, kPanels, kGates>(d, row, group, w.input_size, w.w, walk, init, done);
  }
};

// One step of a part.
template <class Kind, class T>
struct Step {
  const RecurrentPart<Kind, T>& part;
  int64_t number;
  int64_t active;  // rows that have this step
  int64_t before;  // and that had the one before: as many as h is of
  const T* h;      // [rows][stride], before the step
  T* h_next;       // after it
  const T* z;      // first row of this step in part.z
  int64_t stride;  // of a row of h

  // The sums of W of one row and group.
  HWY_INLINE const T* Sums(int64_t row, int64_t group) const {
    return z + (group * part.z_rows + row) * Kind::kGates * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  }
  // Asks for those of up to kRows rows: they were computed long before.
  template <int kRows>
  HWY_INLINE void FetchSums(int64_t row, int64_t group) const {
    const T* const end = Sums(std::min(row + kRows, active), group);
    for (const T* at = Sums(row, group); at < end; at += kLineBytes / static_cast<int64_t>(sizeof(T)))
      hwy::Prefetch(at);
  }
};

// Sums of a state times panels of R: for each tile of rows and groups init(row, group, vector), then plus state R^T,
// then update(row, rows, group, panels, sums [row][panel][kVectors][lane]).
template <int kVectors, class S, class Kind, class T, class Init, class Update>
struct StateOp {
  const Step<Kind, T>& step;
  const LeftRows<S, T>& state;
  bool zero;                    // the state is 0, and so are its products
  const GateMatrix<T>& matrix;  // of groups of kVectors * lanes columns
  const Init& init;
  const Update& update;
  const Walk& walk;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t group) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t k = step.part.weights->hidden_size;
    if constexpr (kRows > 3) {
      if (const int64_t next = row + kRows; next < step.active)
        step.template FetchSums<kRows>(next, group);
      else
        step.template FetchSums<kRows>(0, std::clamp<int64_t>(group + walk.next, 0, step.part.weights->groups - 1));
    }
    HWY_ALIGN T sums[kRows * kPanels * kVectors * HWY_MAX_BYTES / sizeof(T)];
    const auto begin = [&](int r, int v) HWY_ATTR { return init(row + r, group + v / kVectors, v % kVectors); };
    const auto done = [&](int r, int v, hn::Vec<decltype(d)> sum)
                          HWY_ATTR { hn::Store(sum, d, sums + (r * kPanels * kVectors + v) * lanes); };
    if (zero) {
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kPanels * kVectors; ++v)
          hn::Store(begin(r, v), d, sums + (r * kPanels * kVectors + v) * lanes);
    } else {
      state.template Times<kRows, kPanels, kVectors>(d, row, group, k, matrix, walk, begin, done);
    }
    update(row, int64_t{kRows}, group, int64_t{kPanels}, sums);
  }
};

// Every other step goes through R from its end: when R is larger than the cache, what was read last is there still, and
// in one and the same order always just gone. Units are independent, so nothing else changes.
template <int kVectors, class S, class Kind, class T, class Init, class Update>
HWY_INLINE void MultiplyState(const Step<Kind, T>& step, const RecurrentShare<T>& share, const T* state,
                              const GateMatrix<T>& matrix, const Init& init, const Update& update,
                              bool in_turn = false) {
  const auto& w = *step.part.weights;
  const bool zero = step.number == 0 && step.part.io->h0 == nullptr && w.finite && state == step.h;
  for (int64_t row = 0; row < step.before; ++row) share.rows[row] = state + row * step.stride;
  const LeftRows<S, T> left =
      Left(S(), w, share, step.active, w.hidden_size, IsFar<Kind, S>(w, share, w.hidden_size, in_turn), step.before);
  const bool falling = step.number % 2 != 0;
  const Walk walk = {step.active, falling ? -1 : 1, false};
  ForEachTile<kVectors>(step.active, share.group_begin, share.group_end,
                        StateOp<kVectors, S, Kind, T, Init, Update>{step, left, zero, matrix, init, update, walk},
                        falling);
}

// activation(z held within the clip of the cell).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ClipAndActivate(D d, const CellClip& cell, const Activation& activation, V z) {
  using T = hn::TFromD<D>;
  if (cell.clips()) {
    // A bound beyond T's range holds nothing back.
    const T bound = static_cast<T>(std::min(cell.clip, static_cast<double>(std::numeric_limits<T>::max())));
    z = HoldWithin(d, hn::Set(d, -bound), hn::Set(d, bound), z);
  }
  return ActivateVec(d, activation, z);
}

// The new h of a row's groups to y.
template <class Kind, class T>
HWY_INLINE void WriteY(const Step<Kind, T>& step, int64_t row, int64_t group, int64_t panels) {
  const RecurrentPart<Kind, T>& part = step.part;
  if (part.io->y == nullptr) return;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* const h = step.h_next + row * step.stride + group * lanes;
  const int64_t at = part.io->reverse ? part.lengths[row] - 1 - step.number : step.number;
  T* const y = part.io->YOf(part.order[row]) + at * part.io->y_step + group * lanes;
  const int64_t units = std::min(panels * lanes, part.weights->hidden_size - group * lanes);
  int64_t unit = 0;
  for (; unit + lanes <= units; unit += lanes) hn::StoreU(hn::Load(d, h + unit), d, y + unit);
  for (; unit < units; ++unit) y[unit] = h[unit];
}

// This share's units of the initial states, and zeros where y has no step.
template <class Kind, class T>
HWY_NOINLINE void BeginPart(const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  const auto& w = *part.weights;
  const RecurrentSequence<T>& io = *part.io;
  const int64_t lanes = w.lanes, stride = w.groups * lanes, first = share.group_begin * lanes;
  const int64_t units = std::min(share.group_end * lanes, w.hidden_size) - first,
                padded = share.group_end * lanes - first;
  for (int64_t row = 0; row < part.rows; ++row) {
    const int64_t from = part.order[row];
    T* const h = part.h + row * stride + first;
    std::fill_n(h, padded, T(0));
    if (io.h0 != nullptr) std::copy_n(io.H0Of(from) + first, units, h);
    if constexpr (Kind::kHasCellState) {
      for (int64_t group = share.group_begin; group < share.group_end; ++group) {
        T* const c = part.extra[0] + (group * part.rows + row) * lanes;
        std::fill_n(c, lanes, T(0));
        if (io.c0 != nullptr)
          std::copy_n(io.C0Of(from) + group * lanes, std::min(lanes, w.hidden_size - group * lanes), c);
      }
    }
    if (io.y != nullptr && io.IsPadded(part.lengths[row]))
      for (int64_t step = part.lengths[row]; step < io.steps; ++step)
        std::fill_n(io.YOf(from) + step * io.y_step + first, units, T(0));
  }
}

// This share's units of the final states.
template <class Kind, class T>
HWY_NOINLINE void EndPart(const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  const auto& w = *part.weights;
  const RecurrentSequence<T>& io = *part.io;
  const int64_t lanes = w.lanes, stride = w.groups * lanes;
  for (int64_t row = 0; row < part.rows; ++row) {
    const int64_t length = part.lengths[row], to = part.order[row];
    const bool zero = length == 0 && io.IsPadded(0);
    const T* const h = part.h + (length & 1) * part.rows * stride + row * stride;
    for (int64_t group = share.group_begin; group < share.group_end; ++group) {
      const int64_t first = group * lanes, units = std::min(lanes, w.hidden_size - first);
      const auto put = [&](T* out, const T* in) { zero ? std::fill_n(out, units, T(0)) : std::copy_n(in, units, out); };
      if (io.yh != nullptr) put(io.YhOf(to) + first, h + first);
      if constexpr (Kind::kHasCellState) {
        if (io.yc != nullptr) put(io.YcOf(to) + first, part.extra[0] + (group * part.rows + row) * lanes);
      }
    }
  }
}

template <class Kind, class T>
HWY_INLINE int64_t LongestOf(const RecurrentPart<Kind, T>& part) {
  return part.rows > 0 ? part.lengths[0] : 0;
}

template <class S, class Kind, class T>
HWY_INLINE void RunSteps(const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  const auto& w = *part.weights;
  const RecurrentSequence<T>& io = *part.io;
  const int64_t stride = w.groups * w.lanes;
  const int64_t steps = std::min(LongestOf(part), share.end);
  int64_t active = part.rows;
  while (active > 0 && part.lengths[active - 1] < share.begin) --active;
  const ValueRange x_range = w.shared_ranges ? RangeOfAllX(part) : ValueRange();
  for (int64_t begin = share.begin; begin < steps;) {
    // As many steps as z holds; a step's rows are those that have not ended.
    int64_t end = begin, filled = 0, ahead = active;
    for (; end < steps; ++end) {
      while (part.lengths[ahead - 1] <= end) --ahead;
      if (filled + ahead > part.z_rows) break;
      for (int64_t row = 0; row < ahead; ++row) {
        const int64_t at = io.reverse ? part.lengths[row] - 1 - end : end;
        share.rows[filled + row] = io.XOf(part.order[row]) + at * io.x_step;
      }
      filled += ahead;
    }
    const LeftRows<S, T> x =
        Left(S(), w, share, filled, w.input_size, IsFar<Kind, S>(w, share, w.input_size, false), 0, x_range);
    ForEachTile<Kind::kGates>(filled, share.group_begin, share.group_end,
                              ProjectOp<Kind, S, T>{part, x, filled, share.group_begin});
    const T* z = part.z;
    for (; begin < end; ++begin) {
      const int64_t before = active;
      while (part.lengths[active - 1] <= begin) --active;
      T* const halves[2] = {part.h, part.h + part.rows * stride};
      RunStep<S>(Step<Kind, T>{part, begin, active, before, halves[begin & 1], halves[~begin & 1], z, stride}, share);
      z += active * Kind::kGates * w.lanes;
      if (!share.barrier->Wait(share.width)) return;
    }
  }
}

template <class S, class Kind, class T>
HWY_INLINE void RunShareAs(const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  if (share.begin == 0) {
    BeginPart(part, share);
    if (!share.barrier->Wait(share.width)) return;
  }
  RunSteps<S>(part, share);
  if (share.end >= LongestOf(part)) EndPart(part, share);
}

template <class Kind, class T>
HWY_INLINE void RunShare(const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  RunShareAs<T>(part, share);
}

// For weights that are stored as less than float.
template <class Kind>
HWY_INLINE void RunShareNarrow(const RecurrentPart<Kind, float>& part, const RecurrentShare<float>& share) {
  if (part.weights->storage == WeightStorage::kBf16)
    RunShareAs<uint16_t>(part, share);
  else
    RunShareAs<int8_t>(part, share);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
