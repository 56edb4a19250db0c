// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/window.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/elementwise/rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

int64_t Size(const std::vector<int64_t>& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  return size;
}

// Splits i by dims, last one fastest.
void Split(int64_t i, const std::vector<int64_t>& dims, std::vector<int64_t>& index) {
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = i % dims[d];
    i /= dims[d];
  }
}

template <class Fn>
void DispatchFloat(TensorType type, Fn&& fn) {
  switch (type) {
    case TensorType::kFloat:
      return fn(std::type_identity<float>());
    case TensorType::kDouble:
      return fn(std::type_identity<double>());
    case TensorType::kFloat16:
      return fn(std::type_identity<Float16>());
    case TensorType::kBfloat16:
      return fn(std::type_identity<BFloat16>());
    default:
      assert(false);
  }
}

// Outputs are looked at in blocks, so that the table stays small.
template <class Fn>
void ForEachBlock(const Window& window, const std::function<void()>& pause, Fn fn) {
  const int64_t outputs = window.OutSize(), kernel = std::max<int64_t>(1, window.KernelSize());
  const int64_t block = std::max<int64_t>(1, 65536 / kernel);
  for (int64_t first = 0; first < outputs; first += block) {
    if (pause) pause();
    fn(first, std::min(outputs, first + block), WindowTable(window, first, std::min(outputs, first + block)));
  }
}

}  // namespace

int64_t Window::InSize() const { return Size(in); }
int64_t Window::OutSize() const { return Size(out); }
int64_t Window::KernelSize() const { return Size(kernel); }

std::vector<int64_t> WindowTable(const Window& window, int64_t first, int64_t last) {
  const size_t axes = window.in.size();
  const int64_t places = window.KernelSize();
  std::vector<int64_t> table(static_cast<size_t>((last - first) * places)), o(axes), k(axes);
  size_t at = 0;
  for (int64_t output = first; output < last; ++output) {
    Split(output, window.out, o);
    for (int64_t place = 0; place < places; ++place) {
      Split(place, window.kernel, k);
      int64_t offset = 0;
      for (size_t d = 0; d < axes; ++d) {
        const int64_t i = o[d] * window.stride[d] - window.begin[d] + k[d] * window.dilation[d];
        if (i >= window.in[d] + window.end[d]) {
          offset = kBeyond;
          break;
        }
        if (i < 0 || i >= window.in[d]) offset = kPadding;
        if (offset >= 0) offset = offset * window.in[d] + i;
      }
      table[at++] = offset;
    }
  }
  return table;
}

template <class T>
void GatherColumns(const T* x, T* columns, int64_t channels, int64_t in_size, int64_t kernel_size,
                   std::span<const int64_t> table) {
  const int64_t outputs = static_cast<int64_t>(table.size()) / kernel_size;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < kernel_size; ++k) {
      for (int64_t o = 0; o < outputs; ++o) {
        const int64_t offset = table[static_cast<size_t>(o * kernel_size + k)];
        *columns++ = offset < 0 ? T(0) : x[c * in_size + offset];
      }
    }
  }
}

template <class T>
void AddColumns(const T* columns, T* x, int64_t channels, int64_t in_size, int64_t kernel_size,
                std::span<const int64_t> table) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;  // wraps
  const int64_t outputs = static_cast<int64_t>(table.size()) / kernel_size;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < kernel_size; ++k) {
      for (int64_t o = 0; o < outputs; ++o, ++columns) {
        const int64_t offset = table[static_cast<size_t>(o * kernel_size + k)];
        if (offset < 0) continue;
        T& to = x[c * in_size + offset];
        to = static_cast<T>(static_cast<Sum>(to) + static_cast<Sum>(*columns));
      }
    }
  }
}

template void GatherColumns(const float*, float*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void GatherColumns(const double*, double*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void GatherColumns(const int32_t*, int32_t*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void AddColumns(const float*, float*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void AddColumns(const int64_t*, int64_t*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void AddColumns(const double*, double*, int64_t, int64_t, int64_t, std::span<const int64_t>);

void AveragePool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, AverageOver over,
                 const std::function<void()>& pause) {
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  ForEachBlock(window, pause, [&](int64_t first, int64_t last, const std::vector<int64_t>& table) {
    DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
      for (int64_t p = 0; p < planes; ++p) {
        if (pause) pause();
        const T* from = static_cast<const T*>(x) + p * in;
        for (int64_t o = first; o < last; ++o) {
          double sum = 0;
          int64_t count = 0;
          for (int64_t k = 0; k < places; ++k) {
            const int64_t offset = table[static_cast<size_t>((o - first) * places + k)];
            if (offset >= 0) sum += static_cast<double>(Load(from[offset]));
            count += static_cast<int64_t>(offset >= 0 || (offset == kPadding && over == AverageOver::kPadded));
          }
          static_cast<T*>(y)[p * out + o] =
              T(static_cast<decltype(Load(*from) + 0)>(sum / static_cast<double>(std::max<int64_t>(1, count))));
        }
      }
    });
  });
}

void LpPool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, int64_t p,
            const std::function<void()>& pause) {
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  const auto power = static_cast<double>(p);
  ForEachBlock(window, pause, [&](int64_t first, int64_t last, const std::vector<int64_t>& table) {
    DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
      for (int64_t plane = 0; plane < planes; ++plane) {
        if (pause) pause();
        const T* from = static_cast<const T*>(x) + plane * in;
        for (int64_t o = first; o < last; ++o) {
          double sum = 0;
          for (int64_t k = 0; k < places; ++k) {
            const int64_t offset = table[static_cast<size_t>((o - first) * places + k)];
            if (offset < 0) continue;
            const double value = std::abs(static_cast<double>(Load(from[offset])));
            sum += p == 1 ? value : p == 2 ? value * value : std::pow(value, power);
          }
          const double norm = p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / power);
          static_cast<T*>(y)[plane * out + o] = T(static_cast<decltype(Load(*from) + 0)>(norm));
        }
      }
    });
  });
}

void MaxPool(TensorType type, const void* x, void* y, int64_t* places, int64_t planes, const Window& window,
             const std::function<void()>& pause) {
  const int64_t in = window.InSize(), out = window.OutSize(), kernel = window.KernelSize();
  const auto run = [&]<class T>(std::type_identity<T>) {
    using C = std::remove_cvref_t<decltype(Load(std::declval<T>()))>;
    C least;
    if constexpr (kIsHalf<T>) {
      least = -static_cast<float>(T::FromBits(std::is_same_v<T, Float16> ? 0x7bff : 0x7f7f));
    } else {
      least = std::numeric_limits<T>::lowest();
    }
    ForEachBlock(window, pause, [&](int64_t first, int64_t last, const std::vector<int64_t>& table) {
      for (int64_t p = 0; p < planes; ++p) {
        if (pause) pause();
        const T* from = static_cast<const T*>(x) + p * in;
        for (int64_t o = first; o < last; ++o) {
          C best = least;
          int64_t place = -1;
          for (int64_t k = 0; k < kernel; ++k) {
            const int64_t offset = table[static_cast<size_t>((o - first) * kernel + k)];
            if (offset < 0) continue;
            const C value = Load(from[offset]);
            if (place >= 0 && !(value > best) && value == value) continue;
            if (best != best) continue;
            best = value;
            place = offset;
          }
          static_cast<T*>(y)[p * out + o] = static_cast<T>(best);
          if (places != nullptr) places[p * out + o] = std::max<int64_t>(0, place);
        }
      }
    });
  };
  if (type == TensorType::kInt8) return run(std::type_identity<int8_t>());
  if (type == TensorType::kUint8) return run(std::type_identity<uint8_t>());
  DispatchFloat(type, run);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
