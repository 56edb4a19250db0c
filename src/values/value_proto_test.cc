// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "onnxseq/errors.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

template <class Fn>
std::string ErrorText(Fn fn) {
  try {
    fn();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

SparseTensorProto Sparse(std::initializer_list<int64_t> dims, const Tensor& values, const Tensor& indices) {
  SparseTensorProto proto;
  *proto.mutable_values() = TensorToProto(values, "s");
  *proto.mutable_indices() = TensorToProto(indices);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

TEST(SparseTensorTest, LinearAndPerAxisIndices) {
  const Tensor values = Tensor::Of<float>(Shape{2}, {5, 7});
  EXPECT_THAT(TensorFromSparse(Sparse({2, 2}, values, Tensor::Of<int64_t>(Shape{2}, {1, 2}))).View<float>(),
              ElementsAre(0, 5, 7, 0));
  EXPECT_THAT(TensorFromSparse(Sparse({2, 2}, values, Tensor::Of<int64_t>(Shape{2, 2}, {0, 0, 1, 1}))).View<float>(),
              ElementsAre(5, 0, 0, 7));
  EXPECT_THAT(
      TensorFromSparse(Sparse({3}, Tensor::Of<std::string>(Shape{1}, {"x"}), Tensor::Of<int64_t>(Shape{1}, {2})))
          .View<std::string>(),
      ElementsAre("", "", "x"));
}

TEST(SparseTensorTest, Errors) {
  const Tensor values = Tensor::Of<float>(Shape{1}, {5});
  const auto error = [&](std::initializer_list<int64_t> dims, const Tensor& v, const Tensor& i) {
    return ErrorText([&] { (void)TensorFromSparse(Sparse(dims, v, i)); });
  };
  const auto at = [](int64_t i) { return Tensor::Of<int64_t>(Shape{1}, {i}); };
  EXPECT_EQ(error({4}, values, at(4)), "sparse tensor \"s\": has index 4, expected 0 to 3");
  EXPECT_EQ(error({4}, values, at(-1)), "sparse tensor \"s\": has index -1, expected 0 to 3");
  EXPECT_EQ(error({2, 2}, values, Tensor::Of<int64_t>(Shape{1, 2}, {0, 2})),
            "sparse tensor \"s\": has index 2 along axis 1, expected 0 to 1");
  EXPECT_EQ(error({4}, Tensor::Of<float>(Shape{2}, {1, 2}), Tensor::Of<int64_t>(Shape{2}, {1, 1})),
            "sparse tensor \"s\": has index 1 after index 1: indices must ascend");
  EXPECT_EQ(error({4}, values, Tensor::Of<int32_t>(Shape{1}, {1})),
            "sparse tensor \"s\": has indices tensor(int32)[1], expected tensor(int64)[1] or tensor(int64)[1,1]");
  EXPECT_EQ(error({4}, Tensor::Scalar<float>(1), at(0)),
            "sparse tensor \"s\": has values tensor(float)[], expected one dim");
  EXPECT_EQ(error({}, values, at(0)), "sparse tensor \"s\": has no dims");
  EXPECT_EQ(error({-4}, values, at(0)), "sparse tensor \"s\": has dims [-4] that are negative or too large");
  EXPECT_EQ(error({int64_t{1} << 40}, values, at(0)),
            "sparse tensor \"s\": tensor(float)[1099511627776] is over 1 GiB in dense form");
}

TEST(ValueProtoTest, SequencesRoundTrip) {
  const Sequence sequence({Tensor::Of<float>(Shape{2}, {1, 2}), Tensor::Of<float>(Shape{1}, {3})});
  const SequenceProto proto = SequenceToProto(sequence, "s");
  EXPECT_EQ(proto.name().as_string(), "s");
  const Sequence again = SequenceFromProto(proto);
  ASSERT_EQ(again.size(), 2);
  EXPECT_THAT(again[0].View<float>(), ElementsAre(1, 2));
  EXPECT_THAT(again[1].View<float>(), ElementsAre(3));
  EXPECT_EQ(SequenceFromProto(SequenceToProto(Sequence(TensorType::kFloat))).dtype(), TensorType::kUndefined);
}

TEST(ValueProtoTest, SequenceErrors) {
  SequenceProto proto;
  proto.set_name("s");
  *proto.add_tensor_values() = TensorToProto(Tensor::Scalar<float>(1));
  *proto.add_tensor_values() = TensorToProto(Tensor::Scalar<int64_t>(1));
  EXPECT_EQ(ErrorText([&] { (void)SequenceFromProto(proto); }),
            "sequence \"s\": element 1 is tensor(int64), expected tensor(float)");
  proto.set_elem_type(SequenceProto::SEQUENCE);
  EXPECT_EQ(ErrorText([&] { (void)SequenceFromProto(proto); }),
            "sequence \"s\": holds elements of another kind than it says, or of several");
  proto.add_optional_values();
  EXPECT_EQ(ErrorText([&] { (void)SequenceFromProto(proto); }), "sequence \"s\": holds sparse tensors or optionals");
}

TEST(ValueProtoTest, OptionalsRoundTrip) {
  EXPECT_TRUE(ValueFromProto(OptionalToProto({}, "o")).IsNone());
  EXPECT_THAT(ValueFromProto(OptionalToProto(Tensor::Scalar<float>(2))).tensor().View<float>(), ElementsAre(2));
  EXPECT_EQ(ValueFromProto(OptionalToProto(Sequence({Tensor::Scalar<float>(2)}))).sequence().size(), 1);
  OptionalProto both = OptionalToProto(Tensor::Scalar<float>(2), "o");
  both.mutable_sequence_value();
  EXPECT_EQ(ErrorText([&] { (void)ValueFromProto(both); }), "optional \"o\": holds more than one value");
  OptionalProto other;
  other.set_name("o");
  other.mutable_optional_value();
  EXPECT_EQ(ErrorText([&] { (void)ValueFromProto(other); }), "optional \"o\": holds a sparse tensor or an optional");
}

Map NumbersOf(const Tensor& keys, std::initializer_list<float> numbers) {
  Sequence values(TensorType::kFloat);
  for (const float number : numbers) values.Append(Tensor::Scalar(number));
  return Map(keys, values);
}

TEST(ValueProtoTest, MapsRoundTrip) {
  const Map texts = NumbersOf(Tensor::Of<std::string>(Shape{2}, {"b", "a"}), {2, 1});
  const Map again = MapFromProto(MapToProto(texts, "m"));
  EXPECT_THAT(again.keys().View<std::string>(), ElementsAre("a", "b"));
  EXPECT_THAT(again.values()[1].View<float>(), ElementsAre(2));
  const auto keys = [](const Tensor& t) { return MapFromProto(MapToProto(NumbersOf(t, {1, 2}))).keys(); };
  EXPECT_THAT(keys(Tensor::Of<int8_t>(Shape{2}, {-1, 3})).View<int8_t>(), ElementsAre(-1, 3));
  EXPECT_THAT(keys(Tensor::Of<uint64_t>(Shape{2}, {1, UINT64_MAX})).View<uint64_t>(), ElementsAre(1, UINT64_MAX));
  EXPECT_THAT(keys(Tensor::Of<int64_t>(Shape{2}, {INT64_MIN, 3})).View<int64_t>(), ElementsAre(INT64_MIN, 3));
  const Sequence list = Sequence::OfValues({texts, texts});
  EXPECT_EQ(SequenceFromProto(SequenceToProto(list)).TypeString(), "seq(map(string,tensor(float))), 2 elements");
  const Sequence lists = Sequence::OfValues({list, list});
  EXPECT_EQ(SequenceFromProto(SequenceToProto(lists)).TypeString(), "seq(seq(map(string,tensor(float)))), 2 elements");
  EXPECT_EQ(ValueFromProto(OptionalToProto(texts)).map().size(), 2);
}

TEST(ValueProtoTest, MapErrors) {
  MapProto proto = MapToProto(NumbersOf(Tensor::Of<int64_t>(Shape{2}, {1, 300}), {1, 2}), "m");
  const auto error = [&] { return ErrorText([&] { (void)MapFromProto(proto); }); };
  proto.set_key_type(TensorProto::INT8);
  EXPECT_EQ(error(), "map \"m\": has key 300, which is no int8");
  proto.set_key_type(TensorProto::FLOAT);
  EXPECT_EQ(error(), "map \"m\": has key type float");
  proto.set_key_type(TensorProto::STRING);
  EXPECT_EQ(error(), "map \"m\": has integer keys, key type string");
  proto.set_key_type(TensorProto::INT64);
  proto.add_keys(1);
  EXPECT_EQ(error(), "map \"m\": a map has 3 keys for 2 values");
  *proto.mutable_values()->add_tensor_values() = TensorToProto(Tensor::Scalar<float>(3));
  EXPECT_EQ(error(), "map \"m\": a map has the key 1 twice");
  *proto.add_string_keys() = Bytes("x");
  EXPECT_EQ(error(), "map \"m\": has string keys, key type int64");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
