// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "kernels/elementwise/rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using Dims = std::vector<int64_t>;

struct Minus {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
constexpr Minus kMinus;

int64_t Product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

// Where element `at` of a tensor of shape `out` comes from in one of shape `own`.
int64_t Source(const Dims& out, const Dims& own, int64_t at) {
  int64_t index = 0, stride = 1;
  for (size_t back = 0; back < out.size(); ++back) {
    const int64_t size = out[out.size() - 1 - back], i = at % size;
    at /= size;
    if (back >= own.size()) continue;
    const int64_t own_size = own[own.size() - 1 - back];
    if (own_size != 1) index += i * stride;
    stride *= own_size;
  }
  return index;
}

void Check(const Dims& out, const Dims& a_dims, const Dims& b_dims) {
  std::vector<float> a(static_cast<size_t>(Product(a_dims))), b(static_cast<size_t>(Product(b_dims)));
  std::iota(a.begin(), a.end(), 1.f);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * i) + 0.5f;
  const std::span<const int64_t> shapes[] = {a_dims, b_dims};
  const BroadcastLoops loops(out, shapes);
  const int64_t n = Product(out);
  ASSERT_EQ(loops.size(), n);
  const void* const in[] = {a.data(), b.data()};
  const size_t sizes[] = {4, 4};
  // In one piece, and in pieces that begin and end inside rows.
  for (const int64_t grain : {n, int64_t{1}, int64_t{5}}) {
    std::vector<float> y(static_cast<size_t>(n), -1);
    for (int64_t i = 0; i < n; i += grain)
      loops.Run(i, std::min(n, i + grain), in, sizes, y.data(), 4, BinaryRow<Minus, float, float, float>, &kMinus);
    for (int64_t i = 0; i < n; ++i) {
      const float expected =
          a[static_cast<size_t>(Source(out, a_dims, i))] - b[static_cast<size_t>(Source(out, b_dims, i))];
      ASSERT_EQ(y[static_cast<size_t>(i)], expected) << "element " << i << ", grain " << grain;
    }
    if (n == 0) break;
  }
}

TEST(Broadcast, AllWays) {
  Check({}, {}, {});
  Check({7}, {7}, {7});
  Check({33}, {33}, {1});
  Check({33}, {}, {33});
  Check({3, 5}, {3, 1}, {5});
  Check({3, 5}, {5}, {3, 1});
  Check({2, 3, 4}, {2, 1, 4}, {3, 1});
  Check({2, 3, 4, 5}, {3, 1, 5}, {2, 1, 4, 1});
  Check({2, 1, 3, 1, 4}, {2, 1, 3, 1, 4}, {1, 3, 1, 1});
  Check({1, 1}, {1, 1}, {1});
  Check({0, 3}, {0, 1}, {3});
  Check({2, 2, 2, 2, 2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}, {2, 1, 2, 1, 2, 1, 2});
}

TEST(Broadcast, HalvesAreComputedAsFloat) {
  const Float16 a[] = {Float16(1.f), Float16(60000.f)}, b[] = {Float16(0.5f), Float16(-60000.f)};
  Float16 y[2];
  const void* const in[] = {a, b};
  const int64_t step[] = {1, 1};
  BinaryRow<Minus, Float16, Float16, Float16>(in, step, y, 2, &kMinus);
  EXPECT_EQ(static_cast<float>(y[0]), 0.5f);
  EXPECT_EQ(static_cast<float>(y[1]), std::numeric_limits<float>::infinity());
}

TEST(Broadcast, InPlace) {
  std::vector<float> x(100, 3.f);
  const std::vector<float> ones(100, 1.f);
  const void* const in[] = {x.data(), ones.data()};
  const int64_t step[] = {1, 1};
  BinaryRow<Minus, float, float, float>(in, step, x.data(), 100, &kMinus);
  EXPECT_THAT(x, ::testing::Each(2.f));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
