// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/byte_conv.h"

#include <algorithm>
#include <cstring>

#include "base/stop_token.h"
#include "kernels/aligned_array.h"
#include "kernels/quantize/byte_rows.h"
#include "kernels/strided/transpose.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Outputs of a piece of work: as many rows as a product of bytes takes at once.
constexpr int64_t kPiece = 256;
// Bytes of the rows of a piece, so that they stay in the second-level cache; at least a few rows.
constexpr int64_t kPieceBytes = 1 << 18, kLeastPiece = 16;
// Inputs of a piece of turning channels last.
constexpr int64_t kTurned = 4096;

template <class Fn>
void ForPieces(int64_t pieces, ThreadTeam* team, int threads, const Fn& fn) {
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) fn(i);
  };
  if (team == nullptr || threads == 1 || pieces == 1)
    range(0, pieces);
  else
    team->ParallelFor(pieces, 1, range, threads);
}

}  // namespace

PackedByteConv::PackedByteConv(int64_t groups, int64_t in_channels, int64_t out_channels, int64_t places, const void* w,
                               bool is_signed, std::span<const int32_t> zeros)
    : groups_(groups),
      in_channels_(in_channels),
      out_channels_(out_channels),
      places_(places),
      zeros_(zeros.begin(), zeros.end()) {
  const auto* from = static_cast<const uint8_t*>(w);
  if (depthwise()) {
    depthwise_.resize(static_cast<size_t>(places * groups));
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t k = 0; k < places; ++k) {
        const uint8_t byte = from[g * places + k];
        depthwise_[static_cast<size_t>(k * groups + g)] =
            (is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte}) -
            zeros_[zeros_.size() == 1 ? 0 : static_cast<size_t>(g)];
      }
    return;
  }
  std::vector<uint8_t> turned(static_cast<size_t>(places * in_channels * out_channels));
  for (int64_t g = 0; g < groups; ++g, from += places * in_channels * out_channels) {
    for (int64_t o = 0; o < out_channels; ++o)
      for (int64_t c = 0; c < in_channels; ++c)
        for (int64_t k = 0; k < places; ++k)
          turned[static_cast<size_t>((k * in_channels + c) * out_channels + o)] =
              from[(o * in_channels + c) * places + k];
    weights_.emplace_back(places * in_channels, out_channels, turned.data(), is_signed);
  }
}

void PackedByteConv::Run(int64_t batch, const Window& window, const void* x, bool x_signed, int32_t x_zero,
                         FunctionRef<void(const Sums&)> done, ThreadTeam* team, int threads) const {
  const int64_t channels = groups_ * in_channels_, in = window.InSize(), out = window.OutSize();
  const auto* const from = static_cast<const uint8_t*>(x);
  const AlignedArray<uint8_t> last = MakeAlignedArray<uint8_t>(batch * in * channels);
  const int64_t turns = (in - 1) / kTurned + 1;
  ForPieces(batch * turns, team, threads, [&](int64_t piece) {
    const int64_t image = piece / turns, first = piece % turns * kTurned;
    TransposeInto(from + image * in * channels + first, in, last.get() + (image * in + first) * channels, channels,
                  channels, std::min(kTurned, in - first));
  });
  if (StopRequested()) return;
  const bool is_copy = !depthwise() && places_ == 1 && in == out &&
                       std::ranges::all_of(window.stride, [](int64_t s) { return s == 1; }) &&
                       std::ranges::all_of(window.begin, [](int64_t b) { return b == 0; }) && groups_ == 1;
  const int64_t depth = places_ * in_channels_;
  const int64_t length = depthwise() ? kPiece : std::clamp(kPieceBytes / depth, kLeastPiece, kPiece);
  const int64_t pieces = (out - 1) / length + 1;
  const int32_t a_zero[] = {x_zero};
  ForPieces(batch * pieces, team, threads, [&](int64_t piece) {
    const int64_t image = piece / pieces, first = piece % pieces * length, count = std::min(length, out - first);
    const uint8_t* const image_in = last.get() + image * in * channels;
    const std::vector<int64_t> table = is_copy ? std::vector<int64_t>() : WindowTable(window, first, first + count);
    if (depthwise()) {
      std::vector<int32_t> sums(static_cast<size_t>(count * groups_));
      for (int64_t o = 0; o < count; ++o)
        for (int64_t k = 0; k < places_; ++k)
          if (const int64_t seen = table[static_cast<size_t>(o * places_ + k)]; seen >= 0)
            for (int64_t g = 0; g < groups_; ++g)
              sums[static_cast<size_t>(o * groups_ + g)] +=
                  ((x_signed ? int32_t{static_cast<int8_t>(image_in[seen * channels + g])}
                             : int32_t{image_in[seen * channels + g]}) -
                   x_zero) *
                  depthwise_[static_cast<size_t>(k * groups_ + g)];
      return done({image, first, count, 0, groups_, sums.data()});
    }
    const AlignedArray<uint8_t> rows = is_copy ? nullptr : MakeAlignedArray<uint8_t>(count * depth);
    const AlignedArray<int32_t> sums = MakeAlignedArray<int32_t>(count * out_channels_);
    for (int64_t g = 0; g < groups_; ++g) {
      uint8_t* to = rows.get();
      for (const int64_t seen : table) {
        if (seen >= 0)
          std::memcpy(to, image_in + seen * channels + g * in_channels_, static_cast<size_t>(in_channels_));
        else
          std::memset(to, static_cast<uint8_t>(x_zero), static_cast<size_t>(in_channels_));
        to += in_channels_;
      }
      weights_[static_cast<size_t>(g)].Multiply(
          count, is_copy ? image_in + first * channels : rows.get(), x_signed, a_zero,
          zeros_.size() == 1
              ? std::span(zeros_)
              : std::span(zeros_).subspan(static_cast<size_t>(g * out_channels_), static_cast<size_t>(out_channels_)),
          {}, [&](const PackedBytes::Sums& s) {
            for (int64_t i = 0; i < s.rows; ++i)
              for (int64_t j = 0; j < s.columns; ++j)
                sums[(s.row + i) * out_channels_ + s.column + j] =
                    static_cast<int32_t>(static_cast<uint32_t>(s.sums[i * s.step + j]) +
                                         static_cast<uint32_t>(s.added != nullptr ? s.added[j] : 0));
          });
      done({image, first, count, g * out_channels_, out_channels_, sums.get()});
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
