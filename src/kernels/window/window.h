// SPDX-License-Identifier: Apache-2.0
// window: what convolutions and pools share: windows that slide over the last axes of an array. The plain way: a table
// says which inputs each output sees, loops follow it; products are left to gemm.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One entry per spatial axis. Output o sees inputs o * stride - begin + k * dilation, k < kernel.
struct Window {
  std::vector<int64_t> in, out, kernel, stride, dilation;
  std::vector<int64_t> begin, end;  // padding before and after

  int64_t InSize() const;
  int64_t OutSize() const;
  int64_t KernelSize() const;
};

inline constexpr int64_t kPadding = -1;  // in the padding
inline constexpr int64_t kBeyond = -2;   // beyond it: a window cut off at the end
// For outputs [first, last) in row-major order and each place of the window: the offset of the input there, or one of
// the two above. [last - first, KernelSize()].
std::vector<int64_t> WindowTable(const Window& window, int64_t first, int64_t last);

// Adds columns[c, k, o] to the input of x[channels, in_size] that output o of the table sees at place k in channel c,
// where it sees one. T: float, double, int64_t, which wraps.
template <class T>
void AddColumns(const T* columns, T* x, int64_t channels, int64_t in_size, int64_t kernel_size,
                std::span<const int64_t> table);

// For each of `planes` of x[planes, in], y[planes, out]; x and y of `type`: float, double, float16, bfloat16. `pause`
// is called now and then, and may throw.
enum class AverageOver : uint8_t { kInputs, kPadded };  // what is counted
void AveragePool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, AverageOver over,
                 const std::function<void()>& pause = {});
// (sum |x|^p)^(1/p)
void LpPool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, int64_t p,
            const std::function<void()>& pause = {});
// The greatest, a NaN if there is one, the least finite number for a window without inputs, and its offset within the
// plane (0 then); `places` may be null. int8 and uint8, too.
void MaxPool(TensorType type, const void* x, void* y, int64_t* places, int64_t planes, const Window& window,
             const std::function<void()>& pause = {});

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
