// SPDX-License-Identifier: Apache-2.0
// OptimDim, OptimShape, OptimTensor, OptimSequence as documented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <type_traits>
#include <unordered_set>

#include "onnx_optim/optim_sequence.h"
#include "onnx_optim/optim_tensor.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace {

using ::testing::StrEq;

// Runs fn, which must throw an E that is also an Error; returns its text.
template <class E, class Fn>
std::string Thrown(Fn&& fn) {
  try {
    fn();
  } catch (const E& e) {
    const auto* error = dynamic_cast<const Error*>(&e);
    EXPECT_NE(error, nullptr);
    return e.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

TEST(OptimDim, Integers) {
  const std::vector<int> v(3);
  EXPECT_EQ(OptimDim(2).AsInt(), 2);
  EXPECT_EQ(OptimDim(v.size()).AsInt(), 3);
  EXPECT_EQ(OptimDim(0).AsInt(), 0);
  EXPECT_EQ(OptimDim(-1).AsInt(), -1);
  EXPECT_EQ(OptimDim(static_cast<int8_t>(5)).AsInt(), 5);
  EXPECT_EQ(OptimDim(static_cast<uint32_t>(5)).AsInt(), 5);
  EXPECT_EQ(OptimDim(std::numeric_limits<int64_t>::max()).AsInt(), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(OptimDim().IsInt());
  EXPECT_FALSE(OptimDim().IsExpr());
  EXPECT_EQ(OptimDim(7).ToString(), "7");
  const OptimDim implicit = 4;
  EXPECT_EQ(implicit, 4);
  static_assert(!std::is_convertible_v<bool, OptimDim>);
  static_assert(!std::is_convertible_v<char, OptimDim>);
  static_assert(!std::is_constructible_v<OptimDim, std::nullptr_t>);
  static_assert(std::is_convertible_v<const char*, OptimDim>);
  static_assert(std::is_convertible_v<std::string, OptimDim>);
  static_assert(std::is_nothrow_move_constructible_v<OptimDim>);
  EXPECT_THAT(Thrown<std::out_of_range>([] { (void)OptimDim(std::numeric_limits<uint64_t>::max()); }),
              StrEq("dim 18446744073709551615 is larger than 9223372036854775807"));
}

TEST(OptimDim, Expressions) {
  const OptimDim n = "N";
  EXPECT_TRUE(n.IsExpr());
  EXPECT_FALSE(n.IsInt());
  EXPECT_EQ(n.AsExpr(), "N");
  EXPECT_EQ(n.ToString(), "N");
  EXPECT_EQ(OptimDim(std::string("N")), n);
  EXPECT_EQ(n, "N");
  EXPECT_NE(n, 3);
  EXPECT_EQ(OptimDim("N") + 1, OptimDim("1+N"));
  EXPECT_EQ(1 + n, n + 1);
  EXPECT_EQ((2 * n - 1).AsExpr(), "2*N-1");
  EXPECT_EQ(OptimDim(static_cast<const char*>(nullptr)).AsExpr(), "");
  EXPECT_EQ(OptimDim::Symbol("a+b").AsExpr(), "a+b");
  EXPECT_EQ(OptimDim::Symbol("N"), n);
}

TEST(OptimDim, WrongKindThrows) {
  EXPECT_THAT(Thrown<std::bad_variant_access>([] { (void)OptimDim("N+1").AsInt(); }),
              StrEq("dim 'N+1' is an expression, not an integer"));
  EXPECT_THAT(Thrown<std::bad_variant_access>([] { (void)OptimDim(3).AsExpr(); }),
              StrEq("dim 3 is an integer, not an expression"));
}

TEST(OptimDim, CopiesAndMoves) {
  OptimDim a = OptimDim("N") + 1;
  OptimDim b = a;
  b += 1;
  EXPECT_EQ(a.AsExpr(), "N+1");
  EXPECT_EQ(b.AsExpr(), "N+2");
  OptimDim c = std::move(b);
  EXPECT_EQ(c.AsExpr(), "N+2");
  a = c;
  EXPECT_EQ(a, c);
  const OptimDim& alias = a;
  a = alias;
  EXPECT_EQ(a.AsExpr(), "N+2");
  a *= a;
  EXPECT_EQ(a.AsExpr(), "N*N+4*N+4");
  a -= a;
  EXPECT_EQ(a, 0);
  const std::unordered_set<OptimDim> set{OptimDim("N"), OptimDim("N"), 3};
  EXPECT_EQ(set.size(), 2u);
  std::ostringstream out;
  out << c << " " << OptimDim(5);
  EXPECT_EQ(out.str(), "N+2 5");
}

TEST(OptimShape, Construction) {
  const OptimShape shape{2, "N", OptimDim("M") + 1};
  EXPECT_EQ(shape.Rank(), 3u);
  EXPECT_FALSE(shape.Empty());
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[1], "N");
  EXPECT_EQ(shape.ToString(), "[2,N,M+1]");
  EXPECT_EQ(OptimShape(std::vector<OptimDim>{2, "N"}), (OptimShape{2, "N"}));
  EXPECT_EQ(OptimShape(std::vector<int64_t>{2, 3}), (OptimShape{2, 3}));
  EXPECT_EQ(OptimShape({2, 3}).Rank(), 2u);
  EXPECT_EQ(OptimShape().ToString(), "[]");
  EXPECT_EQ(shape.Dims().size(), 3u);
  OptimShape edit = shape;
  edit[0] = 5;
  edit.PushBack(7);
  EXPECT_EQ(edit.ToString(), "[5,N,M+1,7]");
  EXPECT_EQ(edit.Hash(), (OptimShape{5, "N", "1+M", 7}).Hash());
}

TEST(OptimShape, PastTheRankThrows) {
  const OptimShape shape{2, "N"};
  EXPECT_THAT(Thrown<std::out_of_range>([&] { (void)shape[2]; }), StrEq("axis 2 of shape [2,N] of rank 2"));
  OptimShape edit = shape;
  EXPECT_THAT(Thrown<std::out_of_range>([&] { edit[7] = 1; }), StrEq("axis 7 of shape [2,N] of rank 2"));
  EXPECT_THAT(Thrown<std::out_of_range>([] { (void)OptimShape::Unknown()[0]; }),
              StrEq("axis 0 of a shape of unknown rank"));
}

TEST(OptimShape, AtMost64Dims) {
  OptimShape shape(std::vector<OptimDim>(64, 1));
  EXPECT_EQ(shape.Rank(), 64u);
  EXPECT_THAT(Thrown<std::length_error>([&] { shape.PushBack(1); }), StrEq("a shape of 65 dims is longer than 64"));
  EXPECT_EQ(shape.Rank(), 64u);
  EXPECT_THAT(Thrown<std::length_error>([] { (void)OptimShape{std::vector<OptimDim>(65, 1)}; }),
              StrEq("a shape of 65 dims is longer than 64"));
  EXPECT_THROW(OptimShape(std::vector<int64_t>(65, 1)), std::length_error);
}

TEST(OptimShape, NumElements) {
  EXPECT_EQ((OptimShape{2, 3, 4}).NumElements(), 24);
  EXPECT_EQ(OptimShape().NumElements(), 1);
  EXPECT_EQ((OptimShape{2, 0}).NumElements(), 0);
  EXPECT_TRUE((OptimShape{2, 3}).IsFullyKnown());
  EXPECT_TRUE(OptimShape().IsFullyKnown());
  EXPECT_FALSE((OptimShape{2, "N"}).IsFullyKnown());
  EXPECT_FALSE(OptimShape::Unknown().IsFullyKnown());
  EXPECT_THAT(Thrown<std::runtime_error>([] { (void)OptimShape{2, "N"}.NumElements(); }),
              StrEq("shape [2,N] has no known number of elements"));
  EXPECT_THAT(Thrown<std::runtime_error>([] { (void)OptimShape::Unknown().NumElements(); }),
              StrEq("shape [?] has no known number of elements"));
  EXPECT_THAT(Thrown<std::runtime_error>([] { (void)OptimShape{int64_t{1} << 40, int64_t{1} << 40}.NumElements(); }),
              StrEq("shape [1099511627776,1099511627776] has more elements than 64 bits count"));
  EXPECT_EQ((OptimShape{2, "N", 3}).SymbolicNumElements(), 6 * OptimDim("N"));
  EXPECT_EQ(OptimShape::Unknown().SymbolicNumElements(), std::nullopt);
}

TEST(OptimShape, UnknownRankIsNoScalarInside) {
  const OptimShape unknown = OptimShape::Unknown(), scalar;
  EXPECT_TRUE(unknown.IsUnknown());
  EXPECT_FALSE(scalar.IsUnknown());
  EXPECT_EQ(unknown.Rank(), 0u);
  EXPECT_TRUE(unknown.Empty());
  EXPECT_EQ(unknown, scalar);
  EXPECT_FALSE(SameShape(unknown, scalar));
  EXPECT_TRUE(SameShape(unknown, OptimShape::Unknown()));
  EXPECT_TRUE(SameShape(OptimShape{2}, OptimShape{2}));
  EXPECT_FALSE(SameShape(OptimShape{2}, OptimShape{3}));
  EXPECT_EQ(unknown.ToString(), "[?]");
  OptimShape grown = unknown;
  grown.PushBack(3);
  EXPECT_FALSE(grown.IsUnknown());
  EXPECT_EQ(grown.ToString(), "[3]");
}

TEST(OptimTensor, Fields) {
  float data[6] = {};
  OptimTensor tensor(data, TensorType::kFloat, {2, 3});
  EXPECT_EQ(tensor.Data(), data);
  EXPECT_FALSE(tensor.IsNull());
  EXPECT_EQ(tensor.Dtype(), TensorType::kFloat);
  EXPECT_EQ(tensor.Shape(), (OptimShape{2, 3}));
  tensor.Shape()[0] = "N";
  EXPECT_EQ(tensor.ToString(), "tensor(float)[N,3]");
  EXPECT_EQ(OptimTensor(nullptr, TensorType::kInt64, OptimShape::Unknown()).ToString(), "tensor(int64)");
  EXPECT_EQ(OptimTensor(nullptr, TensorType::kInt64, {}).ToString(), "tensor(int64)[]");
  EXPECT_TRUE(OptimTensor().IsNull());
  EXPECT_TRUE(OptimTensor().Shape().IsUnknown());
  EXPECT_NE(tensor, OptimTensor(nullptr, TensorType::kFloat, {"N", 3}));
  EXPECT_EQ(tensor, OptimTensor(data, TensorType::kFloat, {"N", 3}));
  EXPECT_NE(tensor, OptimTensor(data, TensorType::kInt32, {"N", 3}));
}

TEST(OptimTensor, ValueAsShape) {
  OptimTensor tensor(nullptr, TensorType::kInt64, {2});
  EXPECT_FALSE(tensor.HasValueAsShape());
  EXPECT_THAT(Thrown<std::bad_optional_access>([&] { (void)tensor.ValueAsShape(); }),
              StrEq("the tensor has no known value"));
  EXPECT_THROW((void)std::as_const(tensor).ValueAsShape(), std::bad_optional_access);
  tensor.SetValueAsShape({1, 2});
  EXPECT_TRUE(tensor.HasValueAsShape());
  EXPECT_EQ(tensor.ValueAsShape(), (OptimShape{1, 2}));
  tensor.ValueAsShape()[0] = "N";
  EXPECT_EQ(std::as_const(tensor).ValueAsShape().ToString(), "[N,2]");
  OptimTensor other = tensor;
  EXPECT_EQ(other, tensor);
  other.ClearValueAsShape();
  EXPECT_FALSE(other.HasValueAsShape());
  EXPECT_NE(other, tensor);
}

TEST(OptimSequence, Default) {
  const OptimSequence sequence;
  EXPECT_EQ(sequence.ElemDtype(), TensorType::kUndefined);
  EXPECT_FALSE(sequence.HasElemDtype());
  EXPECT_FALSE(sequence.HasElemShapes());
  EXPECT_EQ(sequence.Length(), 0);
  EXPECT_FALSE(sequence.HasElem());
  EXPECT_THAT(Thrown<std::bad_optional_access>([&] { (void)sequence.Elem(); }),
              StrEq("the sequence has no known element"));
}

TEST(OptimSequence, OfShapes) {
  OptimSequence sequence(TensorType::kFloat, std::vector<OptimShape>{{2, 3}, {"N"}});
  EXPECT_EQ(sequence.Length(), 2);
  EXPECT_TRUE(sequence.HasElemShapes());
  EXPECT_TRUE(sequence.HasElemDtype());
  EXPECT_EQ(sequence.ElemShapes()[1], OptimShape{"N"});
  // Editing in place leaves the length.
  sequence.ElemShapes().push_back(OptimShape{1});
  EXPECT_EQ(sequence.Length(), 2);
  sequence.SetElemShapes({{1}, {2}, {3}});
  EXPECT_EQ(sequence.Length(), 3);
  sequence.ClearElemShapes();
  EXPECT_FALSE(sequence.HasElemShapes());
  EXPECT_TRUE(sequence.ElemShapes().empty());
  EXPECT_EQ(sequence.Length(), 3);
  sequence.SetLength("L");
  EXPECT_EQ(sequence.Length(), "L");
  sequence.Length() = 4;
  EXPECT_EQ(sequence.Length(), 4);
  sequence.SetElemDtype(TensorType::kUndefined);
  EXPECT_FALSE(sequence.HasElemDtype());
  const OptimSequence empty(TensorType::kFloat, {});
  EXPECT_TRUE(empty.HasElemShapes());
  EXPECT_EQ(empty.Length(), 0);
  EXPECT_NE(empty, OptimSequence(TensorType::kFloat, 0));
  EXPECT_EQ(OptimSequence(TensorType::kFloat, {{2, 3}, {4}}).Length(), 2);
}

TEST(OptimSequence, OfLength) {
  OptimSequence sequence(TensorType::kFloat, "L");
  EXPECT_FALSE(sequence.HasElemShapes());
  EXPECT_EQ(sequence.Length(), "L");
  EXPECT_EQ(sequence.ToString(), "seq(tensor(float), length L)");
  EXPECT_EQ(OptimSequence(TensorType::kFloat, 3).Length(), 3);
  sequence.SetElem(OptimTensor(nullptr, TensorType::kFloat, {"N", 3}));
  EXPECT_TRUE(sequence.HasElem());
  EXPECT_EQ(sequence.Elem().Shape(), (OptimShape{"N", 3}));
  EXPECT_EQ(sequence.ToString(), "seq(tensor(float)[N,3], length L)");
  EXPECT_NE(sequence, OptimSequence(TensorType::kFloat, "L"));
  sequence.ClearElem();
  EXPECT_EQ(sequence, OptimSequence(TensorType::kFloat, "L"));
  EXPECT_EQ(OptimSequence(TensorType::kFloat, {{2}, {2}}).ToString(), "seq(tensor(float)[2], length 2)");
  EXPECT_EQ(OptimSequence(TensorType::kFloat, {{2}, {3}}).ToString(), "seq(tensor(float), length 2)");
}

TEST(TensorType, Documented) {
  EXPECT_EQ(static_cast<int32_t>(TensorType::kFloat), 1);
  EXPECT_EQ(DataTypeToTensorType(7), TensorType::kInt64);
  EXPECT_EQ(DataTypeToTensorType(999), TensorType::kUndefined);
  EXPECT_EQ(TensorTypeToDataType(TensorType::kBfloat16), 16);
  EXPECT_TRUE(IsIntegerTensorType(TensorType::kUint4));
  EXPECT_FALSE(IsIntegerTensorType(TensorType::kBool));
  EXPECT_EQ(ToTypeString(TensorType::kFloat), "tensor(float)");
}

}  // namespace
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
