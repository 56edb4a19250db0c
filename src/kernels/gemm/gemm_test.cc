// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class T>
std::vector<T> Random(uint32_t seed, int64_t size) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(static_cast<size_t>(size));
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(engine));
    else
      value = static_cast<T>(engine());
  }
  return values;
}

// |error| <= (k + 1) eps sum |a b|, and |a b| <= 1 here; both sides round.
template <class T>
double Bound(int64_t k) {
  if constexpr (!std::is_floating_point_v<T>) return 0;
  return 2.0 * static_cast<double>(k + 1) * static_cast<double>(k + 1) *
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void ExpectClose(const std::vector<T>& got, const std::vector<T>& expected, double bound) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      ASSERT_NEAR(got[i], expected[i], bound) << "at " << i;
    else
      ASSERT_EQ(got[i], expected[i]) << "at " << i;
  }
}

// All four transpositions, accumulating or not, C with a gap between rows that stays as it was.
template <class T>
void CompareMatMul(const std::vector<int64_t>& ms, const std::vector<int64_t>& ns, const std::vector<int64_t>& ks) {
  uint32_t seed = 0;
  for (const int64_t m : ms)
    for (const int64_t n : ns)
      for (const int64_t k : ks) {
        ++seed;
        SCOPED_TRACE(testing::Message() << "m " << m << " n " << n << " k " << k << " seed " << seed);
        const auto a = Random<T>(seed, m * k), b = Random<T>(seed + 1000, k * n),
                   start = Random<T>(seed + 2000, m * (n + 3));
        for (int variant = 0; variant < 8; ++variant) {
          MatMulArgs<T> args;
          args.m = m;
          args.n = n;
          args.k = k;
          args.a = variant & 1 ? MatrixView<T>{a.data(), 1, m} : MatrixView<T>{a.data(), k, 1};
          args.b = variant & 2 ? MatrixView<T>{b.data(), 1, k} : MatrixView<T>{b.data(), n, 1};
          args.accumulate = (variant & 4) != 0;
          args.c_row = n + 3;
          std::vector<T> expected = start, got = start;
          args.c = expected.data();
          MatMulReference(args);
          args.c = got.data();
          MatMul(args);
          ExpectClose(got, expected, Bound<T>(k));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
}

TEST(MatMul, FloatEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareMatMul<float>({0, 1, 2, 3, 5, 7, 13}, {0, 1, 15, 64, 65, 131}, {0, 1, 2, 33}); });
}
TEST(MatMul, DoubleEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareMatMul<double>({1, 4, 7}, {1, 31, 32, 70}, {0, 1, 19}); });
}
TEST(MatMul, DeepAndTall) {
  CompareMatMul<float>({1, 5}, {70}, {1025});
  CompareMatMul<float>({241}, {5}, {33});
}

TEST(MatMul, WholeNumbersWrapAround) {
  CompareMatMul<int32_t>({1, 3, 17}, {1, 9}, {0, 5});
  CompareMatMul<int64_t>({2, 17}, {1, 9}, {0, 5});
  CompareMatMul<uint32_t>({2}, {9}, {5});
  CompareMatMul<uint64_t>({2}, {9}, {5});
  CompareMatMul<int8_t>({2}, {9}, {5});
  CompareMatMul<uint8_t>({2}, {9}, {5});
  CompareMatMul<int16_t>({2}, {9}, {5});
  CompareMatMul<uint16_t>({2}, {9}, {5});
  const int32_t a[] = {std::numeric_limits<int32_t>::max(), 2}, b[] = {2, 3};
  int32_t c = 0;
  MatMulArgs<int32_t> args{1, 1, 2, {a, 2, 1}, {b, 1, 1}, &c, 1, false, 1, {}, {}, {}};
  MatMul(args);
  EXPECT_EQ(c, 4);
}

TEST(MatMul, BatchesByOffsets) {
  const auto a = Random<float>(1, 2 * 3 * 4), b = Random<float>(2, 4 * 5);
  std::vector<float> c(4 * 3 * 5, 9.0f), expected(4 * 3 * 5, 9.0f);
  const std::vector<int64_t> a_offsets = {12, 0, 12, 0}, c_offsets = {0, 15, 30, 45};
  MatMulArgs<float> args{3, 5,         4,  {a.data(), 4, 1}, {b.data(), 5, 1}, expected.data(), 5, false,
                         4, a_offsets, {}, c_offsets};
  MatMulReference(args);
  args.c = c.data();
  MatMul(args);
  ExpectClose(c, expected, Bound<float>(4));
  EXPECT_TRUE(std::equal(c.begin(), c.begin() + 15, c.begin() + 30)) << "the same pair twice";
  args.batch = 0;
  std::fill(c.begin(), c.end(), 9.0f);
  MatMul(args);
  EXPECT_EQ(c, std::vector<float>(60, 9.0f));
}

TEST(MatMul, ANanReachesItsRowOnly) {
  std::vector<float> a(3 * 4, 1.0f), b(4 * 5, 1.0f), c(15);
  a[1 * 4 + 2] = std::nanf("");
  MatMul(MatMulArgs<float>{3, 5, 4, {a.data(), 4, 1}, {b.data(), 5, 1}, c.data(), 5, false, 1, {}, {}, {}});
  for (int i = 0; i < 15; ++i) EXPECT_EQ(std::isnan(c[i]), i / 5 == 1) << i;
}

// Threads, the batch and the number of rows change nothing, to the bit.
TEST(MatMul, ResultsDoNotDependOnHowTheWorkIsCut) {
  ThreadTeam team(4);
  ForEachIsa([&] {
    const int64_t m = 37, n = 150, k = 1100;
    const auto a = Random<float>(3, m * k), b = Random<float>(4, k * n);
    std::vector<float> one(m * n), four(m * n), packed(m * n), rows(m * n);
    MatMulArgs<float> args{m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, one.data(), n, false, 1, {}, {}, {}};
    MatMul(args);
    args.c = four.data();
    MatMul(args, &team, 4);
    EXPECT_EQ(one, four);
    const PackedMatrix<float> matrix(k, n, args.b);
    matrix.Multiply(m, a.data(), k, nullptr, false, packed.data(), n, &team, 3);
    EXPECT_EQ(one, packed);
    for (int64_t row = 0; row < m; ++row)
      matrix.Multiply(1, a.data() + row * k, k, nullptr, false, rows.data() + row * n, n);
    EXPECT_EQ(one, rows);
    args.m = 1;
    for (int64_t row = 0; row < m; ++row) {
      args.a.data = a.data() + row * k;
      args.c = rows.data() + row * n;
      MatMul(args);
    }
    EXPECT_EQ(one, rows) << "read in place";
  });
}

template <class T>
void ComparePacked() {
  for (const int64_t m : {0, 1, 7, 241})
    for (const int64_t n : {1, 16, 63, 64, 65, 600})
      for (const int64_t k : {0, 9}) {
        if (m > 7 && n > 65) continue;  // adds time, but no way through the code
        SCOPED_TRACE(testing::Message() << "m " << m << " n " << n << " k " << k);
        const auto a = Random<T>(1, m * (k + 2)), b = Random<T>(2, k * n), bias = Random<T>(3, n),
                   start = Random<T>(4, m * (n + 1));
        const PackedMatrix<T> packed(k, n, {b.data(), 1, k});  // B stored transposed
        EXPECT_EQ(packed.k(), k);
        EXPECT_EQ(packed.n(), n);
        for (const int variant : {0, 1, 2}) {  // plain, bias, accumulate
          std::vector<T> got = start, expected = start;
          MatMulArgs<T> args{m,  n,  k, {a.data(), k + 2, 1}, {b.data(), 1, k}, expected.data(), n + 1, variant != 0, 1,
                             {}, {}, {}};
          if (variant == 1)
            for (int64_t i = 0; i < m; ++i) std::copy_n(bias.data(), n, expected.data() + i * (n + 1));
          MatMulReference(args);
          packed.Multiply(m, a.data(), k + 2, variant == 1 ? bias.data() : nullptr, variant == 2, got.data(), n + 1);
          ExpectClose(got, expected, Bound<T>(k));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
}

TEST(PackedMatrix, EqualsReferenceUnderEachIsa) {
  ForEachIsa([] {
    ComparePacked<float>();
    ComparePacked<double>();
  });
}

// Rows in pieces, overlapping, in any order, deep enough to be taken in parts: as if they were copied together.
template <class T>
void CompareScattered() {
  for (const int64_t segment : {0, 1, 5, 700}) {
    for (const int64_t n : {1, 64, 130}) {
      const std::vector<int64_t> segments = {40, 0, 1000}, rows = {7, 0, 3, 3, 250, 11, 9};
      const auto m = static_cast<int64_t>(rows.size()), k = 3 * segment;
      const auto data = Random<T>(1, 2000), b = Random<T>(2, k * n), bias = Random<T>(3, n);
      std::vector<T> a, got(static_cast<size_t>(m * n)), expected = got;
      for (const int64_t row : rows)
        for (const int64_t start : segments) a.insert(a.end(), &data[row + start], &data[row + start] + segment);
      const PackedMatrix<T> packed(k, n, {b.data(), n, 1});
      packed.Multiply(m, a.data(), k, bias.data(), false, expected.data(), n);
      packed.Multiply({data.data(), rows, segments, segment}, bias.data(), got.data(), n);
      EXPECT_EQ(got, expected) << "segments of " << segment << ", n " << n;
    }
  }
}

TEST(PackedMatrix, TakesRowsInPieces) {
  ForEachIsa([] {
    CompareScattered<float>();
    CompareScattered<double>();
  });
}

template <class T>
void CompareFinish() {
  for (const int64_t m : {1, 7})
    for (const int64_t n : {3, 64, 65, 131})
      for (const int64_t k : {0, 5, 1025}) {
        const auto a = Random<T>(1, m * k), b = Random<T>(2, k * n), added = Random<T>(3, n);
        const PackedMatrix<T> packed(k, n, {b.data(), n, 1});
        std::vector<T> plain(static_cast<size_t>(m * n)), got = plain;
        packed.Multiply(m, a.data(), k, nullptr, false, plain.data(), n);
        for (const bool adds : {false, true})
          for (const bool relu : {false, true}) {
            packed.Multiply(m, a.data(), k, nullptr, false, got.data(), n, nullptr, 0,
                            {.added = adds ? added.data() : nullptr, .relu = relu});
            for (size_t i = 0; i < got.size(); ++i) {
              T expected = plain[i] + (adds ? added[i % static_cast<size_t>(n)] : T(0));
              if (relu && expected < 0) expected = 0;
              ASSERT_EQ(got[i], expected) << m << " " << n << " " << k << " at " << i;
            }
          }
      }
}
TEST(PackedMatrix, FinishesRowsUnderEachIsa) {
  ForEachIsa([] {
    CompareFinish<float>();
    CompareFinish<double>();
  });
}

TEST(PackedMatrix, ReluKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), one = 1;
  float c = 0;
  PackedMatrix<float>(1, 1, {&one, 1, 1}).Multiply(1, &nan, 1, nullptr, false, &c, 1, nullptr, 0, {.relu = true});
  EXPECT_TRUE(std::isnan(c));
}

TEST(PackedMatrix, FlushesDenormalsInItsCopyOrKeepsThem) {
  const float b = 1e-40f, a = 1e20f;
  float c = -1;
  PackedMatrix<float>(1, 1, {&b, 1, 1}).Multiply(1, &a, 1, nullptr, false, &c, 1);
  EXPECT_EQ(c, 0.0f);
  PackedMatrix<float>(1, 1, {&b, 1, 1}, false).Multiply(1, &a, 1, nullptr, false, &c, 1);
  EXPECT_GT(c, 0.0f);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
