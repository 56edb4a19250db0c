// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>

#include "base/stop_token.h"
#include "kernels/reduce/along_axis.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// The sum and the number of elements at once: what was left out or taken twice shows.
struct SumFold {
  template <class T>
  using Acc = int64_t;
  template <class T>
  static int64_t Init() {
    return 0;
  }
  template <class T>
  static int64_t Step(int64_t acc, int64_t x) {
    return acc + x;
  }
  template <class T>
  static int64_t Merge(int64_t a, int64_t b) {
    return a + b;
  }
  template <class T>
  static T Finish(int64_t acc, int64_t count) {
    return acc * 1000 + count;
  }
};

TEST(Reduce, EverySetOfAxes) {
  const std::vector<std::vector<int64_t>> shapes = {{},      {1},     {7},       {50},          {2, 3},
                                                    {3, 40}, {40, 3}, {2, 3, 4}, {2, 1, 3, 33}, {2, 3, 2, 3, 2},
                                                    {0, 3},  {3, 0},  {2, 0, 3}};
  for (const std::vector<int64_t>& dims : shapes) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    std::vector<int64_t> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * i % 97);
    for (unsigned mask = 0; mask < 1u << dims.size(); ++mask) {
      std::vector<char> reduced;
      int64_t outputs = 1, count = 1;
      for (size_t d = 0; d < dims.size(); ++d) {
        reduced.push_back((mask >> d & 1) != 0);
        (reduced[d] != 0 ? count : outputs) *= dims[d];
      }
      std::vector<int64_t> expected(static_cast<size_t>(outputs), count);
      for (int64_t at = 0; at < n; ++at) {
        int64_t rest = at, to = 0, stride = 1;
        for (size_t d = dims.size(); d-- > 0;) {
          if (reduced[d] == 0) {
            to += rest % dims[d] * stride;
            stride *= dims[d];
          }
          rest /= dims[d];
        }
        expected[static_cast<size_t>(to)] += 1000 * x[static_cast<size_t>(at)];
      }
      const ReduceLoops loops(dims, reduced);
      ASSERT_EQ(loops.outputs(), outputs);
      ASSERT_EQ(loops.count(), count);
      std::vector<int64_t> y(static_cast<size_t>(outputs), -1), acc(static_cast<size_t>(outputs) + 1);
      for (int64_t slice = 0; slice < loops.slices(); ++slice)
        loops.Run(slice, slice + 1, x.data(), acc.data(), y.data(), ReduceFnsFor<SumFold, int64_t>());
      ASSERT_EQ(y, expected) << "rank " << dims.size() << ", axes " << mask;
      std::vector<int64_t> whole(static_cast<size_t>(outputs), -1);
      loops.Run(0, loops.slices(), x.data(), acc.data(), whole.data(), ReduceFnsFor<SumFold, int64_t>());
      ASSERT_EQ(whole, expected) << "rank " << dims.size() << ", axes " << mask;
    }
  }
}

// A part of an array along any axis folds as a copy of it does.
TEST(Reduce, PartsAlongAnAxis) {
  const std::vector<int64_t> whole = {3, 5, 4, 6};
  const std::vector<int64_t> strides = {120, 24, 6, 1};
  std::vector<int64_t> x(3 * 5 * 4 * 6);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * i % 97);
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    for (int64_t length = 0; length < whole[axis]; ++length) {
      std::vector<int64_t> dims = whole;
      dims[axis] = length;
      const int64_t first = strides[axis];  // the second along the axis
      std::vector<int64_t> copy;
      for (int64_t a = 0; a < dims[0]; ++a)
        for (int64_t b = 0; b < dims[1]; ++b)
          for (int64_t c = 0; c < dims[2]; ++c)
            for (int64_t d = 0; d < dims[3]; ++d)
              copy.push_back(x[static_cast<size_t>(first + a * 120 + b * 24 + c * 6 + d)]);
      for (unsigned mask = 0; mask < 16; ++mask) {
        std::vector<char> reduced;
        for (size_t d = 0; d < dims.size(); ++d) reduced.push_back((mask >> d & 1) != 0);
        const ReduceLoops dense(dims, reduced), part(dims, reduced, strides);
        ASSERT_EQ(part.outputs(), dense.outputs());
        ASSERT_EQ(part.count(), dense.count());
        const auto n = static_cast<size_t>(dense.outputs());
        std::vector<int64_t> expected(n, -1), got(n, -1), acc(n + 1);
        constexpr ReduceFns kFns = ReduceFnsFor<SumFold, int64_t>();
        dense.Run(0, dense.slices(), copy.data(), acc.data(), expected.data(), kFns);
        part.Run(0, part.slices(), x.data() + first, acc.data(), got.data(), kFns);
        ASSERT_EQ(got, expected) << "axis " << axis << ", length " << length << ", folded " << mask;
      }
    }
  }
}

TEST(Reduce, LongRowsGoInPartsAndEndWhenAsked) {
  const int64_t n = (int64_t{1} << 22) + 5;  // longer than what goes between two looks
  const std::vector<int64_t> x(static_cast<size_t>(2 * n), 1);
  int64_t acc[1], y[1] = {-1};
  const int64_t row[] = {2 * n};
  const char all[] = {1};
  const ReduceLoops one_row(row, all);
  one_row.Run(0, 1, x.data(), acc, y, ReduceFnsFor<SumFold, int64_t>());
  EXPECT_EQ(y[0], 2 * n * 1000 + 2 * n);
  const int64_t table[] = {2, n};
  const char first[] = {1, 0};
  const ReduceLoops columns(table, first);
  std::vector<int64_t> accs(static_cast<size_t>(n)), sums(static_cast<size_t>(n));
  columns.Run(0, 1, x.data(), accs.data(), sums.data(), ReduceFnsFor<SumFold, int64_t>());
  EXPECT_THAT(sums, ::testing::Each(2002));
  const std::atomic<bool> cancel{true};
  StopToken token(&cancel, std::nullopt, nullptr);
  const StopScope scope(&token);
  y[0] = -1;
  one_row.Run(0, 1, x.data(), acc, y, ReduceFnsFor<SumFold, int64_t>());
  EXPECT_EQ(y[0], -1) << "nothing is finished";
}

TEST(AlongAxis, ExtremeIsTheFirstOrTheLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {3, 1, 3, nan, 5, 1, 9, nan};  // [4, 2]: columns 3 3 5 9 and 1 nan 1 nan
  int64_t at[2];
  ArgExtreme<float, true>(x, at, 1, 4, 2, false);
  EXPECT_THAT(at, ::testing::ElementsAre(3, 1));
  ArgExtreme<float, true>(x, at, 1, 4, 2, true);
  EXPECT_THAT(at, ::testing::ElementsAre(3, 3));
  ArgExtreme<float, false>(x, at, 1, 4, 2, false);
  EXPECT_THAT(at, ::testing::ElementsAre(0, 1));
  ArgExtreme<float, false>(x, at, 1, 4, 2, true);
  EXPECT_THAT(at, ::testing::ElementsAre(1, 3));
}

// Against the plain definition, over equal numbers and, of floats, NaN.
template <class T>
void ExpectExtremes() {
  for (const int64_t inner : {1, 2, 63, 64, 65, 131}) {
    for (const int64_t n : {1, 2, 9, 40}) {
      std::vector<T> x(static_cast<size_t>(2 * n * inner));
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>(i * i % 23);
        if (std::is_same_v<T, float> && i % 29 == 7) x[i] = std::numeric_limits<T>::quiet_NaN();
      }
      for (const bool greatest : {false, true}) {
        for (const bool last : {false, true}) {
          std::vector<int64_t> expected, at(static_cast<size_t>(2 * inner), -1);
          for (int64_t o = 0; o < 2; ++o) {
            for (int64_t i = 0; i < inner; ++i) {
              const auto value = [&](int64_t j) { return x[static_cast<size_t>((o * n + j) * inner + i)]; };
              const auto beats = [&](T a, T b) { return b == b && (a != a || (greatest ? a > b : a < b)); };
              int64_t best = 0;
              for (int64_t j = 1; j < n; ++j)
                if (beats(value(j), value(best)) || (last && !beats(value(best), value(j)))) best = j;
              expected.push_back(best);
            }
          }
          if (greatest) {
            ArgExtreme<T, true>(x.data(), at.data(), 2, n, inner, last);
          } else {
            ArgExtreme<T, false>(x.data(), at.data(), 2, n, inner, last);
          }
          ASSERT_EQ(at, expected) << n << " " << inner << " " << greatest << " " << last;
        }
      }
    }
  }
}
TEST(AlongAxis, ExtremesOfManyColumns) {
  ExpectExtremes<float>();
  ExpectExtremes<int64_t>();
  ExpectExtremes<uint8_t>();
}

TEST(AlongAxis, RunningSums) {
  const int32_t x[] = {1, 10, 2, 20, 3, 30};
  int32_t y[6];
  RunningFold<int32_t, uint32_t>(x, y, 1, 3, 2, false, false, 0, std::plus<>());
  EXPECT_THAT(y, ::testing::ElementsAre(1, 10, 3, 30, 6, 60));
  RunningFold<int32_t, uint32_t>(x, y, 1, 3, 2, true, true, 0, std::plus<>());
  EXPECT_THAT(y, ::testing::ElementsAre(5, 50, 3, 30, 0, 0));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
