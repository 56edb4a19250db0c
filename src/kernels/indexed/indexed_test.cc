// SPDX-License-Identifier: Apache-2.0
#include "kernels/indexed/indexed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Indexed, GathersAndScattersRows) {
  const std::vector<int16_t> x = {0, 1, 2, 3, 4, 5};
  const std::vector<int64_t> offsets = {4, 0, 1};
  std::vector<int16_t> y(6);
  GatherRows(TensorType::kInt16, x.data(), offsets, 2, y.data());
  EXPECT_THAT(y, ElementsAre(4, 5, 0, 1, 1, 2));
  std::vector<int16_t> z(6, 9);
  const std::vector<int16_t> added = {1, 2, 3, 4, 5, 6};
  ScatterRows(TensorType::kInt16, ScatterReduction::kNone, z.data(), offsets, 2, added.data());
  EXPECT_THAT(z, ElementsAre(3, 5, 6, 9, 1, 2));
}

TEST(Indexed, MovesStringsAndComplexNumbers) {
  const std::vector<std::string> x = {"a", "a string that is long enough to be on the heap", "c"};
  const std::vector<int64_t> offsets = {1, 1, 0};
  std::vector<std::string> y(3);
  GatherRows(TensorType::kString, x.data(), offsets, 1, y.data());
  EXPECT_THAT(y, ElementsAre(x[1], x[1], x[0]));
  FillAt(TensorType::kString, y.data(), std::vector<int64_t>{0, 2}, &x[2]);
  EXPECT_THAT(y, ElementsAre("c", x[1], "c"));
  Fill(TensorType::kString, y.data(), 2, &x[0]);
  EXPECT_THAT(y, ElementsAre("a", "a", "c"));
  const double pairs[4] = {1, 2, 3, 4};
  double swapped[4] = {};
  GatherRows(TensorType::kComplex128, pairs, std::vector<int64_t>{1, 0}, 1, swapped);
  EXPECT_THAT(swapped, ElementsAre(3, 4, 1, 2));
}

TEST(Indexed, ReducesWithRepeatedOffsets) {
  const std::vector<int64_t> offsets = {1, 1, 0};
  const auto reduced = [&](ScatterReduction reduction, std::vector<float> to, std::vector<float> from) {
    ScatterRows(TensorType::kFloat, reduction, to.data(), offsets, 1, from.data());
    return to;
  };
  EXPECT_THAT(reduced(ScatterReduction::kAdd, {1, 2}, {3, 4, 5}), ElementsAre(6, 9));
  EXPECT_THAT(reduced(ScatterReduction::kMul, {1, 2}, {3, 4, 5}), ElementsAre(5, 24));
  EXPECT_THAT(reduced(ScatterReduction::kMin, {1, 2}, {3, 1, 5}), ElementsAre(1, 1));
  EXPECT_THAT(reduced(ScatterReduction::kMax, {1, 2}, {3, 1, 5}), ElementsAre(5, 3));
  for (const ScatterReduction extreme : {ScatterReduction::kMin, ScatterReduction::kMax}) {
    EXPECT_TRUE(std::isnan(reduced(extreme, {1, 2}, {NAN, 1, 5})[1]));
    EXPECT_TRUE(std::isnan(reduced(extreme, {1, NAN}, {3, 1, 5})[1]));
  }
}

TEST(Indexed, IntegersWrapAndHalvesAreFloats) {
  const std::vector<int64_t> zero = {0};
  int64_t sum = std::numeric_limits<int64_t>::max();
  const int64_t one = 1;
  ScatterRows(TensorType::kInt64, ScatterReduction::kAdd, &sum, zero, 1, &one);
  EXPECT_EQ(sum, std::numeric_limits<int64_t>::min());
  uint16_t product = 0xffff;
  const uint16_t factor = 0xffff;
  ScatterRows(TensorType::kUint16, ScatterReduction::kMul, &product, zero, 1, &factor);
  EXPECT_EQ(product, 1);
  Float16 half(1.5f);
  const Float16 other(2.25f);
  ScatterRows(TensorType::kFloat16, ScatterReduction::kAdd, &half, zero, 1, &other);
  EXPECT_EQ(static_cast<float>(half), 3.75f);
  EXPECT_TRUE(CanScatter(TensorType::kString, ScatterReduction::kNone));
  EXPECT_FALSE(CanScatter(TensorType::kString, ScatterReduction::kAdd));
  EXPECT_FALSE(CanScatter(TensorType::kBool, ScatterReduction::kMax));
}

TEST(Indexed, MapsEachAxis) {
  const std::vector<uint8_t> x = {1, 2, 3, 4, 5, 6};  // [2,3]
  const std::vector<int64_t> dims = {2, 3};
  const std::vector<std::vector<int64_t>> maps = {{1, -1, 0, 0}, {-1, 0, 1, 2, 2, 0}};
  std::vector<uint8_t> y(24);
  const uint8_t fill = 9;
  MappedCopy(TensorType::kUint8, x.data(), dims, maps, &fill, y.data());
  EXPECT_THAT(y, ElementsAre(9, 4, 5, 6, 6, 4, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 3, 1, 9, 1, 2, 3, 3, 1));
}

template <class Index>
void ExpectPlaces(TensorType index_type) {
  std::vector<int16_t> x(400);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int16_t>(i);
  constexpr std::pair<int64_t, int64_t> kSteps[] = {{0, 1}, {1, 40}, {3, 7}, {0, 5}};  // step and along
  for (const int64_t count : {0, 1, 3, 4, 5, 8, 9, 31}) {
    std::vector<Index> indices;
    for (int64_t k = 0; k < count; ++k) indices.push_back(static_cast<Index>(k * 3 % 18 - 9));
    for (const auto& [step, along] : kSteps) {
      const IndexRow row{index_type, indices.data(), count, 9, step, along};
      std::vector<int64_t> expected(indices.size()), offsets(indices.size());
      std::vector<int16_t> y(indices.size());
      for (int64_t k = 0; k < count; ++k) {
        const int64_t index = row.Index(k) < 0 ? row.Index(k) + 9 : row.Index(k);
        expected[static_cast<size_t>(k)] = 5 + k * step + index * along;
      }
      EXPECT_EQ(OffsetsOf(row, 5, offsets.data()), count);
      EXPECT_EQ(offsets, expected);
      EXPECT_EQ(GatherIndexed(TensorType::kInt16, x.data(), 5, row, y.data()), count);
      EXPECT_THAT(y, ::testing::ElementsAreArray(expected));
      // Each in turn lies outside.
      for (size_t k = 0; k < indices.size(); ++k) {
        constexpr Index kOutside[] = {9, -10, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()};
        const Index index = std::exchange(indices[k], kOutside[k % 4]);
        EXPECT_EQ(OffsetsOf(row, 5, offsets.data()), k);
        EXPECT_EQ(GatherIndexed(TensorType::kInt16, x.data(), 5, row, y.data()), k);
        indices[k] = index;
      }
    }
  }
}
TEST(Indexed, PlacesAlongAnAxis) {
  ExpectPlaces<int32_t>(TensorType::kInt32);
  ExpectPlaces<int64_t>(TensorType::kInt64);
}

// Every kind of map along the last axis and the one before it, alone and below an axis that stays, against the plain
// loop.
TEST(Indexed, MapsAsThePlainLoop) {
  for (const int64_t n : {1, 2, 7, 9, 17}) {
    std::vector<std::vector<int64_t>> kinds;
    for (const int64_t times : {1, 2, 3, 4, 5, 9}) {
      std::vector<int64_t> map;
      for (int64_t i = 0; i < n * times; ++i) map.push_back(i / times);
      kinds.push_back(map);
      map.push_back(n - 1);  // the last once more
      kinds.push_back(map);
      map.insert(map.begin(), {-1, n / 2, n / 2, -1, -1});
      map.push_back(-1);
      kinds.push_back(map);
    }
    std::vector<int64_t> backwards, uneven;
    for (int64_t i = n; i-- > 0;) backwards.push_back(i);
    for (int64_t i = 0; i < 3 * n; ++i) uneven.push_back(i * 2 % 5 % n);
    kinds.push_back(backwards);
    kinds.push_back(uneven);
    const std::vector<int64_t> dims = {2, n, n};
    std::vector<uint16_t> x(static_cast<size_t>(2 * n * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
    const uint16_t fill = 9999;
    for (const std::vector<int64_t>& rows : kinds) {
      for (const std::vector<int64_t>& columns : kinds) {
        const std::vector<std::vector<int64_t>> maps = {{1, 0, 0}, rows, columns};
        std::vector<uint16_t> y(3 * rows.size() * columns.size() + 1, 7), expected;
        for (const int64_t i : maps[0])
          for (const int64_t j : rows)
            for (const int64_t k : columns)
              expected.push_back(j < 0 || k < 0 ? fill : x[static_cast<size_t>((i * n + j) * n + k)]);
        expected.push_back(7);
        MappedCopy(TensorType::kUint16, x.data(), dims, maps, &fill, y.data());
        ASSERT_EQ(y, expected) << n << ", " << rows.size() << " rows, " << columns.size() << " columns";
      }
    }
  }
}

TEST(Indexed, MapsLongRows) {
  const int64_t n = 3 * 65536 + 1;
  std::vector<int32_t> x(static_cast<size_t>(n)), y(x.size());
  std::vector<int64_t> map(x.size());
  for (int64_t i = 0; i < n; ++i) {
    x[static_cast<size_t>(i)] = static_cast<int32_t>(i);
    map[static_cast<size_t>(i)] = i % 70000 == 0 ? -1 : i / 2;
  }
  const int32_t fill = -5;
  MappedCopy(TensorType::kInt32, x.data(), std::vector<int64_t>{n}, std::vector<std::vector<int64_t>>{map}, &fill,
             y.data());
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[static_cast<size_t>(i)], i % 70000 == 0 ? -5 : i / 2);
}

TEST(Indexed, MapsScalarsAndNothing) {
  const float x = 2;
  float y = 0;
  MappedCopy(TensorType::kFloat, &x, {}, {}, nullptr, &y);
  EXPECT_EQ(y, 2);
  const std::vector<std::vector<int64_t>> maps = {{}, {0}};
  MappedCopy(TensorType::kFloat, &x, std::vector<int64_t>{1, 1}, maps, nullptr, nullptr);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
