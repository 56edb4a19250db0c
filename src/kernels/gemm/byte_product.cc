// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/byte_product.h"

#include <algorithm>

#include "base/stop_token.h"
#include "kernels/dnn/dnn.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Multiply-adds below which oneDNN, whose first use costs milliseconds, is not worth it.
constexpr double kDnnWork = 1 << 20;
// A piece of work for a thread: so many rows, or rows of so many columns.
constexpr int64_t kPieceRows = 256, kPieceColumns = 512;

int32_t Wrap(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

// Rows of C one after the other, so that the inner loop runs along a row of B.
template <class A>
void MultiplyOwn(int64_t m, int64_t n, int64_t k, const A* a, const int8_t* b, int64_t b_row, int32_t* c,
                 int64_t c_row) {
  for (int64_t i = 0; i < m && !StopRequested(); ++i) {
    auto* const row = reinterpret_cast<uint32_t*>(c + i * c_row);  // which wraps
    std::fill_n(row, n, 0u);
    for (int64_t l = 0; l < k; ++l) {
      const int32_t factor = a[i * k + l];
      const int8_t* const from = b + l * b_row;
      for (int64_t j = 0; j < n; ++j) row[j] += static_cast<uint32_t>(factor * from[j]);
    }
  }
}

}  // namespace

PackedBytes::PackedBytes(int64_t k, int64_t n, const void* b, bool is_signed, bool transposed)
    : k_(k), n_(n), shift_(is_signed ? 0 : 128), b_(MakeAlignedArray<int8_t>(k * n)), column_sums_(n) {
  const auto* const from = static_cast<const uint8_t*>(b);
  const uint8_t flip = is_signed ? 0 : 0x80;  // uint8 less 128
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) {
      b_[i * n + j] = static_cast<int8_t>(from[transposed ? j * k + i : i * n + j] ^ flip);
      column_sums_[static_cast<size_t>(j)] = Wrap(int64_t{column_sums_[static_cast<size_t>(j)]} + b_[i * n + j]);
    }
}

void PackedBytes::Multiply(int64_t m, const void* a, bool a_signed, std::span<const int32_t> a_zero,
                           std::span<const int32_t> b_zero, int32_t* c, ThreadTeam* team, int threads,
                           ByteMethod method) const {
  if (m <= 0 || n_ <= 0) return;
  const double work = static_cast<double>(m) * static_cast<double>(n_) * static_cast<double>(k_);
  const OnnxseqDnn* dnn =
      method == ByteMethod::kDnn || (method == ByteMethod::kBySize && work >= kDnnWork) ? Dnn() : nullptr;
  if (dnn != nullptr && dnn->exact_bytes == 0) dnn = nullptr;
  const auto zero_of = [](std::span<const int32_t> zeros, int64_t i) {
    return zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(i)];
  };
  const bool any_a_zero = std::ranges::any_of(a_zero, [](int32_t zero) { return zero != 0; });
  const bool any_b_zero = shift_ != 0 || std::ranges::any_of(b_zero, [](int32_t zero) { return zero != 0; });
  const auto multiply = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    int32_t* const to = c + row * n_ + column;
    const int8_t* const b = b_.get() + column;
    const auto typed = [&](const auto* from, auto product) {
      if (k_ == 0 || dnn == nullptr || (dnn->*product)(rows, columns, k_, from, k_, b, n_, to, n_) != kDnnDone)
        MultiplyOwn(rows, columns, k_, from, b, n_, to, n_);
      if (!any_a_zero && !any_b_zero) return;
      for (int64_t i = 0; i < rows; ++i) {
        // (a - za) (b' - zb') = a b' - za b' - zb' a + za zb', summed over k.
        int64_t row_sum = 0;
        if (any_b_zero)
          for (int64_t l = 0; l < k_; ++l) row_sum += from[i * k_ + l];
        const int64_t za = zero_of(a_zero, row + i);
        const auto a_factor = static_cast<uint32_t>(za), b_factor = static_cast<uint32_t>(row_sum - k_ * za);
        auto* const sums = reinterpret_cast<uint32_t*>(to + i * n_);  // which wrap
        const int32_t* const by_column = column_sums_.data() + column;
        const auto subtract = [&](const auto& b_zero_of) {
          for (int64_t j = 0; j < columns; ++j)
            sums[j] -= a_factor * static_cast<uint32_t>(by_column[j]) + b_factor * static_cast<uint32_t>(b_zero_of(j));
        };
        if (b_zero.size() > 1)
          subtract([&](int64_t j) { return b_zero[static_cast<size_t>(column + j)] - shift_; });
        else if (any_b_zero)
          subtract([zb = zero_of(b_zero, 0) - shift_](int64_t) { return zb; });
        else
          for (int64_t j = 0; j < columns; ++j) sums[j] -= a_factor * static_cast<uint32_t>(by_column[j]);
      }
    };
    if (a_signed)
      typed(static_cast<const int8_t*>(a) + row * k_, &OnnxseqDnn::product_s8);
    else
      typed(static_cast<const uint8_t*>(a) + row * k_, &OnnxseqDnn::product_u8);
  };
  const int64_t row_pieces = (m - 1) / kPieceRows + 1, column_pieces = (n_ - 1) / kPieceColumns + 1;
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end && !StopRequested(); ++piece) {
      const int64_t row = piece / column_pieces * kPieceRows, column = piece % column_pieces * kPieceColumns;
      multiply(row, std::min(kPieceRows, m - row), column, std::min(kPieceColumns, n_ - column));
    }
  };
  if (team == nullptr || threads == 1 || row_pieces * column_pieces == 1)
    range(0, row_pieces * column_pieces);
  else
    team->ParallelFor(row_pieces * column_pieces, 1, range, threads);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
