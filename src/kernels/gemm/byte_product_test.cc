// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/byte_product.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Sizes {
  int64_t m, n, k;
};

void ExpectAll() {
  ThreadTeam team(3);
  std::mt19937 engine(1);
  for (const Sizes s : {Sizes{1, 1, 1},
                        {3, 5, 0},
                        {1, 65, 33},
                        {17, 16, 64},
                        {257, 9, 31},
                        {5, 1025, 3},
                        {50, 130, 67},
                        {250, 140, 12},
                        {2, 700, 12},
                        {51, 64, 8}}) {
    for (int kind = 0; kind < 16; ++kind) {
      const bool a_signed = (kind & 1) != 0, b_signed = (kind & 2) != 0, per_row = (kind & 4) != 0,
                 zeros = (kind & 8) != 0;
      std::vector<uint8_t> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n));
      // The extremes, too: sums of two products of them do not fit in 16 bits.
      for (uint8_t& byte : a) byte = static_cast<uint8_t>(engine() % 3 == 0 ? 255 : engine());
      for (uint8_t& byte : b) byte = static_cast<uint8_t>(engine() % 3 == 0 ? 127 : engine());
      std::vector<int32_t> za(per_row ? static_cast<size_t>(s.m) : 1), zb(per_row ? static_cast<size_t>(s.n) : 1);
      for (int32_t& zero : za) zero = a_signed ? static_cast<int8_t>(engine()) : static_cast<uint8_t>(engine());
      for (int32_t& zero : zb) zero = b_signed ? static_cast<int8_t>(engine()) : static_cast<uint8_t>(engine());
      if (!zeros) {
        za.clear();
        zb.clear();
      }
      std::vector<int32_t> added(kind % 3 == 0 ? static_cast<size_t>(s.n) : 0);
      for (int32_t& value : added) value = static_cast<int32_t>(engine() % 1000);
      const auto at = [](const std::vector<uint8_t>& bytes, int64_t i, bool is_signed) {
        const uint8_t byte = bytes[static_cast<size_t>(i)];
        return is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
      };
      std::vector<int32_t> expected(static_cast<size_t>(s.m * s.n)), c(expected.size(), 777),
          again(expected.size(), 778);
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          if (!added.empty()) expected[static_cast<size_t>(i * s.n + j)] = added[static_cast<size_t>(j)];
          for (int64_t l = 0; l < s.k; ++l)
            expected[static_cast<size_t>(i * s.n + j)] +=
                (at(a, i * s.k + l, a_signed) - (zeros ? za[per_row ? static_cast<size_t>(i) : 0] : 0)) *
                (at(b, l * s.n + j, b_signed) - (zeros ? zb[per_row ? static_cast<size_t>(j) : 0] : 0));
        }
      const auto multiply = [&](const PackedBytes& packed, std::vector<int32_t>& to, ThreadTeam* on) {
        packed.Multiply(
            s.m, a.data(), a_signed, za, zb, added,
            [&](const PackedBytes::Sums& sums) {
              for (int64_t i = 0; i < sums.rows; ++i)
                for (int64_t j = 0; j < sums.columns; ++j)
                  to[static_cast<size_t>((sums.row + i) * s.n + sums.column + j)] =
                      sums.sums[i * sums.step + j] + (sums.added != nullptr ? sums.added[j] : 0);
            },
            on);
      };
      const PackedBytes packed(s.k, s.n, b.data(), b_signed);
      multiply(packed, c, nullptr);
      ASSERT_EQ(c, expected) << s.m << "x" << s.n << "x" << s.k << " kind " << kind;
      multiply(packed, again, &team);
      ASSERT_EQ(again, expected) << "on three threads";
      std::vector<uint8_t> turned(b.size());
      for (int64_t l = 0; l < s.k; ++l)
        for (int64_t j = 0; j < s.n; ++j)
          turned[static_cast<size_t>(j * s.k + l)] = b[static_cast<size_t>(l * s.n + j)];
      multiply(PackedBytes(s.k, s.n, turned.data(), b_signed, true), again, nullptr);
      ASSERT_EQ(again, expected) << "transposed";
    }
  }
}

TEST(ByteProduct, EqualsTheDefinition) { ForEachIsa(ExpectAll); }

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
