// SPDX-License-Identifier: Apache-2.0
// Nodes that are no layer, and those that are one of the same meaning.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"
#include "openvino_io/ir_metadata.h"
#include "openvino_io/ir_write_functions.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

// Behind a layer with bodies it says what the layer's output is called.
void WriteIdentity(IrNodeWriter& w) {
  const IrRef port = w.In(0);
  if (MetadataOf(w.node(), kIrTypeKey) == "Result") w.graph().KeepResult(w.node().output(0));
  if (MetadataOf(w.node(), kIrLayerKey).empty()) return w.Alias(0, port);
  w.graph().xml().Rename(port, w.node().output(0));
  w.Define(0, port);
}

void WriteConstant(IrNodeWriter& w) {
  const auto define = [&](TensorProto tensor) { w.graph().DefineConstant(w.node().output(0), std::move(tensor)); };
  const auto numbers = [&](TensorType type, bool scalar, const auto& values) {
    TensorProto tensor;
    tensor.set_data_type(onnx_optim::TensorTypeToDataType(type));
    if (!scalar) tensor.add_dims(static_cast<int64_t>(values.size()));
    tensor.set_raw_data(Bytes(values.data(), values.size() * sizeof(values[0])));
    define(std::move(tensor));
  };
  if (const AttributeProto* value = w.Attribute("value")) return define(value->t());
  if (const AttributeProto* value = w.Attribute("value_int"))
    return numbers(TensorType::kInt64, true, std::vector{value->i()});
  if (w.Attribute("value_ints") != nullptr) return numbers(TensorType::kInt64, false, w.Ints("value_ints"));
  if (const AttributeProto* value = w.Attribute("value_float"))
    return numbers(TensorType::kFloat, true, std::vector{value->f()});
  if (w.Attribute("value_floats") != nullptr) return numbers(TensorType::kFloat, false, w.Floats("value_floats"));
  if (const AttributeProto* value = w.Attribute("sparse_value"))
    return define(TensorToProto(TensorFromSparse(value->sparse_tensor())));
  TensorProto strings;
  strings.set_data_type(TensorProto::STRING);
  if (const AttributeProto* value = w.Attribute("value_string")) {
    strings.add_string_data(value->s());
    return define(std::move(strings));
  }
  const AttributeProto* values = w.Attribute("value_strings");
  if (values == nullptr) w.Refuse("", "has no value");
  strings.add_dims(static_cast<int64_t>(values->strings().size()));
  for (const Bytes& value : values->strings()) strings.add_string_data(value);
  define(std::move(strings));
}

void WriteSameLayer(IrNodeWriter& w) {
  const IrLayerDef* def = FindIrLayerOf(w.node().op_type());
  std::vector<IrRef> inputs;
  for (int i = 0; i < def->max_inputs; ++i) {
    if (!w.Has(i)) w.Refuse(fmt::format("input {}", i), "is missing");
    inputs.push_back(w.In(i));
  }
  IrData data;
  if (inputs.size() == 2) data.emplace_back("auto_broadcast", "numpy");
  w.Finish(def->type, fmt::format("opset{}", def->since), inputs, data);
}

}  // namespace ONNX_LIGHT_NAMESPACE
