// SPDX-License-Identifier: Apache-2.0
// elementwise: out[i] = f(a[i], b[i], ...) with numpy broadcasting, nothing materialised. The loop nest knows no types;
// a row function, instantiated per functor and element type (rows.h), does the innermost dimension.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

inline constexpr int kMaxOperands = 3;

// Computes n consecutive outputs. in[k] advances by step[k], 0 or 1 elements, per output. `fn` is the functor. out may
// be in[k] itself when step[k] is 1.
using RowFn = void (*)(const void* const* in, const int64_t* step, void* out, int64_t n, const void* fn);

// The dims of an output with the stride of each operand along them, neighbours merged where every operand allows it.
class BroadcastLoops {
 public:
  // Each shape broadcasts to `out`: aligned at the end, every dim equal to out's or 1. At most kMaxOperands shapes.
  BroadcastLoops(std::span<const int64_t> out, std::span<const std::span<const int64_t>> shapes);

  // Number of outputs.
  int64_t size() const { return size_; }
  // Outputs [begin, end) in row-major order. Element sizes in bytes.
  void Run(int64_t begin, int64_t end, const void* const* in, const size_t* in_size, void* out, size_t out_size,
           RowFn row, const void* fn) const;

 private:
  struct Dim {
    int64_t size;
    std::array<int64_t, kMaxOperands> stride;
  };
  // Few dims are left after merging: they take no allocation.
  static constexpr size_t kInline = 4;
  void Add(const Dim& dim);
  // Outermost first; never empty.
  std::span<const Dim> dims() const { return {heap_.empty() ? inline_.data() : heap_.data(), count_}; }
  std::span<Dim> dims() { return {heap_.empty() ? inline_.data() : heap_.data(), count_}; }
  std::array<Dim, kInline> inline_;
  std::vector<Dim> heap_;  // all of them when they are more
  size_t count_ = 0;
  int64_t size_ = 1;
  int operands_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
