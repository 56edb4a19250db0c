// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

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

float Rounded(float value, TensorType precision) {
  if (precision == TensorType::kFloat16) return static_cast<float>(Float16(value));
  if (precision == TensorType::kBfloat16) return static_cast<float>(BFloat16(value));
  return value;
}

template <class T>
void QuantizeTo(const float* x, const float* scales, const int32_t* zeros, TensorType precision, T* y,
                const ScaleGrid& grid) {
  ForEach(grid, [&](int64_t at, int64_t s) {
    const auto zero = static_cast<float>(zeros[s]);
    const float steps = std::nearbyint(Rounded(x[at] / scales[s], precision));
    // All bounds are small: float holds them exactly.
    const float held =
        std::clamp(std::isnan(steps) ? zero : steps + zero, static_cast<float>(std::numeric_limits<T>::min()),
                   static_cast<float>(std::numeric_limits<T>::max()));
    y[at] = static_cast<T>(held);
  });
}

}  // namespace

void Quantize(const float* x, const float* scales, const int32_t* zeros, TensorType precision, TensorType type, void* y,
              const ScaleGrid& grid) {
  switch (type) {
    case TensorType::kInt8:
      return QuantizeTo(x, scales, zeros, precision, static_cast<int8_t*>(y), grid);
    case TensorType::kUint8:
      return QuantizeTo(x, scales, zeros, precision, static_cast<uint8_t*>(y), grid);
    case TensorType::kInt16:
      return QuantizeTo(x, scales, zeros, precision, static_cast<int16_t*>(y), grid);
    case TensorType::kUint16:
      return QuantizeTo(x, scales, zeros, precision, static_cast<uint16_t*>(y), grid);
    default:
      assert(false);
  }
}

void Dequantize(const int32_t* x, const float* scales, const int32_t* zeros, float* y, const ScaleGrid& grid) {
  ForEach(grid, [&](int64_t at, int64_t s) {
    y[at] = static_cast<float>(static_cast<int64_t>(x[at]) - zeros[s]) * scales[s];
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
