// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/winograd.h"

#include <algorithm>

#include "base/stop_token.h"
#include "kernels/elementwise/rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr int64_t kPoints = 4;
// Numbers of m held at a time: what an L1 and a part of an L2 hold, but where weights are so many that they do not stay
// in an L2 as many as are taken with them at once.
constexpr int64_t kSumNumbers = 1 << 15;
constexpr int64_t kManyWeights = 1 << 17;
constexpr int64_t kLeastPairs = 24, kMostPairs = 240;

int64_t Pairs(int64_t columns) { return (columns + 1) / 2; }

}  // namespace

template <class T>
WinogradConv<T>::WinogradConv(int64_t in_channels, int64_t out_channels, int64_t places, const T* w,
                              bool flush_denormals)
    : in_channels_(in_channels), out_channels_(out_channels) {
  const int64_t k = places * in_channels;
  std::vector<T> point(static_cast<size_t>(k * out_channels));
  for (int64_t p = 0; p < kPoints; ++p) {
    for (int64_t o = 0; o < out_channels; ++o)
      for (int64_t c = 0; c < in_channels; ++c)
        for (int64_t place = 0; place < places; ++place) {
          const T* const g = w + ((o * in_channels + c) * places + place) * 3;
          const T ends = (g[0] + g[2]) / 2, middle = g[1] / 2;
          point[static_cast<size_t>((place * in_channels + c) * out_channels + o)] = p == 0   ? g[0]
                                                                                     : p == 1 ? ends + middle
                                                                                     : p == 2 ? ends - middle
                                                                                              : g[2];
        }
    points_.emplace_back(k, out_channels, MatrixView<T>{point.data(), out_channels, 1}, flush_denormals);
  }
}

// Pairs of outputs whose m are held at a time.
template <class T>
int64_t WinogradConv<T>::PairsHeld() const {
  if (points_[0].k() * out_channels_ > kManyWeights) return kMostPairs;
  return std::clamp(kSumNumbers / (kPoints * out_channels_), kLeastPairs, kMostPairs);
}

template <class T>
int64_t WinogradConv<T>::ScratchSize(const Lines& lines) const {
  return kPoints * (lines.lines * Pairs(lines.columns) * in_channels_ + PairsHeld() * out_channels_);
}

template <class T>
void WinogradConv<T>::Run(const Lines& lines, const T* x, const T* bias, T* y, T* scratch) const {
  const int64_t pairs = Pairs(lines.columns), line = pairs * in_channels_, point = lines.lines * line;
  // [point, line, pair, channel]
  T* to = scratch;
  for (int64_t l = 0; l < lines.lines; ++l) {
    for (int64_t pair = 0; pair < pairs; ++pair, to += in_channels_) {
      const T* const d0 = x + (l * (lines.columns + 2) + 2 * pair) * in_channels_;
      const T *const d1 = d0 + in_channels_, *const d2 = d1 + in_channels_;
      // The second output of the last pair may be none.
      const T* const d3 = 2 * pair + 1 < lines.columns ? d2 + in_channels_ : d1;
      T *const v0 = to, *const v1 = v0 + point, *const v2 = v1 + point, *const v3 = v2 + point;
      ONNXSEQ_INDEPENDENT
      for (int64_t c = 0; c < in_channels_; ++c) {
        v0[c] = d0[c] - d2[c];
        v1[c] = d1[c] + d2[c];
        v2[c] = d2[c] - d1[c];
        v3[c] = d1[c] - d3[c];
      }
    }
  }
  std::vector<int64_t> rows, places;
  for (const int64_t output : lines.outputs)
    for (int64_t pair = 0; pair < pairs; ++pair) rows.push_back(output * line + pair * in_channels_);
  for (const int64_t place : lines.places) places.push_back(place * line);
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t held = PairsHeld();
  T* const sums = scratch + kPoints * point;
  for (int64_t first = 0; first < count && !StopRequested(); first += held) {
    const int64_t end = std::min(count, first + held), size = held * out_channels_;
    for (int64_t p = 0; p < kPoints; ++p) {
      const std::span<const int64_t> part = std::span(rows).subspan(first, end - first);
      points_[static_cast<size_t>(p)].Multiply({scratch + p * point, part, places, in_channels_},
                                               p == 1 ? bias : nullptr, sums + p * size, out_channels_);
    }
    const T* m0 = sums;
    for (int64_t row = first; row < end; ++row, m0 += out_channels_) {
      const T *const m1 = m0 + size, *const m2 = m1 + size, *const m3 = m2 + size;
      const int64_t column = row % pairs * 2;
      T* const y0 = y + (row / pairs * lines.columns + column) * out_channels_;
      if (column + 1 == lines.columns) {
        for (int64_t o = 0; o < out_channels_; ++o) y0[o] = m0[o] + m1[o] + m2[o];
        continue;
      }
      T* const y1 = y0 + out_channels_;
      ONNXSEQ_INDEPENDENT
      for (int64_t o = 0; o < out_channels_; ++o) {
        y0[o] = m0[o] + m1[o] + m2[o];
        y1[o] = m1[o] - m2[o] - m3[o];
      }
    }
  }
}

template class WinogradConv<float>;
template class WinogradConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
