// SPDX-License-Identifier: Apache-2.0
// ShapeValue: kinds, values, conversions, joins, unification.
#include "onnx_optim/shapes/shape_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

ShapeValue Float(OptimShape shape) { return ShapeValue::Tensor(TensorType::kFloat, std::move(shape)); }
ShapeValue Seq(OptimDim length, ShapeValue elem) {
  return ShapeValue::Sequence(SequenceInfo::Summary(std::move(length), std::move(elem)));
}

template <class Fn>
std::string Refused(Fn&& fn) {
  try {
    fn();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(ShapeValue, Spelling) {
  EXPECT_EQ(ShapeValue().ToString(), "unknown");
  EXPECT_EQ(Float({2, "N"}).ToString(), "tensor(float)[2,N]");
  EXPECT_EQ(Float({}).ToString(), "tensor(float)[]");
  EXPECT_EQ(Float(OptimShape::Unknown()).ToString(), "tensor(float)");
  EXPECT_EQ(Seq(4, Float({"N", 3})).ToString(), "seq(tensor(float)[N,3], length 4)");
  EXPECT_EQ(ShapeValue::Optional(Float({2}), true).ToString(), "optional(tensor(float)[2])");
  EXPECT_EQ(ShapeValue::Map(TensorType::kInt64, Float({"N"})).ToString(), "map(int64,tensor(float)[N])");
  EXPECT_EQ(ShapeValue::Sparse(TensorType::kFloat, {3, 4}).ToString(), "sparse_tensor(float)[3,4]");
  EXPECT_EQ(Seq("L", ShapeValue::Map(TensorType::kString, Float({}))).ToString(),
            "seq(map(string,tensor(float)[]), length L)");
}

TEST(ShapeValue, WrongKind) {
  EXPECT_THROW((void)Float({2}).SequenceOf(), std::bad_variant_access);
  try {
    (void)Float({2, "N"}).SequenceOf();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), StrEq("must be a sequence, got tensor(float)[2,N]"));
  }
  try {
    (void)Float({2}).Elem();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), StrEq("must be an optional or a map, got tensor(float)[2]"));
  }
}

TEST(ShapeValue, KnownElements) {
  const ShapeValue scalar = ShapeValue::Int64Scalar("N");
  EXPECT_EQ(scalar.ScalarValue(), OptimDim("N"));
  EXPECT_TRUE(SameShape(scalar.Shape(), OptimShape()));
  const ShapeValue vector = ShapeValue::Int64Vector({2, "N"});
  EXPECT_EQ(vector.Shape(), OptimShape{2});
  ASSERT_TRUE(vector.VectorValue());
  EXPECT_THAT(*vector.VectorValue(), ElementsAre(OptimDim(2), OptimDim("N")));
  EXPECT_EQ(vector.ScalarValue(), std::nullopt);
  const ShapeValue partial = ShapeValue::TensorWithValue(TensorType::kInt64, {2}, {OptimDim(1), std::nullopt});
  EXPECT_FALSE(partial.HasFullValue());
  EXPECT_EQ(partial.VectorValue(), std::nullopt);
  ASSERT_NE(partial.Elements(), nullptr);
  EXPECT_EQ((*partial.Elements())[0], OptimDim(1));
  // What does not fit the shape, is too much, or says nothing is dropped.
  EXPECT_EQ(ShapeValue::TensorWithValue(TensorType::kInt64, {3}, {OptimDim(1)}).Elements(), nullptr);
  EXPECT_EQ(ShapeValue::TensorWithValue(TensorType::kInt64, {"N"}, {OptimDim(1)}).Elements(), nullptr);
  EXPECT_EQ(ShapeValue::TensorWithValue(TensorType::kInt64, {1}, {std::nullopt}).Elements(), nullptr);
  EXPECT_EQ(ShapeValue::TensorWithValue(TensorType::kInt64, {1025}, KnownElements(1025, 1)).Elements(), nullptr);
  EXPECT_NE(ShapeValue::TensorWithValue(TensorType::kInt64, {1024}, KnownElements(1024, 1)).Elements(), nullptr);
  // An empty vector is known.
  EXPECT_THAT(*ShapeValue::Int64Vector({}).VectorValue(), ElementsAre());
  const ShapeValue matrix = ShapeValue::TensorWithValue(TensorType::kInt32, {2, 2}, KnownElements(4, 1));
  EXPECT_TRUE(matrix.HasFullValue());
  EXPECT_EQ(matrix.VectorValue(), std::nullopt);
  EXPECT_EQ(vector.WithoutValue().Elements(), nullptr);
  EXPECT_NE(vector, vector.WithoutValue());
  const KnownFloat half{1, 1, 0.5};
  const ShapeValue scales = Float({2}).WithFloats({half, std::nullopt});
  EXPECT_THAT(*scales.Floats(), ElementsAre(half, std::nullopt));
  EXPECT_EQ(Float({3}).WithFloats({half}).Floats(), nullptr);
  EXPECT_EQ(Float({1}).WithFloats({std::nullopt}).Floats(), nullptr);
}

TEST(ShapeValue, TensorConversionsLoseNothing) {
  OptimTensor tensor(nullptr, TensorType::kInt64, {2});
  tensor.SetValueAsShape({1, "N"});
  EXPECT_EQ(ShapeValue(tensor).ToOptimTensor(), tensor);
  OptimTensor scalar(nullptr, TensorType::kInt64, {});
  scalar.SetValueAsShape({5});
  EXPECT_EQ(ShapeValue(scalar).ScalarValue(), OptimDim(5));
  EXPECT_EQ(ShapeValue(scalar).ToOptimTensor(), scalar);
  const OptimTensor unknown(nullptr, TensorType::kFloat, OptimShape::Unknown());
  EXPECT_TRUE(ShapeValue(unknown).ToOptimTensor().Shape().IsUnknown());
  const OptimTensor plain(nullptr, TensorType::kFloat, {2, "N"});
  EXPECT_EQ(ShapeValue(plain).ToOptimTensor(), plain);
  // A value of more than 64 elements is kept inside only.
  EXPECT_FALSE(ShapeValue::Int64Vector(std::vector<OptimDim>(65, 1)).ToOptimTensor().HasValueAsShape());
  EXPECT_EQ(Seq(1, Float({2})).ToOptimTensor(), OptimTensor());
}

TEST(ShapeValue, SequenceConversionsLoseNothing) {
  for (const OptimSequence& sequence :
       {OptimSequence(TensorType::kFloat, {{2, 3}, {"N"}}), OptimSequence(TensorType::kFloat, {}),
        OptimSequence(TensorType::kFloat, "L"), OptimSequence(TensorType::kUndefined, 3), OptimSequence()}) {
    EXPECT_EQ(ShapeValue(sequence).ToOptimSequence(), sequence) << sequence;
  }
  // Shapes that agree are the element's too.
  const ShapeValue alike(OptimSequence(TensorType::kFloat, {{2}, {2}}));
  EXPECT_EQ(alike.SequenceOf().elem, Float({2}));
  OptimSequence summary(TensorType::kFloat, "L");
  summary.SetElem(OptimTensor(nullptr, TensorType::kFloat, {"N", 3}));
  EXPECT_EQ(ShapeValue(summary).ToOptimSequence(), summary);
  EXPECT_EQ(ShapeValue(summary).SequenceOf().elem, Float({"N", 3}));
  OptimSequence edited(TensorType::kFloat, {{2}});
  edited.ElemShapes().push_back(OptimShape{3});
  EXPECT_FALSE(ShapeValue(edited).SequenceOf().elements.has_value());
  EXPECT_EQ(Float({2}).ToOptimSequence(), OptimSequence());
}

TEST(SequenceInfo, ListAndSummary) {
  ShapesContext ctx;
  const SequenceInfo list = SequenceInfo::Of({Float({"N", 3}), Float({"M", 3})}, ctx);
  EXPECT_EQ(list.length, 2);
  EXPECT_EQ(list.elem.Shape()[1], 3);
  EXPECT_TRUE(IsFresh(list.elem.Shape()[0]));
  EXPECT_THAT(list.varying, ElementsAre(list.elem.Shape()[0].AsExpr()));
  EXPECT_EQ(list.AxisSum(0), OptimDim("M+N"));
  EXPECT_EQ(list.AxisSum(1), OptimDim(6));
  EXPECT_EQ(list.AxisSum(2), std::nullopt);
  EXPECT_EQ(list.AxisSum(-1), std::nullopt);
  // Two elements taken from it need not agree.
  const ShapeValue first = list.AnyElement(ctx), second = list.AnyElement(ctx);
  EXPECT_NE(first.Shape()[0], second.Shape()[0]);
  EXPECT_EQ(first.Shape()[1], 3);

  const SequenceInfo mixed = SequenceInfo::Of({Float({2}), Float({2, 3})}, ctx);
  EXPECT_FALSE(mixed.elem.HasRank());
  EXPECT_EQ(mixed.ElemDtype(), TensorType::kFloat);

  const SequenceInfo summary = SequenceInfo::Summary("L", Float({"N", 3}));
  EXPECT_EQ(summary.AxisSum(0), OptimDim("L") * OptimDim("N"));
  EXPECT_EQ(summary.AnyElement(ctx), Float({"N", 3}));
  SequenceInfo pieces = SequenceInfo::Summary("L", Float({ctx.FreshDim(), 3}));
  EXPECT_EQ(pieces.AxisSum(0), std::nullopt);
  pieces.axis_sums.emplace(0, "N");
  EXPECT_EQ(pieces.AxisSum(0), OptimDim("N"));
  EXPECT_EQ(SequenceInfo::Empty(TensorType::kFloat).AxisSum(0), OptimDim(0));
  EXPECT_TRUE(SequenceInfo::Empty(TensorType::kFloat).IsKnownEmpty());
  EXPECT_EQ(SequenceInfo::Of({}, ctx).length, 0);
}

TEST(Join, Dims) {
  ShapesContext ctx;
  EXPECT_EQ(JoinDims("N", "N", ctx), "N");
  const OptimDim joined = JoinDims(2, 5, ctx);
  EXPECT_TRUE(IsFresh(joined));
  EXPECT_EQ(ctx.Bounds(joined), (Interval{2, 5}));
  ctx.AddConstraint("N", "M");
  EXPECT_EQ(JoinDims("N", "M", ctx), "N");
}

TEST(Join, Tensors) {
  ShapesContext ctx;
  const ShapeValue joined = Join(Float({2, "N"}), Float({2, "M"}), ctx);
  EXPECT_EQ(joined.Shape()[0], 2);
  EXPECT_TRUE(IsFresh(joined.Shape()[1]));
  EXPECT_FALSE(Join(Float({2}), Float({2, 3}), ctx).HasRank());
  EXPECT_FALSE(Join(Float({}), Float(OptimShape::Unknown()), ctx).HasRank());
  EXPECT_TRUE(Join(Float({2}), ShapeValue::Tensor(TensorType::kInt64, {2}), ctx).IsUnknown());
  EXPECT_EQ(Join(Float({2}), ShapeValue::Tensor(TensorType::kUndefined, {2}), ctx).Dtype(), TensorType::kUndefined);
  EXPECT_TRUE(Join(Float({2}), Seq(2, Float({2})), ctx).IsUnknown());
  const ShapeValue values = Join(ShapeValue::Int64Vector({1, "N", 3}), ShapeValue::Int64Vector({1, "N", 4}), ctx);
  EXPECT_EQ(*values.Elements(), (KnownElements{OptimDim(1), OptimDim("N"), std::nullopt}));
  EXPECT_TRUE(
      Join(ShapeValue::Sparse(TensorType::kFloat, {2}), ShapeValue::Sparse(TensorType::kFloat, {3}), ctx).IsSparse());
  EXPECT_TRUE(JoinAll({}, ctx).IsUnknown());
  EXPECT_EQ(JoinAll({Float({2}), Float({2})}, ctx), Float({2}));
}

TEST(Join, Sequences) {
  ShapesContext ctx;
  const ShapeValue one = ShapeValue::Sequence(SequenceInfo::Of({Float({"N"})}, ctx));
  const ShapeValue empty = ShapeValue::Sequence(SequenceInfo::Empty(TensorType::kFloat));
  // An empty one adds nothing but its length.
  const ShapeValue maybe = Join(one, empty, ctx);
  EXPECT_EQ(maybe.SequenceOf().elem, Float({"N"}));
  EXPECT_FALSE(maybe.SequenceOf().elements.has_value());
  EXPECT_EQ(ctx.Bounds(maybe.SequenceOf().length), (Interval{0, 1}));
  const ShapeValue lists = Join(ShapeValue::Sequence(SequenceInfo::Of({Float({2}), Float({"N"})}, ctx)),
                                ShapeValue::Sequence(SequenceInfo::Of({Float({2}), Float({"M"})}, ctx)), ctx);
  ASSERT_TRUE(lists.SequenceOf().elements.has_value());
  EXPECT_EQ((*lists.SequenceOf().elements)[0], Float({2}));
  EXPECT_TRUE(IsFresh((*lists.SequenceOf().elements)[1].Shape()[0]));
  // [N] for all or [M] for all: still one number for all.
  const ShapeValue shared = Join(Seq("L", Float({"N"})), Seq("L", Float({"M"})), ctx);
  EXPECT_TRUE(shared.SequenceOf().varying.empty());
  EXPECT_EQ(shared.SequenceOf().length, "L");
  const ShapeValue varying = Join(Seq("L", Float({ctx.FreshDim()})), Seq("L", Float({"M"})), ctx);
  EXPECT_EQ(varying.SequenceOf().varying.size(), 1u);
  const ShapeValue clash = Join(one, ShapeValue::Sequence(SequenceInfo::Empty(TensorType::kInt64)), ctx);
  EXPECT_TRUE(clash.SequenceOf().elem.IsUnknown());
  SequenceInfo a = SequenceInfo::Summary("L", Float({ctx.FreshDim()}));
  a.axis_sums.emplace(0, "S");
  SequenceInfo b = SequenceInfo::Summary("K", Float({ctx.FreshDim()}));
  b.axis_sums.emplace(0, "S");
  EXPECT_EQ(Join(ShapeValue::Sequence(a), ShapeValue::Sequence(b), ctx).SequenceOf().AxisSum(0), OptimDim("S"));
}

TEST(Join, OptionalsAndMaps) {
  ShapesContext ctx;
  const ShapeValue some = ShapeValue::Optional(Float({"N"}), true);
  const ShapeValue none = ShapeValue::Optional(Float(OptimShape::Unknown()), false);
  EXPECT_EQ(Join(some, none, ctx), ShapeValue::Optional(Float({"N"}), std::nullopt));
  EXPECT_EQ(Join(none, some, ctx), ShapeValue::Optional(Float({"N"}), std::nullopt));
  EXPECT_EQ(Join(some, some, ctx), some);
  EXPECT_TRUE(Join(ShapeValue::Map(TensorType::kInt64, Float({})), ShapeValue::Map(TensorType::kString, Float({})), ctx)
                  .IsUnknown());
  EXPECT_FALSE(
      Join(ShapeValue::Map(TensorType::kInt64, Float({2})), ShapeValue::Map(TensorType::kInt64, Float({2, 3})), ctx)
          .Elem()
          .HasRank());
}

TEST(Unify, Dims) {
  ShapesContext ctx;
  EXPECT_EQ(UnifyDims(2, 2, ctx), 2);
  EXPECT_EQ(UnifyDims("N", 4, ctx), 4);
  EXPECT_EQ(ctx.Simplify(OptimDim("N")), 4);
  EXPECT_EQ(UnifyDims(4, "N", ctx), 4);
  EXPECT_EQ(UnifyDims("A", "B", ctx), "A");
  EXPECT_TRUE(ctx.Equal("A", "B"));
  const OptimDim fresh = ctx.FreshDim();
  EXPECT_EQ(UnifyDims(fresh, "C", ctx), "C");
  EXPECT_EQ(ctx.Simplify(fresh), "C");
  EXPECT_EQ(Refused([&] { UnifyDims(2, 3, ctx); }), "dims 2 and 3 differ");
  EXPECT_EQ(Refused([&] { UnifyDims("N", 5, ctx, "MatMul node \"m\""); }),
            "dims N and 5 differ, says MatMul node \"m\"");
  EXPECT_EQ(Refused([&] { UnifyDims("K", OptimDim("K") + 1, ctx); }), "dims K and K+1 differ");
}

TEST(Unify, Values) {
  ShapesContext ctx;
  EXPECT_EQ(Unify(Float({2, "N"}), Float({"M", 3}), ctx), Float({2, 3}));
  EXPECT_EQ(Unify(Float(OptimShape::Unknown()), Float({2}), ctx), Float({2}));
  EXPECT_EQ(Unify(ShapeValue::Tensor(TensorType::kUndefined, {2}), Float({2}), ctx), Float({2}));
  EXPECT_EQ(Unify(ShapeValue(), Float({2}), ctx), Float({2}));
  EXPECT_EQ(Unify(Float({2}), ShapeValue(), ctx), Float({2}));
  EXPECT_EQ(Refused([&] { Unify(Float({2}), Float({2, 3}), ctx); }), "ranks 1 of [2] and 2 of [2,3] differ");
  EXPECT_EQ(Refused([&] { Unify(Float({2}), ShapeValue::Tensor(TensorType::kInt64, {2}), ctx); }),
            "element types float and int64 differ");
  EXPECT_EQ(Refused([&] { Unify(Float({2}), Seq(2, Float({2})), ctx); }),
            "kinds of tensor(float)[2] and seq(tensor(float)[2], length 2) differ");
  EXPECT_EQ(Refused([&] { Unify(ShapeValue::Optional(Float({}), true), ShapeValue::Optional(Float({}), false), ctx); }),
            "optionals with a value and without differ");
  EXPECT_EQ(Unify(ShapeValue::Int64Vector({1, "K"}), ShapeValue::Int64Vector({"J", 2}), ctx),
            ShapeValue::Int64Vector({1, 2}));
  const ShapeValue list = ShapeValue::Sequence(SequenceInfo::Of({Float({2}), Float({3})}, ctx));
  const ShapeValue both = Unify(Seq("L", Float({ctx.FreshDim()})), list, ctx);
  EXPECT_EQ(both.SequenceOf().length, 2);
  ASSERT_TRUE(both.SequenceOf().elements.has_value());
  EXPECT_EQ((*both.SequenceOf().elements)[1], Float({3}));
  EXPECT_EQ(
      Unify(ShapeValue::Map(TensorType::kInt64, Float({"P"})), ShapeValue::Map(TensorType::kInt64, Float({7})), ctx),
      ShapeValue::Map(TensorType::kInt64, Float({7})));
}

TEST(MapDims, ReachesEverything) {
  SequenceInfo info = SequenceInfo::Summary("N", Float({"N", 2}));
  info.axis_sums.emplace(0, "N");
  const auto to_m = [](const OptimDim& dim) { return Substitute(dim, "N", OptimDim("M")); };
  const ShapeValue value = MapDims(ShapeValue::Optional(ShapeValue::Sequence(info), true), to_m);
  EXPECT_EQ(value.Elem().SequenceOf().length, "M");
  EXPECT_EQ(value.Elem().SequenceOf().elem, Float({"M", 2}));
  EXPECT_EQ(value.Elem().SequenceOf().AxisSum(0), OptimDim("M"));
  EXPECT_EQ(MapDims(ShapeValue::Int64Vector({"N", 3}), to_m), ShapeValue::Int64Vector({"M", 3}));
  EXPECT_THAT(SymbolsOf(ShapeValue::Map(TensorType::kInt64, Float({"B", "A+1"}))), ElementsAre("A", "B"));
}

TEST(TypeProtoConversion, Tensors) {
  ShapesContext ctx;
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  EXPECT_EQ(FromTypeProto(type, ctx), Float(OptimShape::Unknown()));
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  shape->add_dim()->set_dim_value(2);
  shape->add_dim()->set_dim_param("N");
  shape->add_dim()->set_dim_param("N-1");
  shape->add_dim()->set_dim_param("past-length");
  shape->add_dim();
  shape->add_dim()->set_dim_value(-1);
  const ShapeValue value = FromTypeProto(type, ctx);
  EXPECT_EQ(value.Shape()[0], 2);
  EXPECT_EQ(value.Shape()[1], "N");
  EXPECT_EQ(value.Shape()[2], OptimDim("N") - 1);
  EXPECT_EQ(value.Shape()[3], OptimDim::Symbol("past-length"));
  EXPECT_TRUE(IsFresh(value.Shape()[4]));
  EXPECT_TRUE(IsFresh(value.Shape()[5]));
  TypeProto out;
  ASSERT_TRUE(ToTypeProto(value, out));
  const auto& written = out.tensor_type().shape();
  EXPECT_EQ(written.dim(0).dim_value(), 2);
  EXPECT_EQ(written.dim(1).dim_param(), "N");
  EXPECT_EQ(written.dim(2).dim_param(), "N-1");
  EXPECT_EQ(written.dim(3).dim_param(), "past-length");
  EXPECT_EQ(written.dim(4).dim_param(), value.Shape()[4].AsExpr());
  EXPECT_FALSE(ToTypeProto(ShapeValue(), out));
  EXPECT_FALSE(ToTypeProto(ShapeValue::Tensor(TensorType::kUndefined, {2}), out));
  EXPECT_EQ(out.tensor_type().elem_type(), TensorProto::FLOAT);
  TypeProto scalar;
  scalar.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  scalar.mutable_tensor_type()->mutable_shape();
  EXPECT_EQ(FromTypeProto(scalar, ctx), Float({}));
  ASSERT_TRUE(ToTypeProto(Float({}), out));
  EXPECT_TRUE(out.tensor_type().has_shape());
  ASSERT_TRUE(ToTypeProto(Float(OptimShape::Unknown()), out));
  EXPECT_FALSE(out.tensor_type().has_shape());
  for (int i = 0; i < 65; ++i) scalar.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1);
  EXPECT_FALSE(FromTypeProto(scalar, ctx).HasRank());
}

TEST(TypeProtoConversion, OtherKinds) {
  ShapesContext ctx;
  for (const ShapeValue& value :
       {ShapeValue::Optional(Float({"N"}), std::nullopt), ShapeValue::Map(TensorType::kInt64, Float({2})),
        ShapeValue::Sparse(TensorType::kFloat, {3, "N"})}) {
    TypeProto type;
    ASSERT_TRUE(ToTypeProto(value, type));
    EXPECT_EQ(FromTypeProto(type, ctx), value);
  }
  TypeProto type;
  // Lengths are not in the type; a dim that varies between elements is left out, a shared one is written.
  ASSERT_TRUE(
      ToTypeProto(ShapeValue::Sequence(SequenceInfo::Of({Float({"N", "M", 3}), Float({"K", "M", 3})}, ctx)), type));
  const auto& shape = type.sequence_type().elem_type().tensor_type().shape();
  EXPECT_FALSE(shape.dim(0).has_dim_param());
  EXPECT_EQ(shape.dim(1).dim_param(), "M");
  EXPECT_EQ(shape.dim(2).dim_value(), 3);
  const ShapeValue read = FromTypeProto(type, ctx);
  EXPECT_TRUE(IsFresh(read.SequenceOf().length));
  EXPECT_FALSE(read.SequenceOf().elements.has_value());
  EXPECT_EQ(read.SequenceOf().varying.size(), 1u);
  EXPECT_EQ(read.SequenceOf().elem.Shape()[1], "M");
  EXPECT_TRUE(FromTypeProto(TypeProto(), ctx).IsUnknown());
  // Deeper than anything real.
  TypeProto deep;
  TypeProto* at = &deep;
  for (int i = 0; i < 100; ++i) at = at->mutable_sequence_type()->mutable_elem_type();
  EXPECT_TRUE(FromTypeProto(deep, ctx).IsSequence());
}

}  // namespace
}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
