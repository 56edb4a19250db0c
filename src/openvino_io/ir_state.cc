// SPDX-License-Identifier: Apache-2.0
// ReadValue and Assign as an input and an output of the graph. The input is named after the variable and has what the
// variable is at first as its default, when that is constant; the output has "/next" behind the name. Who calls gives
// the one back as the other.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void CheckTopLevel(const IrLowering& l) {
  if (l.builder().depth > 0) l.Refuse("a variable inside a body is not read");
}

}  // namespace

void LowerReadValue(IrLowering& l) {
  CheckTopLevel(l);
  if (l.input_size() > 0 && l.input(0).constant == nullptr)
    l.Refuse("what the variable is at first is not constant: it would have to be an input with a computed default");
  const IrAttributes attrs = l.attrs();
  const TensorType type = l.input_size() > 0           ? l.input(0).type
                          : attrs.Has("variable_type") ? attrs.ElementType("variable_type")
                                                       : TensorType::kUndefined;
  if (type == TensorType::kUndefined) l.Refuse("the element type of the variable must be known");
  const std::string name = l.builder().model.names.Unique(attrs.String("variable_id"));
  ValueInfoProto& info = *l.builder().graph->add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_optim::TensorTypeToDataType(type));
  if (l.input_size() > 0) {
    auto copy = std::make_unique<IrConstant>();
    copy->tensor = l.input(0).constant->tensor;
    copy->tensor.set_name(name);
    copy->used = true;
    TensorShapeProto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const int64_t dim : copy->tensor.dims()) shape.add_dim()->set_dim_value(dim);
    l.builder().model.constants.push_back(std::move(copy));
  }
  l.Finish("Identity", {name});
  l.output(0).type = type;
  l.output(0).rank = l.input_size() > 0 ? l.input(0).rank : -1;
}

void LowerAssign(IrLowering& l) {
  CheckTopLevel(l);
  const std::string next = l.builder().model.names.Unique(l.attrs().String("variable_id") + "/next");
  l.Node("Identity", {l.Use(0)}, {next});
  ValueInfoProto& info = *l.builder().graph->add_output();
  info.set_name(next);
  if (l.input(0).type != TensorType::kUndefined)
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_optim::TensorTypeToDataType(l.input(0).type));
  if (l.layer().outputs.empty()) return;
  l.Finish("Identity", {next});
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
