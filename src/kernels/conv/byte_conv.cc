// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/byte_conv.h"

#include <algorithm>

#include "base/stop_token.h"
#include "kernels/conv/plane_tiles.h"
#include "kernels/conv/scratch.h"
#include "kernels/gemm/byte_tile.h"
#include "kernels/pieces.h"
#include "kernels/quantize/byte_rows.h"
#include "kernels/strided/interleave.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Bytes of a tile's planes: with the quads made of them half of an L2.
constexpr int64_t kTileBytes = 1 << 17;
// Numbers of one plane, so that a few of them stay in the first-level cache.
constexpr int64_t kPlaneBytes = 1 << 14;
// Outputs whose sums and inputs stay in the first-level cache.
constexpr int64_t kBlock = 256;
// Multiply-adds below which a thread is not worth waking.
constexpr double kPieceWork = 1 << 18;
// Readable bytes behind quads: whole vectors are read.
constexpr int64_t kBehind = 256;

int64_t RoundedUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
uint32_t Wrapping(int32_t value) { return static_cast<uint32_t>(value); }

// Pieces of equal heights, but for one, at most `most`: fn(first, height).
template <class Fn>
void ForHeights(int64_t rows, int64_t most, const Fn& fn) {
  const int64_t pieces = (rows - 1) / most + 1, least = rows / pieces, larger = rows % pieces;
  for (int64_t piece = 0, row = 0; piece < pieces; ++piece) {
    const int64_t height = least + (piece < larger ? 1 : 0);
    fn(row, height);
    row += height;
  }
}

}  // namespace

void ByteConvReference(int64_t in_channels, const Window& window, const void* x, bool x_signed, int32_t x_zero,
                       const void* w, bool w_signed, int32_t w_zero, int32_t* sums) {
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  const auto at = [](const void* bytes, int64_t i, bool is_signed) {
    const uint8_t byte = static_cast<const uint8_t*>(bytes)[i];
    return is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  };
  for (int64_t o = 0; o < out && !StopRequested(); ++o) {
    const std::vector<int64_t> seen = WindowTable(window, o, o + 1);
    uint32_t sum = 0;
    for (int64_t c = 0; c < in_channels; ++c)
      for (int64_t k = 0; k < places; ++k)
        if (const int64_t i = seen[static_cast<size_t>(k)]; i >= 0)
          sum += Wrapping((at(x, c * in + i, x_signed) - x_zero) * (at(w, c * places + k, w_signed) - w_zero));
    sums[o] = static_cast<int32_t>(sum);
  }
}

int32_t PackedByteConv::WeightOf(int64_t channel, int64_t in_channel, int64_t place) const {
  if (channel % SumsOfGroup() == out_channels_) return 1;  // of the sum of the input
  const int64_t own = channel / SumsOfGroup() * out_channels_ + channel % SumsOfGroup();
  return static_cast<int8_t>(w_[(own * in_channels_ + in_channel) * places_ + place] ^ flip_);
}

PackedByteConv::PackedByteConv(int64_t groups, int64_t in_channels, int64_t out_channels,
                               std::span<const int64_t> kernel, const void* w, bool is_signed,
                               std::span<const int32_t> zeros)
    : groups_(groups),
      in_channels_(in_channels),
      out_channels_(out_channels),
      places_(1),
      last_(kernel.back()),
      w_(static_cast<const uint8_t*>(w)),
      flip_(is_signed ? 0 : 0x80),
      shift_(is_signed ? 0 : 128),
      zeros_(zeros.begin(), zeros.end()),
      has_zeros_(std::ranges::any_of(zeros, [&](int32_t zero) { return zero != shift_; })),
      kernel_(&ActiveByteKernel()) {
  for (const int64_t k : kernel) places_ *= k;
  const int64_t last_quads = (last_ + kByteQuad - 1) / kByteQuad, others = places_ / last_;
  quads_ = by_places() ? last_quads * others : (in_channels + kByteQuad - 1) / kByteQuad * places_;
  const int64_t sums = SumsOfGroup();
  weights_.reserve(static_cast<size_t>(groups * sums * quads_ * kByteQuad));
  totals_.resize(static_cast<size_t>(groups * sums));
  // The weight at place i of a quad; 0 where there is none.
  const auto weight = [&](int64_t channel, int64_t quad, int64_t i) {
    if (by_places()) {
      const int64_t along = quad / others * kByteQuad + i;
      return along < last_ ? WeightOf(channel, 0, quad % others * last_ + along) : 0;
    }
    const int64_t in_channel = quad / places_ * kByteQuad + i;
    return in_channel < in_channels_ ? WeightOf(channel, in_channel, quad % places_) : 0;
  };
  for (int64_t g = 0; g < groups; ++g)
    ForHeights(sums, kernel_->rows, [&](int64_t first, int64_t height) {
      for (int64_t quad = 0; quad < quads_; ++quad)
        for (int64_t channel = g * sums + first; channel < g * sums + first + height; ++channel)
          for (int64_t i = 0; i < kByteQuad; ++i) {
            const int32_t value = weight(channel, quad, i);
            weights_.push_back(static_cast<int8_t>(value));
            int32_t& total = totals_[static_cast<size_t>(channel)];
            total = static_cast<int32_t>(Wrapping(total) + Wrapping(value));
          }
    });
}

struct PackedByteConv::Job {
  const PlaneTiles& tiles;
  const uint8_t* x;
  uint8_t x_flip, fill;
  std::vector<int64_t> offsets;  // of quads, in bytes
  int64_t quad_step;             // bytes from one plane of quads to the next
  int64_t quad_planes;
  int64_t quads_ahead;          // that outputs see behind their own
  std::vector<int32_t> starts;  // [group, channels of it]
  Finish finish;
  int64_t element;
  std::byte* y;
};

// The quads of a tile. Where planes are read in place they begin with the tile's first input.
void PackedByteConv::Arrange(const Job& job, const uint8_t* planes, int64_t first, int64_t rows, uint8_t* copies,
                             uint8_t* quads) const {
  const PlaneTiles& tiles = job.tiles;
  const int64_t in = tiles.window.InSize(), step = tiles.in_place ? in : tiles.size;
  const uint8_t* from = planes + tiles.Begin(first);
  if (!tiles.in_place) {
    for (int64_t c = 0; c < in_channels_; ++c)
      tiles.CopyIn(planes + c * in, first, rows, job.fill, copies + c * tiles.size);
    from = copies;
  }
  for (int64_t plane = 0; plane < job.quad_planes; ++plane) {
    // Where a quad has fewer, any bytes will do: their weights are 0.
    const uint8_t* lines[kByteQuad];
    for (int64_t i = 0; i < kByteQuad; ++i) {
      const int64_t own = std::min(plane * kByteQuad + i, (by_places() ? last_ : in_channels_) - 1);
      lines[i] = from + (by_places() ? tiles.last_offsets[static_cast<size_t>(own)] : own * step);
    }
    InterleaveFour(lines, tiles.FlatSize(rows) + job.quads_ahead, job.x_flip, quads + plane * job.quad_step);
  }
}

void PackedByteConv::RunTile(const Job& job, int64_t image, int64_t group, int64_t first) const {
  const PlaneTiles& tiles = job.tiles;
  const int64_t in = tiles.window.InSize(), out = tiles.window.OutSize(), rows = tiles.Length(first);
  const int64_t flat = tiles.FlatSize(rows), lanes = std::max<int64_t>(1, kernel_->lanes);
  // The last quad of places may see bytes behind the tile, where its weights are 0.
  const int64_t behind = by_places() ? kByteQuad * tiles.window.dilation.back() : 0;
  const int64_t copied = tiles.in_place ? 0 : RoundedUp(in_channels_ * tiles.size + behind, kAlignment);
  const int64_t arranged = RoundedUp(job.quad_planes * job.quad_step + kBehind, kAlignment);
  const int64_t sums_group = SumsOfGroup(), whole = RoundedUp(flat, kBlock);
  const Scratch<uint8_t> scratch(copied + arranged + out_channels_ * whole * job.element);
  uint8_t* const quads = scratch.data() + copied;
  uint8_t* const made = quads + arranged;
  Arrange(job, job.x + (image * groups_ + group) * in_channels_ * in, first, rows, scratch.data(), quads);
  const Scratch<int32_t> all_sums(sums_group * kBlock);
  for (int64_t at = 0; at < flat; at += kBlock) {
    const int64_t vectors = (std::min(kBlock, flat - at) + lanes - 1) / lanes, n = vectors * lanes;
    const int8_t* w = weights_.data() + group * sums_group * quads_ * kByteQuad;
    ForHeights(sums_group, kernel_->rows, [&](int64_t channel, int64_t height) {
      kernel_->multiply_planes({.x = quads + at * kByteQuad,
                                .offsets = job.offsets.data(),
                                .quads = quads_,
                                .w = w,
                                .rows = static_cast<int>(height),
                                .starts = job.starts.data() + group * sums_group + channel,
                                .vectors = static_cast<int>(vectors),
                                .lanes = lanes,
                                .sums = all_sums.data() + channel * kBlock,
                                .sums_row = kBlock});
      w += height * quads_ * kByteQuad;
    });
    for (int64_t c = 0; c < out_channels_; ++c) {
      int32_t* const sums = all_sums.data() + c * kBlock;
      const int64_t channel = group * out_channels_ + c;
      if (has_zeros_)
        ActiveByteRowKernels().subtract_multiple(all_sums.data() + out_channels_ * kBlock, 1, Zero(channel) - shift_, n,
                                                 sums);
      job.finish(channel, sums, n, made + (c * whole + at) * job.element);
    }
  }
  for (int64_t c = 0; c < out_channels_; ++c)
    tiles.CopyOut(made + c * whole * job.element, first, rows, job.element,
                  job.y + ((image * groups_ + group) * out_channels_ + c) * out * job.element);
}

// With x' = x + the shift of x, which makes it uint8, w' = w - shift_, and zero points that went along, over k terms:
// the sum of (x' - zx) (w' - zw) is that of x' w', less zx times that of w', less zw times (that of x' - k zx).
void PackedByteConv::Run(int64_t batch, const Window& window, const void* x, bool x_signed, int32_t x_zero,
                         std::span<const int32_t> added, Finish finish, int64_t element, void* y, ThreadTeam* team,
                         int threads) const {
  const PlaneTiles tiles(window, std::min(kPlaneBytes, kTileBytes / (in_channels_ + out_channels_)),
                         /*copies=*/by_places());
  const auto* const bytes = static_cast<const uint8_t*>(x);
  auto* const to = static_cast<std::byte*>(y);
  const int64_t in = window.InSize(), out = window.OutSize(), channels = groups_ * out_channels_;
  const auto run = [&](int64_t pieces, double work, const auto& piece) {
    const auto range = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i);
    };
    const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kPieceWork / work));
    RunPieces(pieces, grain, team, threads, range);
  };
  const double work = static_cast<double>(in_channels_ * places_) * static_cast<double>(out);
  if (!tiles.justified) {
    run(batch * channels, work, [&](int64_t i) {
      const int64_t channel = i % channels, group = i / out_channels_;
      std::vector<int32_t> sums(static_cast<size_t>(out));
      ByteConvReference(in_channels_, window, bytes + group * in_channels_ * in, x_signed, x_zero,
                        w_ + channel * in_channels_ * places_, flip_ == 0, Zero(channel), sums.data());
      if (!added.empty())
        for (int32_t& sum : sums)
          sum = static_cast<int32_t>(Wrapping(sum) + Wrapping(added[static_cast<size_t>(channel)]));
      finish(channel, sums.data(), out, to + i * out * element);
    });
    return;
  }
  const int32_t zero = x_zero + (x_signed ? 128 : 0);
  Job job{.tiles = tiles,
          .x = bytes,
          .x_flip = static_cast<uint8_t>(x_signed ? 0x80 : 0),
          .fill = static_cast<uint8_t>(x_zero),
          .offsets = {},
          .quad_step = 0,
          .quad_planes = ((by_places() ? last_ : in_channels_) + kByteQuad - 1) / kByteQuad,
          .quads_ahead = by_places() ? tiles.other_furthest : tiles.furthest,
          .starts = {},
          .finish = finish,
          .element = element,
          .y = to};
  const int64_t planes = job.quad_planes;
  // Four places further on along the last axis stands the same, only later, where its stride allows.
  const bool shared = by_places() && window.stride.back() == 1;
  if (shared) {
    job.quads_ahead += tiles.last_offsets[static_cast<size_t>((planes - 1) * kByteQuad)];
    job.quad_planes = 1;
  }
  job.quad_step = (tiles.FlatSize(tiles.length) + job.quads_ahead) * kByteQuad;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (const int64_t place : by_places() ? tiles.other_offsets : tiles.places)
      job.offsets.push_back(shared ? (tiles.last_offsets[static_cast<size_t>(plane * kByteQuad)] + place) * kByteQuad
                                   : plane * job.quad_step + place * kByteQuad);
  for (int64_t i = 0; i < groups_ * SumsOfGroup(); ++i) {
    const int64_t own = i % SumsOfGroup();
    uint32_t start = 0 - Wrapping(zero) * Wrapping(totals_[static_cast<size_t>(i)]);
    if (own < out_channels_ && !added.empty())
      start += Wrapping(added[static_cast<size_t>(i / SumsOfGroup() * out_channels_ + own)]);
    job.starts.push_back(static_cast<int32_t>(start));
  }
  run(batch * groups_ * tiles.tiles, work * static_cast<double>(out_channels_) / static_cast<double>(tiles.tiles),
      [&](int64_t i) {
        const int64_t index = i / tiles.tiles;
        RunTile(job, index / groups_, index % groups_, i % tiles.tiles * tiles.length);
      });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
