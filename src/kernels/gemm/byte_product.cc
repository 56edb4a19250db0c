// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/byte_product.h"

#include <algorithm>
#include <cstring>

#include "base/stop_token.h"
#include "kernels/gemm/byte_tile.h"
#include "kernels/gemm/panel.h"
#include "kernels/pieces.h"
#include "kernels/quantize/byte_rows.h"
#include "kernels/strided/interleave.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// A piece of work for a thread: so many rows of so many columns.
constexpr int64_t kPieceRows = 240, kPieceColumns = 512;
// Rows whose sums stay in the first-level cache until `done` has seen them; a multiple of every tile's.
constexpr int64_t kRowsAtOnce = 48;
// So few rows go over all panels at once: the panels are what takes time to read.
constexpr int64_t kFewRows = 3;
constexpr int64_t kMostVectors = 4;

uint32_t Wrapping(int32_t value) { return static_cast<uint32_t>(value); }

}  // namespace

PackedBytes::PackedBytes(int64_t k, int64_t n, const void* b, bool is_signed, bool transposed)
    : k_(k),
      n_(n),
      shift_(is_signed ? 0 : 128),
      kernel_(&ActiveByteKernel()),
      lanes_(std::max<int64_t>(1, kernel_->lanes)),
      vectors_(std::clamp<int64_t>(Pieces(n, lanes_), 1, kMostVectors)),
      quads_(Pieces(k, kByteQuad)),
      panels_(Pieces(n, lanes_ * vectors_)) {
  const auto* const from = static_cast<const uint8_t*>(b);
  const uint8_t flip = is_signed ? 0 : 0x80;  // uint8 less 128
  const int64_t width = lanes_ * vectors_, size = panels_ * quads_ * width * kByteQuad;
  b_ = MakeAlignedArray<int8_t>(size);
  column_sums_.resize(static_cast<size_t>(panels_ * width));
  const std::vector<uint8_t> none(static_cast<size_t>(width), flip);  // 0 once flipped
  auto* to = reinterpret_cast<uint8_t*>(b_.get());
  for (int64_t panel = 0; panel < panels_; ++panel) {
    const int64_t first = panel * width, columns = std::min(width, n - first);
    for (int64_t quad = 0; quad < quads_; ++quad, to += width * kByteQuad) {
      const int64_t rows = std::min(kByteQuad, k - quad * kByteQuad);
      if (!transposed) {
        const uint8_t* lines[kByteQuad];
        for (int64_t i = 0; i < kByteQuad; ++i)
          lines[i] = i < rows ? from + (quad * kByteQuad + i) * n + first : none.data();
        InterleaveFour(lines, columns, flip, to);
      } else {
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t i = 0; i < kByteQuad; ++i)
            to[j * kByteQuad + i] =
                i < rows ? static_cast<uint8_t>(from[(first + j) * k + quad * kByteQuad + i] ^ flip) : uint8_t{0};
      }
      std::fill(to + columns * kByteQuad, to + width * kByteQuad, uint8_t{0});
      const auto* const packed = reinterpret_cast<const int8_t*>(to);
      int32_t* const sums = column_sums_.data() + first;
      for (int64_t j = 0; j < columns; ++j)  // wraps
        for (int64_t i = 0; i < kByteQuad; ++i)
          sums[j] = static_cast<int32_t>(Wrapping(sums[j]) + Wrapping(packed[j * kByteQuad + i]));
    }
  }
}

// Rows as the kernel reads them: whole quads of uint8.
AlignedArray<uint8_t> PackedBytes::CopyRows(int64_t m, const uint8_t* a, uint8_t flip) const {
  const int64_t row = quads_ * kByteQuad;
  AlignedArray<uint8_t> copy = MakeAlignedArray<uint8_t>(m * row);
  for (int64_t i = 0; i < m; ++i) {
    uint8_t* const to = copy.get() + i * row;
    for (int64_t l = 0; l < k_; ++l) to[l] = static_cast<uint8_t>(a[i * k_ + l] ^ flip);
    std::fill(to + k_, to + row, uint8_t{0});
  }
  return copy;
}

// With a' = a + the shift of A, which makes it uint8, b' = b - shift_, and zero points that went along, over k terms:
// the sum of (a' - za) (b' - zb) is that of a' b', less za times that of b', less zb times (that of a' - k za).
struct PackedBytes::Job {
  const uint8_t* a;
  int64_t a_row;
  std::span<const int32_t> a_zero;  // of each row, where they differ
  int32_t a_shift;
  int32_t shared_a_zero;        // of all, shifted, where they do not
  std::vector<int32_t> b_zero;  // none for 0; one for all or for each column; shifted
  std::vector<int32_t> added;   // what is the same for each row
  FunctionRef<void(const Sums&)> done;
};

void PackedBytes::MultiplyPiece(const Job& job, int64_t row, int64_t rows, int64_t panel, int64_t panels) const {
  const int64_t width = lanes_ * vectors_, panel_bytes = quads_ * width * kByteQuad, step = panels * width;
  const int64_t column = panel * width, columns = std::min(step, n_ - column);
  const AlignedArray<int32_t> sums = MakeAlignedArray<int32_t>(rows * step);
  kernel_->multiply({.a = job.a + row * job.a_row,
                     .a_row = job.a_row,
                     .rows = static_cast<int>(rows),
                     .quads = quads_,
                     .b = b_.get() + panel * panel_bytes,
                     .panel_bytes = panel_bytes,
                     .quad_bytes = width * kByteQuad,
                     .panels = static_cast<int>(panels),
                     .vectors = static_cast<int>(vectors_),
                     .lanes = lanes_,
                     .far = panels_ * panel_bytes > kL2Bytes,
                     .sums = sums.get()});
  const bool by_row = !job.a_zero.empty();
  if (by_row || !job.b_zero.empty()) {
    for (int64_t i = 0; i < rows; ++i) {
      const int32_t za = by_row ? job.a_zero[static_cast<size_t>(row + i)] + job.a_shift : job.shared_a_zero;
      int32_t* const to = sums.get() + i * step;
      if (by_row) ActiveByteRowKernels().subtract_multiple(column_sums_.data() + column, 1, za, columns, to);
      if (job.b_zero.empty()) continue;
      const uint8_t* const from = job.a + (row + i) * job.a_row;
      uint32_t total = 0 - static_cast<uint32_t>(k_) * Wrapping(za);
      for (int64_t l = 0; l < k_; ++l) total += from[l];
      const bool one = job.b_zero.size() == 1;
      ActiveByteRowKernels().subtract_multiple(job.b_zero.data() + (one ? 0 : column), one ? 0 : 1,
                                               static_cast<int32_t>(total), columns, to);
    }
  }
  job.done({row, rows, column, columns, sums.get(), step, job.added.empty() ? nullptr : job.added.data() + column});
}

void PackedBytes::Multiply(int64_t m, const void* a, bool a_signed, std::span<const int32_t> a_zero,
                           std::span<const int32_t> b_zero, std::span<const int32_t> added,
                           FunctionRef<void(const Sums&)> done, ThreadTeam* team, int threads) const {
  if (m <= 0 || n_ <= 0) return;
  const auto* const bytes = static_cast<const uint8_t*>(a);
  const bool copies = a_signed || k_ % kByteQuad != 0;
  const AlignedArray<uint8_t> copy = copies ? CopyRows(m, bytes, a_signed ? 0x80 : 0) : nullptr;
  const int32_t a_shift = a_signed ? 128 : 0;
  const bool by_row = a_zero.size() > 1;
  Job job{.a = copies ? copy.get() : bytes,
          .a_row = quads_ * kByteQuad,
          .a_zero = by_row ? a_zero : std::span<const int32_t>(),
          .a_shift = a_shift,
          .shared_a_zero = a_shift + (a_zero.size() == 1 ? a_zero[0] : 0),
          .b_zero = {},
          .added = {added.begin(), added.end()},
          .done = done};
  if (!by_row && job.shared_a_zero != 0) {
    job.added.resize(static_cast<size_t>(n_));
    ActiveByteRowKernels().subtract_multiple(column_sums_.data(), 1, job.shared_a_zero, n_, job.added.data());
  }
  if (shift_ != 0 || std::ranges::any_of(b_zero, [](int32_t zero) { return zero != 0; })) {
    job.b_zero.assign(b_zero.begin(), b_zero.end());
    if (b_zero.empty()) job.b_zero.push_back(0);
    for (int32_t& zero : job.b_zero) zero -= shift_;
    if (std::ranges::all_of(job.b_zero, [](int32_t zero) { return zero == 0; })) job.b_zero.clear();
  }
  const int64_t piece_panels = std::max<int64_t>(1, kPieceColumns / (lanes_ * vectors_));
  const int64_t row_pieces = Pieces(m, kPieceRows), column_pieces = Pieces(panels_, piece_panels);
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece / column_pieces * kPieceRows, rows = std::min(kPieceRows, m - first);
      const int64_t panel = piece % column_pieces * piece_panels, panels = std::min(piece_panels, panels_ - panel);
      const int64_t at_once = rows <= kFewRows ? panels : 1;
      for (int64_t p = panel; p < panel + panels; p += at_once)
        for (int64_t row = first; row < first + rows; row += kRowsAtOnce) {
          if (StopRequested()) return;
          MultiplyPiece(job, row, std::min(kRowsAtOnce, first + rows - row), p, at_once);
        }
    }
  };
  RunPieces(row_pieces * column_pieces, 1, team, threads, range);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
