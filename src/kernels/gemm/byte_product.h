// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes less their zero points, as int32, which wraps. Large ones are oneDNN's where the CPU
// multiplies bytes exactly; others are multiplied as int32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

enum class ByteMethod : uint8_t { kBySize, kOwn, kDnn };

// B [k,n], row-major, made ready for many products: as int8, with the sums of its columns.
class PackedBytes {
 public:
  // Copies b: of int8, or uint8 when not `is_signed`; it lies as [n,k] when `transposed`. Throws std::bad_alloc.
  PackedBytes(int64_t k, int64_t n, const void* b, bool is_signed, bool transposed = false);

  // C[m,n] = the sums of (a - a_zero) (b - b_zero). a is [m,k] of int8, or uint8 when not `a_signed`. Zero points: none
  // for 0, one for all, or one for each row of a and each column of b. Thread safe; the same whatever the number of
  // threads. Returns early, C unfinished, once the run is to end. Throws std::bad_alloc.
  void Multiply(int64_t m, const void* a, bool a_signed, std::span<const int32_t> a_zero,
                std::span<const int32_t> b_zero, int32_t* c, ThreadTeam* team = nullptr, int threads = 0,
                ByteMethod method = ByteMethod::kBySize) const;

 private:
  int64_t k_, n_;
  int32_t shift_;  // how much greater b was
  AlignedArray<int8_t> b_;
  std::vector<int32_t> column_sums_;  // of b_
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
