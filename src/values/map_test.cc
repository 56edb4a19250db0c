// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

Sequence Numbers(std::initializer_list<float> numbers) {
  Sequence values(TensorType::kFloat);
  for (const float number : numbers) values.Append(Tensor::Scalar(number));
  return values;
}

template <class Fn>
std::string ErrorText(Fn fn) {
  try {
    fn();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "no error";
}

TEST(MapTest, EntriesAreInOrderOfKeys) {
  const Map map(Tensor::Of<int64_t>(Shape{3}, {7, -2, 3}), Numbers({70, 20, 30}));
  EXPECT_THAT(map.keys().View<int64_t>(), ElementsAre(-2, 3, 7));
  EXPECT_EQ(map.values()[0].View<float>()[0], 20);
  EXPECT_EQ(map.values()[2].View<float>()[0], 70);
  EXPECT_EQ(map.TypeString(), "map(int64,tensor(float)), 3 entries");
  const Map other = map.WithValues(Numbers({1, 2, 3}));
  EXPECT_EQ(other.keys().data(), map.keys().data());
  EXPECT_EQ(other.values()[1].View<float>()[0], 2);
  EXPECT_EQ(map.values()[1].View<float>()[0], 30);
}

TEST(MapTest, Empty) {
  const Map map(Tensor(TensorType::kString, Shape{0}), Sequence(TensorType::kInt64));
  EXPECT_EQ(map.size(), 0);
  EXPECT_EQ(Value(map).TypeString(), "map(string,tensor(int64)), 0 entries");
}

TEST(MapTest, Errors) {
  const Tensor keys = Tensor::Of<int64_t>(Shape{2}, {1, 2});
  EXPECT_EQ(ErrorText([&] { Map(keys, Numbers({1})); }), "a map has 2 keys for 1 values");
  EXPECT_EQ(ErrorText([&] { (void)Map(keys, Numbers({1, 2})).WithValues(Numbers({1})); }),
            "a map has 2 keys for 1 values");
  EXPECT_EQ(ErrorText([&] { Map(Tensor::Of<int32_t>(Shape{3}, {5, 1, 5}), Numbers({1, 2, 3})); }),
            "a map has the key 5 twice");
  EXPECT_EQ(ErrorText([&] { Map(Tensor::Of<std::string>(Shape{2}, {"a", "a"}), Numbers({1, 2})); }),
            "a map has the key \"a\" twice");
  EXPECT_EQ(ErrorText([&] { Map(Tensor::Of<float>(Shape{1}, {5}), Numbers({1})); }),
            "keys of a map are integers or strings, not tensor(float)[1]");
  EXPECT_EQ(ErrorText([&] { Map(Tensor::Scalar<int64_t>(5), Numbers({1})); }),
            "keys of a map are a vector, not tensor(int64)[]");
  EXPECT_EQ(ErrorText([&] { (void)Value(Numbers({1})).map(); }), "expected a map, got seq(tensor(float)), 1 element");
}

TEST(MapTest, InSequences) {
  const Map map(Tensor::Of<int64_t>(Shape{1}, {1}), Numbers({1}));
  Sequence maps = Sequence::OfValues({map, map});
  EXPECT_EQ(maps.TypeString(), "seq(map(int64,tensor(float))), 2 elements");
  EXPECT_FALSE(maps.HoldsTensors());
  EXPECT_EQ(maps.ValueAt(1).map().size(), 1);
  EXPECT_EQ(ErrorText([&] { (void)maps.elements(); }),
            "expected a sequence of tensors, got seq(map(int64,tensor(float)))");
  EXPECT_EQ(ErrorText([&] { maps.Append(Tensor::Scalar<float>(1)); }),
            "expected a sequence of tensors, got seq(map(int64,tensor(float)))");
  EXPECT_EQ(ErrorText([&] { (void)Sequence::OfValues({map, Numbers({1})}); }),
            "element 1 is seq(tensor(float)), expected map(int64,tensor(float))");
  EXPECT_EQ(ErrorText([&] { (void)Sequence::OfValues({map, Value()}); }), "element 1 of a sequence is nothing");
  EXPECT_TRUE(Sequence::OfValues({Tensor::Scalar<float>(1)}).HoldsTensors());
}

TEST(MapTest, CopyBorrowed) {
  const float lent[] = {1, 2};
  const int64_t lent_keys[] = {1};
  const Tensor number = Tensor::Borrow(&lent[0], TensorType::kFloat, Shape{}, Owner(std::shared_ptr<int>()));
  const Tensor keys = Tensor::Borrow(lent_keys, TensorType::kInt64, Shape{1}, Owner(std::shared_ptr<int>()));
  Value value = Sequence::OfValues({Map(keys, Sequence({number}))});
  value.CopyBorrowed();
  const Map copy = value.sequence().ValueAt(0).map();
  EXPECT_FALSE(copy.keys().IsBorrowed());
  EXPECT_FALSE(copy.values()[0].IsBorrowed());
  EXPECT_EQ(copy.values()[0].View<float>()[0], 1);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
