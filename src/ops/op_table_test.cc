// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "onnxseq/session.h"
#include "ops/infer_node.h"
#include "ops/op_def.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TEST(OpTable, FindsTheVersionInForce) {
  ASSERT_NE(FindOp("", "SequenceAt", 11), nullptr);
  EXPECT_EQ(FindOp("", "SequenceAt", 11)->since_version, 11);
  EXPECT_EQ(FindOp("ai.onnx", "SequenceAt", 21), FindOp("", "SequenceAt", 11));
  EXPECT_EQ(FindOp("", "SequenceAt", 10), nullptr);
  EXPECT_EQ(FindOp("", "SequenceMap", 16), nullptr);
  EXPECT_EQ(FindOp("elsewhere", "SequenceAt", 11), nullptr);
  EXPECT_TRUE(KnowsOp("", "SequenceMap"));
  EXPECT_FALSE(KnowsOp("", "NoSuchOp"));
}

TEST(OpTable, IsSortedAndWithoutDoubles) {
  const auto key = [](const OpDef* op) { return std::tuple(op->domain, op->type, op->since_version); };
  const std::span<const OpDef* const> all = AllOps();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(key(all[i - 1]), key(all[i])) << all[i]->type;
}

// What every definition must hold to.
TEST(OpTable, DefinitionsAreWellFormed) {
  for (const OpDef* op : AllOps()) {
    SCOPED_TRACE(std::string(op->type) + "-" + std::to_string(op->since_version));
    EXPECT_NE(op->shape == nullptr, op->body == nullptr);
    EXPECT_NE(op->run == nullptr, op->body == nullptr);
    EXPECT_FALSE(op->outputs.empty());
    if (op->elementwise != 0) {
      EXPECT_EQ(op->prepare, nullptr);
      EXPECT_EQ(op->outputs.size(), 1u);
    }
    EXPECT_GE(op->since_version, 1);
    if (op->domain.empty()) {
      EXPECT_LE(op->since_version, kMaxOpset);
    }
    for (const std::vector<Formal>* formals : {&op->inputs, &op->outputs}) {
      std::set<std::string_view> names;
      for (const Formal& formal : *formals) {
        EXPECT_TRUE(names.insert(formal.name).second) << formal.name;
        EXPECT_NE(formal.types.bits, 0u) << formal.name;
        if (formal.count == FormalCount::kVariadic) {
          EXPECT_EQ(&formal, &formals->back()) << formal.name;
        }
      }
    }
    std::set<std::string_view> attributes;
    for (const AttrDef& attribute : op->attributes)
      EXPECT_TRUE(attributes.insert(attribute.name).second) << attribute.name;
  }
}

TEST(CheckNode, NamesWhatIsMissingOrTooMuch) {
  const OpDef& at = *FindOp("", "SequenceAt", 17);
  const auto text = [](const OpDef& op, const char* node) {
    return TextOf<std::invalid_argument>([&] { CheckNode(op, ParseNodeText(node)); });
  };
  EXPECT_EQ(text(at, "[n] y = SequenceAt(s)"), "SequenceAt node \"n\", input 1 'position': is required");
  EXPECT_EQ(text(at, "[n] y = SequenceAt(s, \"\")"), "SequenceAt node \"n\", input 1 'position': is required");
  EXPECT_EQ(text(at, "[n] y = SequenceAt(s, p, q)"), "SequenceAt node \"n\": takes at most 2 inputs, got 3");
  EXPECT_EQ(text(at, "[n] y, z = SequenceAt(s, p)"), "SequenceAt node \"n\": takes at most 1 outputs, got 2");
  EXPECT_EQ(text(*FindOp("", "SequenceConstruct", 17), "y = SequenceConstruct()"),
            "SequenceConstruct, input 0 'inputs': needs at least 1, got 0");
  const OpDef& concat = *FindOp("", "ConcatFromSequence", 17);
  EXPECT_EQ(text(concat, "y = ConcatFromSequence(s)"), "ConcatFromSequence, attribute 'axis': is required");
  EXPECT_EQ(text(concat, "y = ConcatFromSequence<axis = 1.5>(s)"),
            "ConcatFromSequence, attribute 'axis': must be an int, is a float");
  EXPECT_EQ(UnknownAttributes(concat, ParseNodeText("y = ConcatFromSequence<axis = 1, axes = [1]>(s)")),
            std::vector<std::string>{"axes"});
}

TEST(ConstantShapeValue, KnowsSmallIntegers) {
  EXPECT_EQ(ConstantShapeValue(ParseTensorText("int64[2] {3, 4}")), ShapeValue::Int64Vector({3, 4}));
  EXPECT_EQ(ConstantShapeValue(ParseTensorText("int64 {3}")), ShapeValue::Int64Scalar(3));
  const ShapeValue flag = ConstantShapeValue(ParseTensorText("bool[1] {1}"));
  EXPECT_EQ(flag.ScalarValue(), OptimDim(1));
  const ShapeValue scale = ConstantShapeValue(ParseTensorText("float[2] {1.5, 2}"));
  ASSERT_NE(scale.Floats(), nullptr);
  using onnx_optim::shapes::KnownFloat;
  EXPECT_EQ(*scale.Floats(), (onnx_optim::shapes::KnownFloats{KnownFloat{1, 1, 1.5}, KnownFloat{1, 1, 2}}));
}

TEST(ConstantShapeValue, LeavesLargeAndExternalDataAlone) {
  TensorProto large;
  large.set_data_type(TensorProto::INT64);
  large.add_dims(1025);
  large.set_raw_data(std::string(1025 * 8, '\0'));
  EXPECT_EQ(ConstantShapeValue(large), ShapeValue::Tensor(TensorType::kInt64, {1025}));
  TensorProto outside;
  outside.set_data_type(TensorProto::INT64);
  outside.add_dims(2);
  outside.set_data_location(TensorProto::EXTERNAL);
  EXPECT_EQ(ConstantShapeValue(outside), ShapeValue::Tensor(TensorType::kInt64, {2}));
}

TEST(ConstantShapeValue, RefusesNegativeDims) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(-1);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { ConstantShapeValue(tensor); }), "tensor \"w\": has a negative dim, -1");
}

TEST(InstantiateFunction, ResolvesAttributesAndAbsentInputs) {
  FunctionProto function = ParseFunctionText(R"(
    <domain: "my", opset_import: ["" : 17]>
    f <axis, new_axis: int = 1> (s, p) => (y) {
      y = ConcatFromSequence<axis: int = @axis, new_axis: int = @new_axis>(s)
      z = SequenceAt<nothing: int = @gone>(s, p)
    })");
  const GraphProto body = InstantiateFunction(function, ParseNodeText("y = my.f<axis = 2>(s)"));
  ASSERT_EQ(body.node_size(), 2);
  EXPECT_EQ(NodeAttributes(body.node(0)).Int("axis"), 2);
  EXPECT_EQ(NodeAttributes(body.node(0)).Int("new_axis"), 1);
  EXPECT_EQ(body.node(1).attribute_size(), 0);
  EXPECT_EQ(body.node(1).input(1), "");
  EXPECT_EQ(
      TextOf<std::invalid_argument>([&] { InstantiateFunction(function, ParseNodeText("[n] y = my.f(a, b, c)")); }),
      "f node \"n\": takes at most 2 inputs, got 3");
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { InstantiateFunction(function, ParseNodeText("[n] y, z = my.f(a)")); }),
            "f node \"n\": takes at most 1 outputs, got 2");
}

TEST(BodyPlace, NamesBodyNodeAndElement) {
  const NodeProto named = ParseNodeText("[map0] y = SequenceMap<body = b (e) => (e) {}>(s)");
  EXPECT_EQ(BodyPlace(named, named.attribute(0).g(), "element", 7), "in body 'b' of SequenceMap \"map0\", element 7");
  NodeProto unnamed = named;
  unnamed.clear_name();
  unnamed.ref_attribute()[0].ref_g().clear_name();
  EXPECT_EQ(BodyPlace(unnamed, unnamed.attribute(0).g()), "in body 'body' of SequenceMap");
  EXPECT_EQ(NodePathName(named, 3), "map0");
  EXPECT_EQ(NodePathName(unnamed, 3), "SequenceMap_3");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
