// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::vector<int64_t> Dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

// Every rank around the one where dims move out of the object, through every way a shape is made and changed.
TEST(ShapeTest, CopiesMovesAndEditsAtEveryRank) {
  for (int rank = 0; rank <= 2 * Shape::kInline + 2; ++rank) {
    std::vector<int64_t> dims;
    Shape shape;
    for (int i = 0; i < rank; ++i) {
      dims.push_back(i + 1);
      shape.push_back(i + 1);
    }
    EXPECT_EQ(Dims(shape), dims);
    const Shape copy = shape;
    EXPECT_EQ(copy, shape);
    Shape moved = std::move(shape);
    EXPECT_EQ(Dims(moved), dims);
    Shape assigned{7};
    assigned = moved;
    EXPECT_EQ(Dims(assigned), dims);
    assigned = std::move(moved);
    EXPECT_EQ(Dims(assigned), dims);
    for (int axis = 0; axis <= rank; ++axis) {
      Shape edited = copy;
      edited.insert(axis, 99);
      std::vector<int64_t> expected = dims;
      expected.insert(expected.begin() + axis, 99);
      EXPECT_EQ(Dims(edited), expected);
      edited.erase(axis);
      EXPECT_EQ(edited, copy);
    }
  }
}

TEST(ShapeTest, ManyInsertsAndErases) {
  Shape shape;
  for (int i = 0; i < 100; ++i) shape.insert(0, i);
  ASSERT_EQ(shape.rank(), 100);
  EXPECT_EQ(shape[0], 99);
  for (int i = 0; i < 97; ++i) shape.erase(0);
  EXPECT_EQ(shape, (Shape{2, 1, 0}));
}

TEST(ShapeTest, SelfAssignmentKeepsDims) {
  Shape shape{1, 2, 3, 4, 5, 6, 7};
  const Shape& same = shape;
  shape = same;
  EXPECT_EQ(shape, (Shape{1, 2, 3, 4, 5, 6, 7}));
}

TEST(ShapeTest, TextAndCount) {
  EXPECT_EQ(Shape{}.ToString(), "[]");
  EXPECT_EQ((Shape{2, 3}).ToString(), "[2,3]");
  EXPECT_EQ(Shape{}.NumElements(), 1);
  EXPECT_EQ((Shape{2, 0, 3}).NumElements(), 0);
  EXPECT_EQ((Shape{2, 4, 3}).NumElements(), 24);
  EXPECT_FALSE((Shape{1}) == Shape{});
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
