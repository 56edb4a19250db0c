// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/dispatch_float.h"
#include "kernels/elementwise/rows.h"
#include "kernels/strided/transpose.h"

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

// How many places of the window of output o along an axis have an input, and how many lie within the padding, too.
struct Counts {
  int64_t inputs, padded;

  Counts(const Window& window, size_t axis, int64_t o) : inputs(window.kernel[axis]), padded(inputs) {
    const int64_t start = o * window.stride[axis] - window.begin[axis], dilation = window.dilation[axis];
    if (start >= 0 && start + (inputs - 1) * dilation < window.in[axis]) return;
    const auto before = [&](int64_t position) {
      return std::clamp<int64_t>(position <= start ? 0 : (position - start - 1) / dilation + 1, 0, window.kernel[axis]);
    };
    inputs = before(window.in[axis]) - before(0);
    padded = before(window.in[axis] + window.end[axis]);
  }
};

// The outputs o of one axis for which input o * stride + shift exists: [first, second).
std::pair<int64_t, int64_t> OutputsOf(int64_t shift, int64_t stride, int64_t in, int64_t out) {
  const int64_t begin = shift >= 0 ? 0 : (-shift - 1) / stride + 1;
  const int64_t end = in - shift <= 0 ? 0 : (in - shift - 1) / stride + 1;
  return {std::min(begin, out), std::clamp(end, std::min(begin, out), out)};
}

// Outputs of a row handled at a time: their sums stay in L1.
constexpr int64_t kChunk = 1024;
// Additions between two calls of `pause`.
constexpr int64_t kPauseEvery = 1 << 16;

// A part of a row whose numbers every stride-th output sees, written out by stride: for each place of the window what
// neighbouring outputs see then stands next to each other. Strides up to kMost, windows of up to kMost strides.
template <class T>
class Phases {
 public:
  static constexpr int64_t kMost = 4;
  static bool Serves(int64_t stride, int64_t extent) {
    return stride > 1 && stride <= kMost && extent > 1 && extent <= kMost * stride;
  }

  // Numbers [begin, end) of the part that starts at `part` of the row; end is at most kChunk * stride + extent.
  void Split(const T* row, int64_t part, int64_t stride, int64_t begin, int64_t end) {
    if (stride == 2) SplitBy<2>(row, part, begin, end);
    if (stride == 3) SplitBy<3>(row, part, begin, end);
    if (stride == 4) SplitBy<4>(row, part, begin, end);
  }
  // Of what Split was given: number i, number i + stride, ...
  const T* From(int64_t stride, int64_t i) const { return numbers_ + i % stride * kPitch + i / stride; }

 private:
  static constexpr int64_t kPitch = kChunk + 2 * kMost;

  template <int64_t kStride>
  void SplitBy(const T* row, int64_t part, int64_t begin, int64_t end) {
    const auto put = [&](int64_t i) { numbers_[i % kStride * kPitch + i / kStride] = row[part + i]; };
    for (; begin < end && begin % kStride != 0; ++begin) put(begin);
    const int64_t first = begin / kStride, last = std::max(first, end / kStride);
    const T* const from = row + part + begin;
    T* const to = numbers_ + first;
    int64_t i = 0;
    if constexpr (kStride == 4 && sizeof(T) == 4)
      for (; i + 4 <= last - first; i += 4) TransposeFour(from + i * kStride, kStride, to + i, kPitch);
    ONNXSEQ_INDEPENDENT
    for (; i < last - first; ++i)
      for (int64_t phase = 0; phase < kStride; ++phase) to[phase * kPitch + i] = from[i * kStride + phase];
    for (i = std::max(begin, last * kStride); i < end; ++i) put(i);
  }

  T numbers_[kMost * kPitch];
};

// Calls add(sum, input, offset within its plane) for each input that an output of y sees, in the order of the window's
// places, a row of sums at a time, then done(output, sum, inputs, padded): how many inputs there were, and how many
// with the padding. Sums begin as `start`.
template <class T, class Sum, class Add, class Done>
void Slide(const T* x, int64_t planes, const Window& window, const std::function<void()>& pause, const Sum& start,
           const Add& add, const Done& done) {
  if (planes == 0) return;  // however large they would be
  const size_t last = window.in.size() - 1;
  const int64_t in = window.in[last], out = window.out[last], stride = window.stride[last];
  const int64_t kernel = window.kernel[last], dilation = window.dilation[last], extent = (kernel - 1) * dilation + 1;
  // The axes before the last one, a table of whose offsets is made for some rows at once.
  Window outer = window;
  for (std::vector<int64_t>* axis :
       {&outer.in, &outer.out, &outer.kernel, &outer.stride, &outer.dilation, &outer.begin, &outer.end})
    axis->pop_back();
  const int64_t rows = outer.OutSize(), places = outer.KernelSize();
  const int64_t block = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, places));
  std::vector<Sum> sums(static_cast<size_t>(std::min(out, kChunk)));
  Sum* const to = sums.data();
  const std::unique_ptr<Phases<T>> phases(Phases<T>::Serves(stride, extent) ? new Phases<T> : nullptr);
  int64_t since_pause = 0;
  for (int64_t first = 0; first < rows; first += block) {
    const int64_t end = std::min(rows, first + block);
    const std::vector<int64_t> table = WindowTable(outer, first, end);
    for (int64_t chunk = 0; chunk < out; chunk += kChunk) {
      const int64_t length = std::min(out - chunk, kChunk), begin = chunk * stride - window.begin[last];
      // Those in the middle have all inputs of their columns.
      const int64_t all_begin = OutputsOf(begin, stride, in, length).first;
      const int64_t all_end = std::max(all_begin, OutputsOf(begin + extent - 1, stride, in, length).second);
      const bool all = all_begin == 0 && all_end == length;
      const int64_t split_begin = std::max<int64_t>(0, -begin);
      const int64_t split_end = std::min((length - 1) * stride + extent, in - begin);
      for (int64_t plane_row = 0; plane_row < planes * (end - first); ++plane_row) {
        const int64_t plane = plane_row / (end - first), row = plane_row % (end - first);
        const T* const from = x + plane * window.InSize();
        const auto seen = std::span(table).subspan(static_cast<size_t>(row * places), static_cast<size_t>(places));
        int64_t inputs = 0, padded = 0;
        std::fill_n(to, length, start);
        for (const int64_t outer_row : seen) {
          inputs += static_cast<int64_t>(outer_row >= 0);
          padded += static_cast<int64_t>(outer_row != kBeyond);
          if (outer_row < 0) continue;
          if (phases != nullptr) phases->Split(from + outer_row * in, begin, stride, split_begin, split_end);
          for (int64_t k = 0; k < kernel; ++k) {
            if (pause && (since_pause += length) > kPauseEvery) {
              pause();
              since_pause = 0;
            }
            const int64_t shift = begin + k * dilation, offset = outer_row * in + shift;
            const auto [o_begin, o_end] = all ? std::pair(int64_t{0}, length) : OutputsOf(shift, stride, in, length);
            if (phases != nullptr) {
              const T* const phase = phases->From(stride, k * dilation);
              ONNXSEQ_INDEPENDENT
              for (int64_t o = o_begin; o < o_end; ++o) add(to[o], Load(phase[o]), offset + o * stride);
            } else if (stride == 1) {
              ONNXSEQ_INDEPENDENT
              for (int64_t o = o_begin; o < o_end; ++o) add(to[o], Load(from[offset + o]), offset + o);
            } else {
              for (int64_t o = o_begin; o < o_end; ++o)
                add(to[o], Load(from[offset + o * stride]), offset + o * stride);
            }
          }
        }
        const int64_t output = (plane * rows + first + row) * out + chunk;
        const auto finish = [&](int64_t o) {
          const Counts columns(window, last, chunk + o);
          done(output + o, to[o], inputs * columns.inputs, padded * columns.padded);
        };
        for (int64_t o = 0; o < all_begin; ++o) finish(o);
        ONNXSEQ_INDEPENDENT
        for (int64_t o = all_begin; o < all_end; ++o) done(output + o, to[o], inputs * kernel, padded * kernel);
        for (int64_t o = all_end; o < length; ++o) finish(o);
      }
    }
  }
}

// Rows that follow each other without a gap, as windows see them, are one long row: short ones cost more than what is
// done in them.
struct Merged {
  int64_t planes;
  Window window;

  Merged(int64_t count, const Window& from) : planes(count), window(from) {
    const size_t last = window.in.size() - 1;
    const auto unpadded = [&](size_t d) { return window.begin[d] == 0 && window.end[d] == 0; };
    if (!unpadded(last) || window.in[last] != window.out[last] * window.stride[last] ||
        (window.kernel[last] - 1) * window.dilation[last] >= window.stride[last])
      return;
    for (size_t d = 0; d < last; ++d)
      if (window.kernel[d] != 1 || window.stride[d] != 1 || !unpadded(d) || window.in[d] != window.out[d]) return;
    const int64_t rows = planes * window.InSize() / std::max<int64_t>(1, window.in[last]);
    planes = 1;
    window = {{rows * window.in[last]},
              {rows * window.out[last]},
              {window.kernel[last]},
              {window.stride[last]},
              {window.dilation[last]},
              {0},
              {0}};
  }
};

}  // namespace

int64_t Window::InSize() const { return Size(in); }
int64_t Window::OutSize() const { return Size(out); }
int64_t Window::KernelSize() const { return Size(kernel); }

std::vector<int64_t> WindowTable(const Window& window, int64_t first, int64_t last) {
  const size_t axes = window.in.size();
  const int64_t places = window.KernelSize();
  std::vector<int64_t> table(static_cast<size_t>((last - first) * places)), o(axes);
  if (table.empty()) return table;
  // What is seen along one axis after the other, each place of those before with each of the axis.
  std::vector<int64_t> seen(static_cast<size_t>(places)), longer(seen.size());
  Split(first, window.out, o);
  for (int64_t* to = table.data(); to != table.data() + table.size(); to += places) {
    size_t count = 1;
    seen[0] = 0;
    for (size_t d = 0; d < axes; ++d) {
      const int64_t begin = o[d] * window.stride[d] - window.begin[d], in = window.in[d], kernel = window.kernel[d];
      int64_t* next = longer.data();
      for (size_t p = 0; p < count; ++p)
        for (int64_t k = 0, i = begin; k < kernel; ++k, i += window.dilation[d], ++next) {
          if (i >= in + window.end[d] || seen[p] == kBeyond)
            *next = kBeyond;
          else
            *next = i < 0 || i >= in || seen[p] < 0 ? kPadding : seen[p] * in + i;
        }
      count *= static_cast<size_t>(kernel);
      std::swap(seen, longer);
    }
    std::copy_n(seen.data(), places, to);
    for (size_t d = axes; d-- > 0;) {
      if (++o[d] < window.out[d]) break;
      o[d] = 0;
    }
  }
  return table;
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

template void AddColumns(const float*, float*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void AddColumns(const int64_t*, int64_t*, int64_t, int64_t, int64_t, std::span<const int64_t>);
template void AddColumns(const double*, double*, int64_t, int64_t, int64_t, std::span<const int64_t>);

void AveragePool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, AverageOver over,
                 const std::function<void()>& pause) {
  const Merged merged(planes, window);
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    using C = decltype(Load(T()) + 0);
    Slide(
        static_cast<const T*>(x), merged.planes, merged.window, pause, 0.0,
        [](double& sum, C value, int64_t) { sum += static_cast<double>(value); },
        [&](int64_t o, double sum, int64_t inputs, int64_t padded) {
          const int64_t count = std::max<int64_t>(1, over == AverageOver::kPadded ? padded : inputs);
          static_cast<T*>(y)[o] = T(static_cast<C>(sum / static_cast<double>(count)));
        });
  });
}

void LpPool(TensorType type, const void* x, void* y, int64_t planes, const Window& window, int64_t p,
            const std::function<void()>& pause) {
  const auto power = static_cast<double>(p);
  DispatchFloat(type, [&]<class T>(std::type_identity<T>) {
    using C = decltype(Load(T()) + 0);
    const auto slide = [&](const auto& raise, const auto& root) {
      Slide(
          static_cast<const T*>(x), planes, window, pause, 0.0,
          [&](double& sum, C value, int64_t) { sum += raise(std::abs(static_cast<double>(value))); },
          [&](int64_t o, double sum, int64_t, int64_t) { static_cast<T*>(y)[o] = T(static_cast<C>(root(sum))); });
    };
    if (p == 1)
      slide([](double value) { return value; }, [](double sum) { return sum; });
    else if (p == 2)
      slide([](double value) { return value * value; }, [](double sum) { return std::sqrt(sum); });
    else
      slide([&](double value) { return std::pow(value, power); }, [&](double sum) { return std::pow(sum, 1 / power); });
  });
}

void MaxPool(TensorType type, const void* x, void* y, int64_t* places, int64_t planes, const Window& window,
             const std::function<void()>& pause) {
  const auto run = [&]<class T>(std::type_identity<T>) {
    using C = std::remove_cvref_t<decltype(Load(std::declval<T>()))>;
    C least;
    if constexpr (kIsHalf<T>) {
      least = -static_cast<float>(T::FromBits(std::is_same_v<T, Float16> ? 0x7bff : 0x7f7f));
    } else {
      least = std::numeric_limits<T>::lowest();
    }
    C start = least;
    if constexpr (std::is_floating_point_v<C>) start = -std::numeric_limits<C>::infinity();
    const auto from = static_cast<const T*>(x);
    const auto to = static_cast<T*>(y);
    if (places == nullptr) {
      const Merged merged(planes, window);
      Slide(
          from, merged.planes, merged.window, pause, start,
          [](C& best, C value, int64_t) { best = ((value > best) | (value != value)) ? value : best; },
          [&](int64_t o, C best, int64_t inputs, int64_t) { to[o] = static_cast<T>(inputs > 0 ? best : least); });
      return;
    }
    struct Best {
      C value;
      int64_t place;
    };
    Slide(
        from, planes, window, pause, Best{start, -1},
        [](Best& best, C value, int64_t offset) {
          if (best.place < 0 || (best.value == best.value && (value > best.value || value != value)))
            best = {value, offset};
        },
        [&](int64_t o, const Best& best, int64_t inputs, int64_t) {
          to[o] = static_cast<T>(inputs > 0 ? best.value : least);
          places[o] = std::max<int64_t>(0, best.place);
        });
  };
  if (type == TensorType::kInt8) return run(std::type_identity<int8_t>());
  if (type == TensorType::kUint8) return run(std::type_identity<uint8_t>());
  DispatchFloat(type, run);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
