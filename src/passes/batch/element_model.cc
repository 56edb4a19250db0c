// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/element_model.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {

std::string LengthSymbol(int lengths) { return fmt::format("length_{}", lengths); }
std::string InputSymbol(size_t i) { return fmt::format("input_{}", i); }
std::string CaptureSymbol(size_t i) { return fmt::format("capture_{}", i); }

ValueInfoProto Described(std::string_view name, TensorType dtype, const std::vector<OptimDim>& dims) {
  ValueInfoProto info;
  info.set_name(String(name));
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int32_t>(onnx_optim::TensorTypeToDataType(dtype)));
  auto& shape = *tensor.mutable_shape();
  for (const OptimDim& dim : dims) {
    auto& to = *shape.add_dim();
    if (dim.IsInt()) {
      to.set_dim_value(dim.AsInt());
    } else {
      to.set_dim_param(dim.ToString());
    }
  }
  return info;
}

std::vector<OptimDim> ElementDims(const BatchInput& input, const std::string& name) {
  std::vector<OptimDim> dims(input.dims.begin(), input.dims.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (input.dims[i] < 0) dims[i] = OptimDim::Symbol(fmt::format("{}_{}", name, i));
  if (input.form == BatchForm::kPacked)
    dims[static_cast<size_t>(input.axis)] = OptimDim::Symbol(LengthSymbol(input.lengths));
  return dims;
}

ModelProto ElementModel(const BatchRequest& request) {
  ModelProto model;
  model.set_ir_version(request.model->ir_version());
  for (const OperatorSetIdProto& import : request.model->opset_import()) *model.add_opset_import() = import;
  GraphProto& graph = *model.mutable_graph();
  const GraphProto& body = *request.body;
  graph.set_name(body.name().empty() ? String("body") : body.name());
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const BatchInput& input = request.inputs[i];
    *graph.add_input() =
        Described(body.input(static_cast<int>(i)).name(), input.dtype, ElementDims(input, InputSymbol(i)));
  }
  for (size_t i = 0; i < request.captures.size(); ++i) {
    const auto& [name, input] = request.captures[i];
    *graph.add_input() = Described(name, input.dtype, ElementDims(input, CaptureSymbol(i)));
  }
  for (const TensorProto& tensor : body.initializer()) *graph.add_initializer() = tensor;
  for (const auto& [name, tensor] : request.constants) {
    TensorProto& copy = *graph.add_initializer();
    copy = *tensor;
    copy.set_name(name);
  }
  for (const NodeProto& node : body.node()) *graph.add_node() = node;
  for (const ValueInfoProto& output : body.output()) graph.add_output()->set_name(output.name());
  return model;
}

}  // namespace ONNX_LIGHT_NAMESPACE
