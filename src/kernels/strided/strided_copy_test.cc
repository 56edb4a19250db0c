// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided/strided_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using Dims = std::vector<int64_t>;

template <class T>
void CheckType(const Dims& dims, const Dims& strides, int64_t offset, int64_t source_size) {
  std::vector<T> source(static_cast<size_t>(source_size));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<T>(i * 7 + 1);
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  std::vector<T> expected;
  for (int64_t at = 0; at < n; ++at) {
    int64_t rest = at, from = offset;
    for (size_t d = dims.size(); d-- > 0;) {
      from += rest % dims[d] * strides[d];
      rest /= dims[d];
    }
    expected.push_back(source[static_cast<size_t>(from)]);
  }
  for (const int64_t grain : {n, int64_t{3}}) {
    std::vector<T> copy(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i += grain)
      StridedCopy(source.data() + offset, copy.data(), dims, strides, sizeof(T), i, std::min(n, i + grain));
    ASSERT_EQ(copy, expected) << "element size " << sizeof(T) << ", grain " << grain;
    if (n == 0) break;
  }
}

void Check(const Dims& dims, const Dims& strides, int64_t offset, int64_t source_size) {
  CheckType<uint8_t>(dims, strides, offset, source_size);
  CheckType<uint16_t>(dims, strides, offset, source_size);
  CheckType<uint32_t>(dims, strides, offset, source_size);
  CheckType<uint64_t>(dims, strides, offset, source_size);
  CheckType<__uint128_t>(dims, strides, offset, source_size);
}

TEST(StridedCopy, AllKindsOfViews) {
  Check({}, {}, 0, 1);
  Check({6}, {1}, 2, 8);        // slice
  Check({3}, {2}, 0, 5);        // stepped
  Check({5}, {-1}, 4, 5);       // reversed
  Check({4, 3}, {0, 1}, 0, 3);  // expanded
  Check({3, 4}, {1, 0}, 0, 3);
  Check({2, 5, 3}, {3, 0, 1}, 0, 6);  // each row several times
  Check({4, 9, 6}, {6, 0, 1}, 3, 27);
  Check({2, 3}, {3, 1}, 0, 6);           // dense
  Check({3, 2}, {1, 3}, 0, 6);           // transposed
  Check({35, 19}, {1, 35}, 0, 35 * 19);  // in tiles
  Check({16, 16}, {1, 16}, 0, 256);
  Check({2, 17, 33}, {561, 1, 17}, 0, 2 * 561);  // batches of tiles
  Check({4, 2, 3}, {1, 12, 4}, 0, 24);           // rotated
  Check({2, 1, 3}, {3, 77, 1}, 0, 6);            // a dim of one element has any stride
  Check({0, 3}, {3, 1}, 0, 1);
}

TEST(StridedCopy, Strings) {
  const std::vector<std::string> source = {"a", "b", "a string long enough to live elsewhere", "d"};
  std::vector<std::string> copy(4);
  StridedCopyStrings(source.data(), copy.data(), Dims{2, 2}, Dims{1, 2});
  EXPECT_THAT(copy, ::testing::ElementsAre("a", source[2], "b", "d"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
