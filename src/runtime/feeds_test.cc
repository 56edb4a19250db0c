// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

TEST(FeedsTest, TensorsAgainstTheirDeclaration) {
  const Session session = FromText("g (float[N,3] x) => (float[N,3] y) { y = Neg(x) }");
  const auto error = [&](Value value) {
    return ThrownBy<InvalidArgument>([&] { session.Run({{"x", std::move(value)}}); });
  };
  EXPECT_EQ(error(Tensor(TensorType::kDouble, Shape{2, 3})),
            "input \"x\": expected tensor(float)[N,3], got tensor(double)[2,3]");
  EXPECT_EQ(error(Tensor(TensorType::kFloat, Shape{2, 4})),
            "input \"x\": expected tensor(float)[N,3], got tensor(float)[2,4]");
  EXPECT_EQ(error(Tensor(TensorType::kFloat, Shape{3})),
            "input \"x\": expected tensor(float)[N,3], got tensor(float)[3]");
  EXPECT_EQ(error(Sequence(TensorType::kFloat)),
            "input \"x\": expected tensor(float)[N,3], got seq(tensor(float)), 0 elements");
  EXPECT_EQ(error({}), "input \"x\": expected tensor(float)[N,3], got nothing");
  EXPECT_EQ(error(Tensor()), "input \"x\": expected tensor(float)[N,3], got tensor(undefined)");
  EXPECT_EQ(session.Run({{"x", Tensor::Of<float>(Shape{0, 3}, std::initializer_list<float>{})}}).at("y").TypeString(),
            "tensor(float)[0,3]");
}

TEST(FeedsTest, MissingAndUnknownNames) {
  const Session session = FromText("g (float[N] x, float[N] z) => (float[N] y) { y = Add(x, z) }");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}}); }),
            "input \"z\": is missing, expected tensor(float)[N]");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}, {"z", Vec({1})}, {"q", Vec({1})}}); }),
            "input \"q\": the model has no such input; its inputs are \"x\", \"z\"");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}, {"Z", Vec({1})}}); }),
            "input \"Z\": the model has no such input; its inputs are \"x\", \"z\"");
}

TEST(FeedsTest, OneSymbolHasOneSizeOverAllInputs) {
  const Session session = FromText("g (float[N,M] a, float[M,N] b) => (float[N,M] y) { y = Neg(a) }");
  EXPECT_EQ(
      ThrownBy<InvalidArgument>([&] {
        session.Run({{"a", Tensor(TensorType::kFloat, Shape{2, 3})}, {"b", Tensor(TensorType::kFloat, Shape{3, 4})}});
      }),
      "input \"b\": expected tensor(float)[M,N], got tensor(float)[3,4]: N is 2 in input \"a\"");
  EXPECT_EQ(
      session.Run({{"a", Tensor(TensorType::kFloat, Shape{2, 3})}, {"b", Tensor(TensorType::kFloat, Shape{3, 2})}})
          .size(),
      1u);
  const Session square = FromText("g (float[N,N] a) => (float[N,N] y) { y = Neg(a) }");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { square.Run({{"a", Tensor(TensorType::kFloat, Shape{2, 3})}}); }),
            "input \"a\": expected tensor(float)[N,N], got tensor(float)[2,3]: N is 2 in input \"a\"");
}

Map Numbers(const Tensor& keys) {
  Sequence values(TensorType::kFloat);
  for (int64_t i = 0; i < keys.NumElements(); ++i) values.Append(Tensor::Scalar<float>(1));
  return Map(keys, values);
}

TEST(FeedsTest, MapsAgainstTheirDeclaration) {
  const Session session = FromText(
      "g (float[1] x, optional(map(int64, float)) m, optional(seq(map(string, float[2]))) s) => (float[1] y) "
      "{ y = Neg(x) }");
  EXPECT_EQ(session.inputs()[1].type, "optional(map(int64,tensor(float)))");
  const auto error = [&](const std::string& name, const Value& value) {
    return ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}, {name, value}}); });
  };
  const Tensor numbers = Tensor::Of<int64_t>(Shape{2}, {1, 2}), text = Tensor::Of<std::string>(Shape{1}, {"a"});
  EXPECT_EQ(error("m", Numbers(numbers)), "nothing thrown");
  EXPECT_EQ(error("m", Map(Tensor(TensorType::kInt64, Shape{0}), Sequence())), "nothing thrown");
  EXPECT_EQ(error("m", Numbers(text)),
            "input \"m\": expected optional(map(int64,tensor(float)[])), got map(string,tensor(float)), 1 entry");
  EXPECT_EQ(error("m", Map(numbers, Sequence({Vec({1}).tensor(), Vec({2}).tensor()}))),
            "input \"m\": expected optional(map(int64,tensor(float)[])), got tensor(float)[1] as value 0");
  EXPECT_EQ(error("m", Vec({1})), "input \"m\": expected optional(map(int64,tensor(float)[])), got tensor(float)[1]");
  EXPECT_EQ(error("s", Sequence()), "nothing thrown");
  EXPECT_EQ(error("s", Sequence::OfValues({Map(text, Sequence({Vec({1, 2}).tensor()}))})), "nothing thrown");
  EXPECT_EQ(error("s", Sequence::OfValues({Map(text, Sequence({Vec({1, 2}).tensor()})), Numbers(text)})),
            "input \"s\": expected optional(seq(map(string,tensor(float)[2]))), got tensor(float)[] as value 0 as "
            "element 1");
  EXPECT_EQ(error("s", Sequence({Vec({1}).tensor()})),
            "input \"s\": expected optional(seq(map(string,tensor(float)[2]))), got seq(tensor(float)), 1 element");
}

TEST(FeedsTest, UnknownRankAndDims) {
  const Session session = FromText("g (float[] x, float[?] z) => (float[] y) { y = Neg(x) }");
  EXPECT_EQ(session.Run({{"x", Tensor::Scalar<float>(1)}, {"z", Vec({1})}}).at("y").TypeString(), "tensor(float)[]");
  EXPECT_EQ(session.Run({{"x", Tensor(TensorType::kFloat, Shape{1, 2})}, {"z", Vec({1, 2})}}).at("y").TypeString(),
            "tensor(float)[1,2]");
}

TEST(FeedsTest, Sequences) {
  const Session session = FromText("g (seq(float[2]) s) => (int64 n) { n = SequenceLength(s) }");
  const auto error = [&](Value value) {
    return ThrownBy<InvalidArgument>([&] { session.Run({{"s", std::move(value)}}); });
  };
  EXPECT_EQ(error(Sequence({Tensor::Scalar<int64_t>(1)})),
            "input \"s\": expected seq(tensor(float)[2]), got seq(tensor(int64)), 1 element");
  EXPECT_EQ(error(Sequence({Vec({1, 2}).tensor(), Vec({1}).tensor()})),
            "input \"s\": expected seq(tensor(float)[2]), got tensor(float)[1] as element 1");
  EXPECT_EQ(error(Vec({1, 2})), "input \"s\": expected seq(tensor(float)[2]), got tensor(float)[2]");
  EXPECT_THAT(session.Run({{"s", Sequence()}}).at("n").tensor().View<int64_t>(), ElementsAre(0));
  EXPECT_THAT(session.Run({{"s", Sequence({Vec({1, 2}).tensor()})}}).at("n").tensor().View<int64_t>(), ElementsAre(1));
}

TEST(FeedsTest, EmptySequencesTakeTheDeclaredElementType) {
  const Session session = FromText("g (seq(float[2]) s) => (seq(float[2]) t) { t = Identity(s) }");
  EXPECT_EQ(session.Run({{"s", Sequence()}}).at("t").TypeString(), "seq(tensor(float)), 0 elements");
}

TEST(FeedsTest, OptionalInputsMayBeMissingOrNothing) {
  const Session session = FromText("g (optional(float[N]) o) => (optional(float[N]) p) { p = Identity(o) }");
  EXPECT_TRUE(session.Run({}).at("p").IsNone());
  EXPECT_TRUE(session.Run({{"o", Value()}}).at("p").IsNone());
  EXPECT_THAT(Floats(session.Run({{"o", Vec({3})}}).at("p")), ElementsAre(3));
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"o", Tensor::Scalar<int64_t>(1)}}); }),
            "input \"o\": expected optional(tensor(float)[N]), got tensor(int64)[]");
}

TEST(FeedsTest, InitializersOfInputsAreDefaults) {
  const Session session = FromText("g (float[2] x, float[2] w = {10, 20}) => (float[2] y) { y = Add(x, w) }");
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1, 2})}}).at("y")), ElementsAre(11, 22));
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1, 2})}, {"w", Vec({0, 1})}}).at("y")), ElementsAre(1, 3));
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1, 2})}}).at("y")), ElementsAre(11, 22));
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1, 2})}, {"w", Vec({1})}}); }),
            "input \"w\": expected tensor(float)[2], got tensor(float)[1]");
}

TEST(FeedsTest, DeclarationsThatCannotBeFed) {
  const auto error = [](const std::function<void(TypeProto&)>& edit) {
    ModelProto model =
        ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (float[N] y) { y = Neg(x) }");
    TypeProto type;
    edit(type);
    *model.mutable_graph()->mutable_input(0)->mutable_type() = type;
    return ThrownBy<std::invalid_argument>([&] { Session::FromModel(model); });
  };
  EXPECT_EQ(error([](TypeProto&) {}), "graph input \"x\": has no type");
  EXPECT_EQ(error([](TypeProto& t) { t.mutable_tensor_type(); }), "graph input \"x\": has no element type");
  EXPECT_EQ(error([](TypeProto& t) { t.mutable_tensor_type()->set_elem_type(999); }),
            "graph input \"x\": has unknown element type 999");
  EXPECT_EQ(error([](TypeProto& t) { t.mutable_sequence_type(); }), "graph input \"x\": has no type");
  EXPECT_EQ(error([](TypeProto& t) { t.mutable_sparse_tensor_type()->set_elem_type(1); }),
            "graph input \"x\": has type sparse_tensor(float)");
  EXPECT_EQ(error([](TypeProto& t) { t.mutable_map_type()->set_key_type(1); }),
            "graph input \"x\": has key type float");
  EXPECT_EQ(error([](TypeProto& t) {
              t.mutable_tensor_type()->set_elem_type(1);
              t.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(-1);
            }),
            "nothing thrown");
}

TEST(FeedsTest, DescribesInputsAndOutputs) {
  const Session session = FromText(
      "g (float[N,3] x, seq(int64) s, optional(float[]) o, float[?,K] u) => (float[N,3] y, z, int64 n) "
      "{ y = Neg(x) z = Add(x, x) n = SequenceLength(s) }");
  ASSERT_EQ(session.inputs().size(), 4u);
  EXPECT_EQ(session.inputs()[0].name, "x");
  EXPECT_EQ(session.inputs()[0].type, "tensor(float)");
  EXPECT_THAT(Dims(session.inputs()[0]), ElementsAre("N", "3"));
  EXPECT_EQ(session.inputs()[1].type, "seq(tensor(int64))");
  EXPECT_EQ(session.inputs()[1].shape, std::nullopt);
  EXPECT_EQ(session.inputs()[2].type, "optional(tensor(float))");
  EXPECT_EQ(Dims(session.inputs()[3])[1], "K");
  EXPECT_EQ(session.inputs()[0].shape->at(0).size, std::nullopt);
  EXPECT_EQ(session.inputs()[0].shape->at(1).size, 3);
  ASSERT_EQ(session.outputs().size(), 3u);
  EXPECT_EQ(session.outputs()[1].type, "tensor(float)") << "inferred";
  EXPECT_THAT(Dims(session.outputs()[1]), ElementsAre("N", "3"));
  EXPECT_THAT(Dims(session.outputs()[2]), testing::IsEmpty());
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
