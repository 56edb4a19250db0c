// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <type_traits>

#include "base/checked.h"
#include "base/stop_token.h"
#include "kernels/gemm/gemm_variant.h"
#include "kernels/gemm/panel.h"
#include "kernels/pieces.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Rows of B worked on at once: a panel of them (256 KB of float) stays in L2 while all rows of A pass.
constexpr int64_t kDepth = 1024;
// Up to so many rows of A, B is read where it is: packing would cost as much as the product.
constexpr int64_t kRowsUnpacked = 4;
// Rows of A in one piece of work for a thread.
constexpr int64_t kPieceRows = 240;
// Rows of A between two looks at whether the run is to end: some milliseconds.
constexpr int64_t kStopRows = 16 * kPieceRows;
// Multiply-adds below which a second thread is not worth waking.
constexpr int64_t kWorthAThread = 1 << 20;

template <class T>
int64_t WidthOf(const GemmVariant& variant) {
  return kPanelVectors * (sizeof(T) == 4 ? variant.f32_lanes : variant.f64_lanes);
}

template <class T>
void Run(const GemmVariant& variant, const GemmBlock<T>& block) {
  if constexpr (sizeof(T) == 4)
    variant.f32(block);
  else
    variant.f64(block);
}

// Columns [column, column + width) of rows [row, row + rows) as one panel; columns beyond n are 0.
template <class T>
void PackPanel(const MatrixView<T>& b, int64_t row, int64_t rows, int64_t column, int64_t n, int64_t width, bool flush,
               T* panel) {
  if (rows <= 0) return;
  const int64_t columns = std::min(width, n - column);
  const T* from = b.data + row * b.row + column * b.column;
  if (columns < width) std::fill_n(panel, rows * width, T(0));
  const auto copy = [&](const auto& convert) {
    if (b.column == 1) {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) panel[i * width + j] = convert(from[i * b.row + j]);
    } else {
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) panel[i * width + j] = convert(from[i * b.row + j * b.column]);
    }
  };
  if (flush)
    copy([](T value) { return FlushDenormal(value); });
  else
    copy([](T value) { return value; });
}

// Calls fn(i) for i < pieces, on the team when the work is worth it.
template <class Fn>
void ForPieces(int64_t pieces, double multiply_adds, ThreadTeam* team, int threads, const Fn& fn) {
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) fn(i);
  };
  RunPieces(pieces, 1, team, multiply_adds < static_cast<double>(kWorthAThread) ? 1 : threads, range);
}

template <class T>
int64_t StartOf(std::span<const int64_t> offsets, int64_t i) {
  return offsets.empty() ? 0 : offsets[i];
}

// One panel of columns of one product: all of k, all of m.
template <class T>
void MultiplyPanel(const GemmVariant& variant, const MatMulArgs<T>& args, const T* a, const MatrixView<T>& b, T* c,
                   int64_t column) {
  const int64_t width = WidthOf<T>(variant), columns = std::min(width, args.n - column);
  GemmBlock<T> block;
  block.m = args.m;
  block.n = columns;
  block.a_row = args.a.row;
  block.c = c + column;
  block.c_row = args.c_row;
  block.step = width;
  const bool in_place = args.m <= kRowsUnpacked && b.column == 1 && columns == width;
  AlignedArray<T> panel, rows_of_a;
  if (!in_place) panel = MakeAlignedArray<T>(std::min(args.k, kDepth) * width);
  if (args.a.column != 1) rows_of_a = MakeAlignedArray<T>(kPieceRows * std::min(args.k, kDepth));
  for (int64_t depth = 0; depth < args.k && !StopRequested(); depth += block.k) {
    block.k = std::min(args.k - depth, kDepth);
    block.accumulate = args.accumulate || depth > 0;
    if (in_place) {
      block.b = b.data + depth * b.row + column;
      block.step = b.row;
    } else {
      PackPanel(b, depth, block.k, column, args.n, width, /*flush=*/false, panel.get());
      block.b = panel.get();
    }
    if (args.a.column == 1) {
      // In parts that are short enough to look at the clock between them; their rows follow from the sizes alone.
      for (int64_t row = 0; row < args.m && !StopRequested(); row += kStopRows) {
        GemmBlock<T> part = block;
        part.m = std::min(kStopRows, args.m - row);
        part.a = a + row * args.a.row + depth;
        part.c = block.c + row * block.c_row;
        Run(variant, part);
      }
    } else {
      for (int64_t row = 0; row < args.m && !StopRequested(); row += kPieceRows) {
        GemmBlock<T> part = block;
        part.m = std::min(kPieceRows, args.m - row);
        for (int64_t i = 0; i < part.m; ++i)
          for (int64_t l = 0; l < block.k; ++l)
            rows_of_a[i * block.k + l] = a[(row + i) * args.a.row + (depth + l) * args.a.column];
        part.a = rows_of_a.get();
        part.a_row = block.k;
        part.c = block.c + row * block.c_row;
        Run(variant, part);
      }
    }
  }
}

template <class T>
void MatMulVector(const MatMulArgs<T>& args, ThreadTeam* team, int threads) {
  const GemmVariant& variant = ActiveGemmVariant();
  const int64_t width = WidthOf<T>(variant), panels = Pieces(args.n, width);
  const double work = static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) *
                      static_cast<double>(args.batch);
  ForPieces(args.batch * panels, work, team, threads, [&](int64_t piece) {
    const int64_t pair = piece / panels;
    MatrixView<T> b = args.b;
    b.data += StartOf<T>(args.b_offsets, pair);
    MultiplyPanel(variant, args, args.a.data + StartOf<T>(args.a_offsets, pair), b,
                  args.c + StartOf<T>(args.c_offsets, pair), piece % panels * width);
  });
}

// Whole numbers: rows of C in order, so that the inner loop runs along a row of B and vectorises.
template <class T>
void MatMulWrapping(const MatMulArgs<T>& args, ThreadTeam* team, int threads) {
  const double work = static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) *
                      static_cast<double>(args.batch);
  constexpr int64_t kRows = 16;
  const int64_t row_pieces = Pieces(args.m, kRows);
  ForPieces(args.batch * row_pieces, work, team, threads, [&](int64_t piece) {
    const int64_t pair = piece / row_pieces, first = piece % row_pieces * kRows;
    const T* a = args.a.data + StartOf<T>(args.a_offsets, pair);
    const T* b = args.b.data + StartOf<T>(args.b_offsets, pair);
    T* c = args.c + StartOf<T>(args.c_offsets, pair);
    for (int64_t i = first; i < std::min(args.m, first + kRows); ++i) {
      T* const row = c + i * args.c_row;
      if (!args.accumulate) std::fill_n(row, args.n, T(0));
      for (int64_t l = 0; l < args.k; ++l) {
        const auto factor = static_cast<uint64_t>(a[i * args.a.row + l * args.a.column]);
        const T* const from = b + l * args.b.row;
        const auto add = [&](int64_t j, int64_t column) {
          row[j] = static_cast<T>(static_cast<uint64_t>(row[j]) + factor * static_cast<uint64_t>(from[j * column]));
        };
        if (args.b.column == 1)
          for (int64_t j = 0; j < args.n; ++j) add(j, 1);
        else
          for (int64_t j = 0; j < args.n; ++j) add(j, args.b.column);
      }
    }
  });
}

}  // namespace

template <class T>
void MatMul(const MatMulArgs<T>& args, ThreadTeam* team, int threads) {
  if (args.m <= 0 || args.n <= 0 || args.batch <= 0) return;
  if (args.k <= 0) return MatMulReference(args);  // sums of nothing; a and b may have no memory to point into
  if constexpr (std::is_floating_point_v<T>)
    MatMulVector(args, team, threads);
  else
    MatMulWrapping(args, team, threads);
}

template <class T>
PackedMatrix<T>::PackedMatrix(int64_t k, int64_t n, const MatrixView<T>& b, bool flush_denormals)
    : k_(k), n_(n), variant_(&ActiveGemmVariant()) {
  const int64_t width = WidthOf<T>(*variant_), panels = Pieces(n, width);
  const auto size = CheckedMul(panels * width, k);
  panels_ = MakeAlignedArray<T>(size ? *size : -1);
  bytes_ = *size * static_cast<int64_t>(sizeof(T));
  for (int64_t panel = 0; panel < panels; ++panel)
    PackPanel(b, 0, k, panel * width, n, width, flush_denormals, panels_.get() + panel * k * width);
}

template <class T>
void PackedMatrix<T>::Multiply(int64_t m, const T* a, int64_t a_row, const T* bias, bool accumulate, T* c,
                               int64_t c_row, ThreadTeam* team, int threads,
                               const RowFinish<T>& finish) const noexcept {
  if (m <= 0 || n_ <= 0) return;
  if (k_ == 0) a_row = 0;  // A may have no memory to point into
  const int64_t width = WidthOf<T>(*variant_);
  // A piece: some rows of A and some panels; both counts follow from the sizes alone.
  const int64_t row_pieces = Pieces(m, kPieceRows), panels = Pieces(n_, width);
  const int64_t panels_each = std::max<int64_t>(1, panels / 8), panel_pieces = Pieces(panels, panels_each);
  const double work = static_cast<double>(m) * static_cast<double>(n_) * static_cast<double>(k_);
  ForPieces(row_pieces * panel_pieces, work, team, threads, [&](int64_t piece) {
    const int64_t row = piece / panel_pieces * kPieceRows, panel = piece % panel_pieces * panels_each;
    GemmBlock<T> block;
    block.m = std::min(kPieceRows, m - row);
    block.n = std::min(panels_each * width, n_ - panel * width);
    block.a_row = a_row;
    block.panel_stride = k_ * width;
    block.step = width;
    block.c = c + row * c_row + panel * width;
    block.c_row = c_row;
    int64_t depth = 0;
    do {  // once for k = 0, which writes the bias
      block.k = std::min(k_ - depth, kDepth);
      block.a = a + row * a_row + depth;
      block.b = panels_.get() + panel * block.panel_stride + depth * width;
      block.bias = bias != nullptr ? bias + panel * width : nullptr;
      block.accumulate = accumulate || depth > 0;
      if (depth + block.k == k_) {
        block.finish = finish;
        if (finish.added != nullptr) block.finish.added += panel * width;
      }
      Run(*variant_, block);
      depth += block.k;
    } while (depth < k_ && !StopRequested());
  });
}

template <class T>
void PackedMatrix<T>::Multiply(const ScatteredRows<T>& a, const T* bias, T* c, int64_t c_row) const noexcept {
  const int64_t width = WidthOf<T>(*variant_), panels = Pieces(n_, width);
  const auto m = static_cast<int64_t>(a.rows.size()), segments = static_cast<int64_t>(a.segments.size());
  const int64_t segments_each = std::max<int64_t>(1, kDepth / std::max<int64_t>(1, a.segment));
  GemmBlock<T> block;
  block.k = a.segment;
  block.a = a.data;
  block.panel_stride = k_ * width;
  block.step = width;
  block.c_row = c_row;
  for (int64_t row = 0; row < m; row += kPieceRows) {
    block.m = std::min(kPieceRows, m - row);
    block.rows = a.rows.data() + row;
    // A part of A's rows stays in L2 for all panels.
    for (int64_t segment = 0; segment < segments && !StopRequested(); segment += segments_each) {
      block.segments = a.segments.data() + segment;
      block.segment_count = std::min(segments_each, segments - segment);
      block.accumulate = segment > 0;
      for (int64_t panel = 0; panel < panels; ++panel) {
        block.n = std::min(width, n_ - panel * width);
        block.b = panels_.get() + panel * block.panel_stride + segment * a.segment * width;
        block.bias = bias != nullptr ? bias + panel * width : nullptr;
        block.c = c + row * c_row + panel * width;
        Run(*variant_, block);
      }
    }
  }
}

template void MatMul(const MatMulArgs<float>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<double>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<int8_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<uint8_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<int16_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<uint16_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<int32_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<int64_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<uint32_t>&, ThreadTeam*, int);
template void MatMul(const MatMulArgs<uint64_t>&, ThreadTeam*, int);
template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
