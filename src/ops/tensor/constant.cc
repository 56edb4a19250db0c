// SPDX-License-Identifier: Apache-2.0
// Constant: the tensor its one attribute holds: value, sparse_value (made dense, version 11 on), or, from 12 on,
// value_int(s), value_float(s), value_string(s). https://onnx.ai/onnx/operators/onnx__Constant.html
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/infer_node.h"
#include "ops/known_values.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::array<std::string_view, 8> kForms = {"value",       "sparse_value", "value_int",    "value_ints",
                                                    "value_float", "value_floats", "value_string", "value_strings"};

struct ConstantState : OpState {
  Tensor tensor;
};

// The attribute that gives the value; null unless exactly one does.
const AttributeProto* OnlyForm(const NodeProto& node) {
  const AttributeProto* found = nullptr;
  for (const std::string_view form : kForms) {
    const AttributeProto* attribute = NodeAttributes(node).Find(form);
    if (attribute == nullptr) continue;
    if (found != nullptr) return nullptr;
    found = attribute;
  }
  return found;
}

std::string WrongForm() {
  return "needs exactly one of the attributes value, sparse_value, value_int(s), value_float(s), value_string(s)";
}

Tensor Read(const NodeProto& node) {
  const AttributeProto* form = OnlyForm(node);
  if (form == nullptr) throw InvalidArgument(WrongForm());
  const std::string name = form->name();
  const NodeAttributes attrs(node);
  if (name == "value") return TensorFromProto(*attrs.FindTensor(name));
  if (name == "sparse_value") return TensorFromSparse(form->sparse_tensor());
  if (name == "value_int") return Tensor::Scalar<int64_t>(attrs.Int(name));
  if (name == "value_float") return Tensor::Scalar<float>(attrs.Float(name, 0));
  if (name == "value_string") return Tensor::Scalar<std::string>(attrs.String(name, ""));
  const auto vector = [](const auto& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, std::span<const T>(values));
  };
  if (name == "value_ints") return vector(attrs.Ints(name));
  if (name == "value_floats") return vector(attrs.Floats(name));
  return vector(attrs.Strings(name));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<ConstantState>();
  state->tensor = Read(ctx.node());
  return state;
}

void Run(RunContext& ctx) { ctx.SetOutput(0, ctx.state<ConstantState>().tensor); }

// Never reads more than what shapes are made of.
void ShapeRule(InferScope& scope) {
  const AttributeProto* form = OnlyForm(scope.node());
  if (form == nullptr) scope.Fail({}, WrongForm());
  if (form->name() != "value" && form->name() != "sparse_value")
    return scope.SetOutput(0, KnownTensor(Read(scope.node())));
  const bool dense = form->name() == "value";
  const auto& dims = dense ? form->t().dims() : form->sparse_tensor().dims();
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; }) || dims.size() > OptimShape::kMaxRank)
    scope.Fail("attribute '" + form->name() + "'", "has dims no tensor can have");
  if (dense) return scope.SetOutput(0, ConstantShapeValue(form->t()));
  scope.SetTensor(0, onnx_optim::DataTypeToTensorType(form->sparse_tensor().values().data_type()),
                  OptimShape(std::vector<int64_t>(dims.begin(), dims.end())));
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "Constant",
          .since_version = since,
          .inputs = {},
          .outputs = {{"output", kAllTypes}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> constant_ops() {
  static const OpDef ops[] = {
      VersionOf(1, {{"value", AttrKind::kTensor, true}}),
      VersionOf(11, {{"value", AttrKind::kTensor}, {"sparse_value", AttrKind::kSparseTensor}}),
      VersionOf(12, {{"value", AttrKind::kTensor},
                     {"sparse_value", AttrKind::kSparseTensor},
                     {"value_int", AttrKind::kInt},
                     {"value_ints", AttrKind::kInts},
                     {"value_float", AttrKind::kFloat},
                     {"value_floats", AttrKind::kFloats},
                     {"value_string", AttrKind::kString},
                     {"value_strings", AttrKind::kStrings}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
