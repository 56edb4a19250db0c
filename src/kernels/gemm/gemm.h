// SPDX-License-Identifier: Apache-2.0
// gemm: matrix products. float and double run vectorised over packed panels; whole numbers through the plain loop,
// wrapping.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// A matrix in memory: element (i, j) at data[i * row + j * column]; strides in elements, any sign, 0 repeats.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row = 0;
  int64_t column = 1;
};

// C[m,n] = A[m,k] B[k,n] (+ C when `accumulate`) for each of `batch` pairs. C is row-major with rows `c_row` apart and
// overlaps neither A nor B.
template <class T>
struct MatMulArgs {
  int64_t m = 0, n = 0, k = 0;
  MatrixView<T> a, b;
  T* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  int64_t batch = 1;
  // Where matrix b of the batch starts, in elements from `data`; [batch] entries, or none when all are the first.
  std::span<const int64_t> a_offsets, b_offsets, c_offsets;
};

// The definition, element by element, sums in T in the order of k; whole numbers wrap around.
template <class T>
void MatMulReference(const MatMulArgs<T>& args) noexcept {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;  // modulo 2^64, then modulo the width of T
  const auto start = [](std::span<const int64_t> offsets, int64_t i) { return offsets.empty() ? 0 : offsets[i]; };
  for (int64_t pair = 0; pair < args.batch; ++pair) {
    const T* a = args.a.data + start(args.a_offsets, pair);
    const T* b = args.b.data + start(args.b_offsets, pair);
    T* c = args.c + start(args.c_offsets, pair);
    for (int64_t i = 0; i < args.m; ++i)
      for (int64_t j = 0; j < args.n; ++j) {
        Sum sum = args.accumulate ? static_cast<Sum>(c[i * args.c_row + j]) : Sum(0);
        for (int64_t l = 0; l < args.k; ++l)
          sum = static_cast<Sum>(sum + static_cast<Sum>(a[i * args.a.row + l * args.a.column]) *
                                           static_cast<Sum>(b[l * args.b.row + j * args.b.column]));
        c[i * args.c_row + j] = static_cast<T>(sum);
      }
  }
}

// The same, fast. T: float, double, int32_t, int64_t, uint32_t, uint64_t (and int8_t, uint8_t, int16_t, uint16_t,
// wrapping). Each float sum is one chain of fused multiply-adds in the order of k (where the CPU has them), so |error|
// is at most (k + 1) eps sum |a b|, and the result depends on neither `batch`, m, n nor the number of threads. Works on
// up to `threads` participants of `team`; on the caller alone when it is null. Returns early, C unfinished, once the
// run is to end (base/stop_token.h). Allocates scratch for B's panels where packing pays; throws std::bad_alloc.
template <class T>
void MatMul(const MatMulArgs<T>& args, ThreadTeam* team = nullptr, int threads = 0);

// A matrix whose rows lie in pieces: row i is the numbers at data + rows[i] + segments[s], `segment` of them, for one s
// after the other. At least one segment.
template <class T>
struct ScatteredRows {
  const T* data = nullptr;
  std::span<const int64_t> rows, segments;
  int64_t segment = 0;
};

// What is done to each row of C[m,n] once its sums are complete, before it is stored: plus `added` [n] (null = 0), then
// negative numbers become 0.
template <class T>
struct RowFinish {
  const T* added = nullptr;
  bool relu = false;
};

struct GemmVariant;

// B[k,n] packed once for many products. T: float, double. Bound to the instruction set that was active when it was
// packed.
template <class T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Copies b; with `flush_denormals` its denormals become 0. Throws std::bad_alloc.
  PackedMatrix(int64_t k, int64_t n, const MatrixView<T>& b, bool flush_denormals = true);

  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  int64_t bytes() const { return bytes_; }

  // C[m,n] = A B + bias (bias [n], null = 0; not with `accumulate`), or C + A B, then `finish`. Rows of A: k
  // consecutive numbers, `a_row` apart. Thread safe; errors of the sums, which begin with the bias, as for MatMul. No
  // allocation.
  void Multiply(int64_t m, const T* a, int64_t a_row, const T* bias, bool accumulate, T* c, int64_t c_row,
                ThreadTeam* team = nullptr, int threads = 0, const RowFinish<T>& finish = {}) const noexcept;
  // The same, without `accumulate`, on the calling thread: A has rows.size() rows of k = segments.size() * segment.
  void Multiply(const ScatteredRows<T>& a, const T* bias, T* c, int64_t c_row) const noexcept;

 private:
  int64_t k_ = 0, n_ = 0, bytes_ = 0;
  const GemmVariant* variant_ = nullptr;
  AlignedArray<T> panels_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
