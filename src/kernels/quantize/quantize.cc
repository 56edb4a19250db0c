// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize.h"

#include <algorithm>
#include <cmath>

#include "kernels/cast/narrow_float.h"
#include "kernels/quantize/byte_rows.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// fn(element, scale) for each.
template <class Fn>
void ForEach(const ScaleGrid& grid, Fn fn) {
  int64_t at = 0;
  for (int64_t o = 0; o < grid.outer; ++o)
    for (int64_t k = 0; k < grid.n; ++k)
      for (int64_t i = 0; i < grid.inner; ++i)
        fn(at++, o * grid.outer_step + k / grid.block * grid.step + i * grid.inner_step);
}

// fn(first element, number of them, scale) for runs that share a scale. False, and none, where runs are short.
template <class Fn>
bool ForRuns(const ScaleGrid& grid, Fn fn) {
  const bool one = grid.outer_step == 0 && grid.step == 0 && grid.inner_step == 0;
  if (one) fn(0, grid.outer * grid.n * grid.inner, 0);
  if (one || grid.inner_step != 0 || grid.inner == 1) return one;
  for (int64_t o = 0, at = 0; o < grid.outer; ++o)
    for (int64_t k = 0; k < grid.n; ++k, at += grid.inner)
      fn(at, grid.inner, o * grid.outer_step + k / grid.block * grid.step);
  return true;
}

float Rounded(float value, TensorType precision) {
  if (precision == TensorType::kFloat16) return static_cast<float>(Float16(value));
  if (precision == TensorType::kBfloat16) return static_cast<float>(BFloat16(value));
  return value;
}

// y as the low `bits` of T.
template <class T>
void QuantizeTo(const float* x, const float* scales, const double* zeros, TensorType precision, TensorType type, T* y,
                const ScaleGrid& grid) {
  const int bits = onnx_optim::BitsOf(type);
  const bool is_signed = onnx_optim::TensorTypeName(type)[0] == 'i';
  const int32_t mask = (1 << bits) - 1;
  // All bounds are small: float holds them exactly.
  const auto low = static_cast<float>(is_signed ? -(1 << (bits - 1)) : 0);
  const auto high = static_cast<float>(is_signed ? mask >> 1 : mask);
  ForEach(grid, [&](int64_t at, int64_t s) {
    const auto zero = static_cast<float>(zeros[s]);
    const float steps = std::nearbyint(Rounded(x[at] / scales[s], precision));
    const float held = std::clamp(std::isnan(steps) ? zero : steps + zero, low, high);
    y[at] = static_cast<T>(static_cast<int32_t>(held) & mask);
  });
}

}  // namespace

void Quantize(const float* x, const float* scales, const double* zeros, TensorType precision, TensorType type,
              bool saturate, void* y, const ScaleGrid& grid) {
  const bool bytes = type == TensorType::kInt8 || type == TensorType::kUint8;
  const auto by_rows = [&](int64_t at, int64_t count, int64_t s) {
    const ByteScale to{scales[s], static_cast<int32_t>(zeros[s]), type == TensorType::kInt8};
    ActiveByteRowKernels().quantize(x + at, count, to, static_cast<uint8_t*>(y) + at);
  };
  if (bytes && precision == TensorType::kFloat && ForRuns(grid, by_rows)) return;
  if (const NarrowFloat* format = NarrowFloat::Find(type)) {
    auto* const codes = static_cast<uint8_t*>(y);
    const CastRules rules{.saturate = saturate};
    ForEach(grid, [&](int64_t at, int64_t s) {
      codes[at] = format->Code(static_cast<double>(Rounded(x[at] / scales[s], precision)) + zeros[s], rules);
    });
  } else if (onnx_optim::BitsOf(type) <= 8) {
    QuantizeTo(x, scales, zeros, precision, type, static_cast<uint8_t*>(y), grid);
  } else {
    QuantizeTo(x, scales, zeros, precision, type, static_cast<uint16_t*>(y), grid);
  }
}

void Dequantize(const double* x, const float* scales, const double* zeros, float* y, const ScaleGrid& grid) {
  ForEach(grid, [&](int64_t at, int64_t s) { y[at] = static_cast<float>(x[at] - zeros[s]) * scales[s]; });
}

void DequantizeBytes(const void* x, bool is_signed, const float* scales, const double* zeros, float* y,
                     const ScaleGrid& grid) {
  const auto* const bytes = static_cast<const uint8_t*>(x);
  const auto run = [&](int64_t at, int64_t count, int64_t s) {
    ActiveByteRowKernels().dequantize(bytes + at, count, {scales[s], static_cast<int32_t>(zeros[s]), is_signed},
                                      y + at);
  };
  if (!ForRuns(grid, run)) ForEach(grid, [&](int64_t at, int64_t s) { run(at, 1, s); });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
