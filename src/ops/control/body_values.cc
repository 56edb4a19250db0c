// SPDX-License-Identifier: Apache-2.0
#include "ops/control/body_values.h"

#include <fmt/format.h>

#include <vector>

#include "ops/control/carried_values.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

const GraphProto& CheckBody(const NodeProto& node, std::string_view name, int inputs, int outputs) {
  const GraphProto& body = NodeAttributes(node).Graph(name);
  if (static_cast<int>(body.input_size()) != inputs)
    FailAttribute(name, fmt::format("takes {} inputs, the node gives it {}", body.input_size(), inputs));
  if (static_cast<int>(body.output_size()) != outputs)
    FailAttribute(name, fmt::format("gives {} outputs, the node needs {}", body.output_size(), outputs));
  return body;
}

bool ReadBool(const RunContext& ctx, int i) {
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must have one element, got {}", t.TypeString()));
  return t.View<bool>()[0];
}

Tensor EmptyStack(const RunContext& ctx, const BodyRunner& body, const GraphProto& graph, int i, int64_t axis) {
  const TensorType dtype = body.OutputType(i);
  if (dtype == TensorType::kUndefined)
    ctx.Fail(BodyOutputSubject(graph, static_cast<size_t>(i)),
             "has an unknown element type, and there was no run to tell");
  Shape shape;
  for (const int64_t dim : body.OutputDims(i).value_or(std::vector<int64_t>())) shape.push_back(dim < 0 ? 0 : dim);
  shape.insert(NormalizeAxis(ctx, axis, shape.rank() + 1, "attribute 'scan_output_axes'"), 0);
  return Tensor(dtype, std::move(shape));
}

CarriedTypes::Type CarriedTypes::Of(const Value& value) {
  if (value.IsTensor()) return {false, value.tensor().dtype()};
  if (value.IsSequence()) return {true, value.sequence().dtype()};
  return {};
}

std::string CarriedTypes::Describe(const Type& type) {
  const std::string tensor = onnx_optim::ToTypeString(type.dtype);
  return type.is_sequence ? fmt::format("seq({})", tensor) : tensor;
}

CarriedTypes::CarriedTypes(std::span<const Value> initial) {
  for (const Value& value : initial) types_.push_back(Of(value));
}

void CarriedTypes::Check(const RunContext& ctx, const GraphProto& body, int first_output, std::span<const Value> now,
                         int64_t number) {
  for (size_t i = 0; i < types_.size(); ++i) {
    const Type type = Of(now[i]);
    Type& before = types_[i];
    if (type.dtype == TensorType::kUndefined) continue;
    if (before.dtype == TensorType::kUndefined) before = type;
    if (type.dtype == before.dtype && type.is_sequence == before.is_sequence) continue;
    ctx.Fail(BodyOutputSubject(body, static_cast<size_t>(first_output) + i),
             fmt::format("is {} after iteration {}, {} before", Describe(type), number, Describe(before)));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
