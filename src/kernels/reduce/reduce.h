// SPDX-License-Identifier: Apache-2.0
// reduce: folds any set of axes. The loop nest knows no types; four small functions, instantiated per operation and
// element type (ReduceFnsFor), do the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/elementwise/rows.h"
#include "kernels/reduce/fold_floats.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct ReduceFns {
  size_t in_size, acc_size, out_size;                                     // bytes of one input, accumulator, output
  void (*init)(void* acc, int64_t n);                                     // n fresh accumulators
  void (*fold)(const void* in, void* acc, int64_t n, int64_t rows);       // rows of n inputs, one into each accumulator
  void (*fold_each)(const void* in, void* acc, int64_t n, int64_t rows);  // in[r * n + i] into acc[i], r by r
  void (*finish)(const void* acc, void* out, int64_t n, int64_t count);   // count: how many inputs each accumulator saw
};

class ReduceLoops {
 public:
  // reduced[i] != 0: axis i is folded. The input is dense, or has these strides (in elements, of the last axis 1).
  ReduceLoops(std::span<const int64_t> dims, std::span<const char> reduced, std::span<const int64_t> strides = {});
  int64_t outputs() const { return outputs_; }
  // Inputs per output.
  int64_t count() const { return count_; }
  // Outputs can be computed in independent slices: slices() of them, in order, slice_outputs() each.
  int64_t slices() const { return slices_; }
  int64_t slice_outputs() const { return slices_ == 0 ? 0 : outputs_ / slices_; }
  // `in` is the first of the inputs; `acc` has place for (end - begin) * slice_outputs() accumulators and is aligned
  // for them; `out` is the whole output.
  void Run(int64_t begin, int64_t end, const void* in, void* acc, void* out, const ReduceFns& fns) const;

 private:
  struct Dim {
    int64_t size;
    bool reduced;
    int64_t in_stride;
    int64_t out_stride;  // 0 when reduced
  };
  std::vector<Dim> dims_;  // merged where one stride goes through them; never empty
  int64_t outputs_ = 1, count_ = 1, slices_ = 1;
};

// Op: struct with template <class T> using Acc; static Init<T>(), Step<T>(acc, x), Merge<T>(acc, acc), Finish<T>(acc,
// count), where x is the element as Load gives it. Sums are kept in kLanes partial ones, so that they vectorise and err
// less. An Op whose fold of floats is a FloatFold says which as kFloatFold; one that folds a row at once has Folded(x,
// n).
template <class Op, class T>
struct ReduceRows {
  using Acc = typename Op::template Acc<T>;
  static constexpr int64_t kLanes = 16;
  static constexpr bool kIsFloatFold = std::is_same_v<T, float> && requires { Op::kFloatFold; };

  static void Init(void* acc, int64_t n) { std::fill_n(static_cast<Acc*>(acc), n, Op::template Init<T>()); }
  static void Fold(const void* in, void* acc, int64_t n, int64_t rows) {
    const T* x = static_cast<const T*>(in);
    Acc* total = static_cast<Acc*>(acc);
    if constexpr (kIsFloatFold) {
      FoldFloats(Op::kFloatFold, x, acc, n, rows);
    } else {
      for (int64_t r = 0; r < rows; ++r) FoldRow(x + r * n, total[r], n);
    }
  }
  static void FoldEach(const void* in, void* acc, int64_t n, int64_t rows) {
    const T* x = static_cast<const T*>(in);
    Acc* total = static_cast<Acc*>(acc);
    if constexpr (kIsFloatFold) {
      FoldFloatsEach(Op::kFloatFold, x, acc, n, rows);
    } else {
      for (int64_t r = 0; r < rows; ++r, x += n)
        for (int64_t i = 0; i < n; ++i) total[i] = Op::template Step<T>(total[i], Load(x[i]));
    }
  }
  static void Finish(const void* acc, void* out, int64_t n, int64_t count) {
    const Acc* total = static_cast<const Acc*>(acc);
    T* to = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(Op::template Finish<T>(total[i], count));
  }

 private:
  static void FoldRow(const T* x, Acc& total, int64_t n) {
    int64_t i = 0;
    if constexpr (requires { Op::Folded(x, n); }) {
      total = Op::template Merge<T>(total, Op::Folded(x, n));
      return;
    }
    if (n >= 2 * kLanes) {
      Acc lanes[kLanes];
      std::fill_n(lanes, kLanes, Op::template Init<T>());
      for (; i + kLanes <= n; i += kLanes)
        for (int64_t k = 0; k < kLanes; ++k) lanes[k] = Op::template Step<T>(lanes[k], Load(x[i + k]));
      for (int64_t width = kLanes / 2; width > 0; width /= 2)
        for (int64_t k = 0; k < width; ++k) lanes[k] = Op::template Merge<T>(lanes[k], lanes[k + width]);
      total = Op::template Merge<T>(total, lanes[0]);
    }
    for (; i < n; ++i) total = Op::template Step<T>(total, Load(x[i]));
  }
};

template <class Op, class T>
constexpr ReduceFns ReduceFnsFor() {
  using Rows = ReduceRows<Op, T>;
  return {sizeof(T), sizeof(typename Rows::Acc), sizeof(T), Rows::Init, Rows::Fold, Rows::FoldEach, Rows::Finish};
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
