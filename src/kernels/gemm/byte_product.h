// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes less their zero points, as int32, which wraps: tiles (byte_tile.h) of packed columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct ByteKernel;

// B [k,n], row-major, made ready for many products: as int8, with the sums of its columns.
class PackedBytes {
 public:
  // Copies b: of int8, or uint8 when not `is_signed`; it lies as [n,k] when `transposed`. For the active instruction
  // set. Throws std::bad_alloc.
  PackedBytes(int64_t k, int64_t n, const void* b, bool is_signed, bool transposed = false);

  // Elements [row, row + rows) x [column, column + columns) of a product, rows `step` apart; what `added` says for each
  // column is still to be added.
  struct Sums {
    int64_t row, rows, column, columns;
    const int32_t* sums;
    int64_t step;
    const int32_t* added;
  };
  // C[m,n] = added + the sums of (a - a_zero) (b - b_zero). a is [m,k] of int8, or uint8 when not `a_signed`. Zero
  // points: none for 0, one for all, or one for each row of a and each column of b; added: none for 0, or one for each
  // column. Calls done for pieces that are all of C, from several threads. Thread safe. Returns early, pieces missing,
  // once the run is to end. Throws std::bad_alloc.
  void Multiply(int64_t m, const void* a, bool a_signed, std::span<const int32_t> a_zero,
                std::span<const int32_t> b_zero, std::span<const int32_t> added, FunctionRef<void(const Sums&)> done,
                ThreadTeam* team = nullptr, int threads = 0) const;

 private:
  struct Job;

  void MultiplyPiece(const Job& job, int64_t row, int64_t rows, int64_t panel, int64_t panels) const;
  AlignedArray<uint8_t> CopyRows(int64_t m, const uint8_t* a, uint8_t flip) const;

  int64_t k_, n_;
  int32_t shift_;  // how much greater b was
  const ByteKernel* kernel_;
  int64_t lanes_, vectors_, quads_, panels_;
  AlignedArray<int8_t> b_;            // as ByteTile has it, filled up with 0
  std::vector<int32_t> column_sums_;  // of b_
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
