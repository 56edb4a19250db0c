// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/plane_tiles.h"

#include <bit>
#include <cstring>
#include <optional>

#include "base/checked.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Numbers of padding that need no input or output to justify them.
constexpr int64_t kFreePadding = 1 << 20;
// Outputs of a line that fill four vectors of every instruction set.
constexpr int64_t kWhole = 64;
// So few are not worth a tile.
constexpr int64_t kShort = 32;

// fn(index tuple) for each below `dims`, in row-major order.
template <class Fn>
void ForIndices(const std::vector<int64_t>& dims, const Fn& fn) {
  std::vector<int64_t> index(dims.size(), 0);
  for (const int64_t d : dims)
    if (d <= 0) return;
  for (;;) {
    fn(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// A copy of few numbers without a call.
template <class T>
inline void CopyShort(const T* from, int64_t n, T* to) {
  constexpr int64_t kAtOnce = 16 / sizeof(T);
  if (n < kAtOnce) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + kAtOnce <= n; i += kAtOnce) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + n - kAtOnce, from + n - kAtOnce, 16);
}

// to[i] = from[2 i] for i < n, reading nothing behind the last one.
template <class T>
inline void CopyEvens(const T* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
}
template <>
inline void CopyEvens(const uint8_t* from, int64_t n, uint8_t* to) {
  using Pairs = uint16_t __attribute__((vector_size(16)));
  using Bytes = uint8_t __attribute__((vector_size(8)));
  static_assert(std::endian::native == std::endian::little);
  const auto load = [](const uint8_t* bytes) {
    Pairs pairs;
    std::memcpy(&pairs, bytes, sizeof(pairs));
    return pairs;
  };
  const auto store = [&](int64_t i, Pairs pairs) {
    const Bytes bytes = __builtin_convertvector(pairs & 0xFF, Bytes);
    std::memcpy(to + i, &bytes, sizeof(bytes));
  };
  int64_t i = 0;
  for (; i + 8 < n; i += 8) store(i, load(from + 2 * i));
  if (n > 8) return store(n - 8, load(from + 2 * n - 17) >> 8);
  for (; i < n; ++i) to[i] = from[2 * i];
}
template <>
inline void CopyEvens(const float* from, int64_t n, float* to) {
  using Four = float __attribute__((vector_size(16)));
  const auto four = [&](int64_t i) {
    Four low, high;
    std::memcpy(&low, from + 2 * i, sizeof(Four));
    std::memcpy(&high, from + 2 * i + 3, sizeof(Four));
    const Four even = __builtin_shufflevector(low, high, 0, 2, 5, 7);
    std::memcpy(to + i, &even, sizeof(Four));
  };
  if (n < 4) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
    return;
  }
  for (int64_t i = 0; i + 4 <= n; i += 4) four(i);
  if (n % 4 != 0) four(n - 4);
}

// to[i] = from[i * step] for i < n.
template <class T>
inline void CopyLine(const T* from, int64_t step, int64_t n, T* to) {
  if (step == 1)
    CopyShort(from, n, to);
  else if (step == 2)
    CopyEvens(from, n, to);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
}

// Those i < n for which begin + i * step lies in [0, in).
PlaneTiles::Cut CutOf(int64_t begin, int64_t step, int64_t n, int64_t in) {
  const int64_t from = std::clamp<int64_t>(begin < 0 ? (step - 1 - begin) / step : 0, 0, n);
  return {from, std::clamp<int64_t>(in > begin ? (in - begin - 1) / step + 1 : 0, from, n)};
}

}  // namespace

bool IsPoints(const Window& window) {
  for (size_t d = 0; d < window.in.size(); ++d)
    if (window.kernel[d] != 1 || window.stride[d] != 1 || window.begin[d] != 0 || window.in[d] != window.out[d])
      return false;
  return true;
}

void FlattenPoints(Window& window) {
  if (!IsPoints(window)) return;
  const int64_t size = window.InSize();
  window = {{size}, {size}, {1}, {1}, {1}, {0}, {0}};
}

PlaneTiles::PlaneTiles(const Window& given, int64_t most, bool copies) : window(given) {
  FlattenPoints(window);
  const size_t axes = window.in.size(), last = axes - 1;
  in_place = !copies;
  int64_t row_out = 1;
  std::optional<int64_t> row_in = 1;  // of all rests
  for (size_t d = 0; d < axes; ++d) {
    std::vector<int64_t>& rests = rests_.emplace_back();
    const int64_t extent = (window.kernel[d] - 1) * window.dilation[d];
    shifts_.push_back(extent / window.stride[d]);
    for (int64_t k = 0; k < std::min(window.kernel[d], window.stride[d]); ++k)
      rests.push_back(k * window.dilation[d] % window.stride[d]);
    std::ranges::sort(rests);
    rests.erase(std::ranges::unique(rests).begin(), rests.end());
    in_place = in_place && window.stride[d] == 1 && window.begin[d] == 0 && window.out[d] + extent <= window.in[d];
    const auto count = static_cast<int64_t>(rests.size());
    if (d > 0 && row_in) row_in = CheckedMul(*row_in, (window.out[d] + shifts_[d]) * count);
    if (d > 0) row_out *= window.out[d];
  }
  const int64_t count = static_cast<int64_t>(rests_[0].size()), whole = window.out[0] + shifts_[0];
  const std::optional<int64_t> all = row_in ? CheckedMul(*row_in, whole * count) : std::nullopt;
  justified = in_place || (all && *all / 8 <= std::max(window.InSize() + window.OutSize(), kFreePadding));
  if (!justified) return;
  const int64_t row = in_place ? window.InSize() / window.in[0] : *row_in * count;
  most = std::max({most / (row + row_out), int64_t{1}, 4 * shifts_[0]});
  const int64_t out = window.out[0];
  length = (out - 1) / ((out - 1) / most + 1) + 1;
  if (axes == 1) {
    length = (length + kWhole - 1) / kWhole * kWhole;
    while (length < out && (out - 1) % length + 1 < kShort) length += kWhole;
    length = std::min(length, out);
  }
  tiles = (out - 1) / length + 1;
  for (size_t d = 0; d < axes; ++d)
    lines_.push_back(in_place ? window.in[d] : (d == 0 ? length : window.out[d]) + shifts_[d]);
  steps_.assign(axes, 1);
  for (size_t d = last; d-- > 0;) steps_[d] = steps_[d + 1] * lines_[d + 1];
  size = steps_[0] * lines_[0];
  // Rests of the last axis, whose places are taken four at a time, are farthest apart.
  rest_steps_.assign(axes, 0);
  for (size_t d = 0; d < axes; ++d) {
    rest_steps_[d] = size;
    size *= static_cast<int64_t>(rests_[d].size());
  }
  dense = true;
  for (size_t d = 1; d < axes; ++d) dense = dense && lines_[d] == window.out[d];
  const auto offset = [&](size_t d, int64_t k) {
    const int64_t at = k * window.dilation[d];
    const auto rest = std::ranges::lower_bound(rests_[d], at % window.stride[d]) - rests_[d].begin();
    return rest * rest_steps_[d] + at / window.stride[d] * steps_[d];
  };
  for (int64_t k = 0; k < window.kernel[last]; ++k) last_offsets.push_back(offset(last, k));
  const std::vector<int64_t> others(window.kernel.begin(), window.kernel.end() - 1);
  ForIndices(others, [&](const std::vector<int64_t>& index) {
    int64_t sum = 0;
    for (size_t d = 0; d < last; ++d) sum += offset(d, index[d]);
    other_offsets.push_back(sum);
    for (const int64_t own : last_offsets) places.push_back(sum + own);
  });
  furthest = *std::ranges::max_element(places);
  other_furthest = *std::ranges::max_element(other_offsets);
  if (axes > 1 && !in_place) LayLines();
  std::vector<int64_t> middle;
  if (axes > 1) middle.assign(window.out.begin() + 1, window.out.end() - 1);
  ForIndices(middle, [&](const std::vector<int64_t>& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * steps_[d + 1];
    out_lines_.push_back(at);
  });
}

int64_t PlaneTiles::FlatSize(int64_t rows) const {
  int64_t flat = (rows - 1) * steps_[0] + 1;
  for (size_t d = 1; d < steps_.size(); ++d) flat += (window.out[d] - 1) * steps_[d];
  return flat;
}

// Lines along the last axis, of all rests and indices of the axes behind the first: for one of the first.
void PlaneTiles::LayLines() {
  const size_t axes = lines_.size(), last = axes - 1;
  std::vector<int64_t> dims, in_steps(axes, 1);
  for (size_t d = last; d-- > 0;) in_steps[d] = in_steps[d + 1] * window.in[d + 1];
  in_row_ = in_steps[0];
  for (size_t d = 1; d < axes; ++d) dims.push_back(static_cast<int64_t>(rests_[d].size()));
  const size_t rests = dims.size();
  dims.insert(dims.end(), lines_.begin() + 1, lines_.end() - 1);
  ForIndices(dims, [&](const std::vector<int64_t>& index) {
    Line line{0, 0, {}};
    for (size_t d = 1; d < axes; ++d) {
      const int64_t start = rests_[d][static_cast<size_t>(index[d - 1])] - window.begin[d];
      line.to += index[d - 1] * rest_steps_[d];
      if (d == last) {
        line.cut = CutOf(start, window.stride[d], lines_[d], window.in[d]);
        line.from += start + line.cut.from * window.stride[d];
        line.to += line.cut.from;
        continue;
      }
      const int64_t i = start + index[rests + d - 1] * window.stride[d];
      if (i < 0 || i >= window.in[d]) return;
      line.from += i * in_steps[d];
      line.to += index[rests + d - 1] * steps_[d];
    }
    if (line.cut.from < line.cut.until) copied_.push_back(line);
  });
}

template <class T>
void PlaneTiles::CopyIn(const T* plane, int64_t first, int64_t rows, T fill, T* to) const {
  std::fill_n(to, size, fill);
  const bool line = lines_.size() == 1;
  const int64_t step = window.stride[0];
  for (size_t r = 0; r < rests_[0].size(); ++r) {
    const int64_t begin = first * step + rests_[0][r] - window.begin[0];
    const Cut cut = CutOf(begin, step, rows + shifts_[0], window.in[0]);
    T* const part = to + static_cast<int64_t>(r) * rest_steps_[0];
    if (line && cut.from < cut.until)
      CopyLine(plane + begin + cut.from * step, step, cut.until - cut.from, part + cut.from);
    for (int64_t i = cut.from; i < cut.until && !line; ++i) {
      const T* const from = plane + (begin + i * step) * in_row_;
      for (const Line& own : copied_)
        CopyLine(from + own.from, window.stride.back(), own.cut.until - own.cut.from, part + i * steps_[0] + own.to);
    }
  }
}

void PlaneTiles::CopyOut(const void* from, int64_t first, int64_t rows, int64_t element, void* y) const {
  const auto* const bytes = static_cast<const uint8_t*>(from);
  const int64_t out = window.out.back() * element, row = window.OutSize() / window.out[0] * element;
  auto* to = static_cast<uint8_t*>(y) + first * row;
  if (dense) {
    std::memcpy(to, bytes, static_cast<size_t>(rows * row));
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (const int64_t line : out_lines_) {
      CopyShort(bytes + (i * steps_[0] + line) * element, out, to);
      to += out;
    }
}

template void PlaneTiles::CopyIn(const float*, int64_t, int64_t, float, float*) const;
template void PlaneTiles::CopyIn(const double*, int64_t, int64_t, double, double*) const;
template void PlaneTiles::CopyIn(const uint8_t*, int64_t, int64_t, uint8_t, uint8_t*) const;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
