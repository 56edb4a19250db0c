// SPDX-License-Identifier: Apache-2.0
// ReadValue and Assign as an input and an output of the graph, behind the others. The input is named after the variable
// and has what the variable is at first as its default, zeros where nothing is said; where that is computed the default
// is empty, and an empty input means it. The output has "/next" behind the name. Who calls gives the one back as the
// other.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void CheckTopLevel(const IrLowering& l) {
  if (l.builder().depth > 0) l.Refuse("a variable inside a body is not read");
}

// The input's default is input 0, a constant.
void CopyDefault(IrLowering& l, ValueInfoProto& info) {
  auto copy = std::make_unique<IrConstant>();
  copy->tensor = l.input(0).constant->tensor;
  copy->tensor.set_name(info.name());
  copy->used = true;
  TensorShapeProto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t dim : copy->tensor.dims()) shape.add_dim()->set_dim_value(dim);
  l.builder().model.constants.push_back(std::move(copy));
}

// The input's default is `bytes` of these dims, of which those that are not fixed are 0, and symbols of the input.
void AddDefault(IrLowering& l, ValueInfoProto& info, TensorType type, const std::vector<IrDim>& dims, Bytes bytes) {
  auto made = std::make_unique<IrConstant>();
  made->used = true;
  made->tensor.set_name(info.name());
  made->tensor.set_data_type(onnx_optim::TensorTypeToDataType(type));
  TensorShapeProto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    made->tensor.add_dims(dims[axis].fixed() ? dims[axis].min : 0);
    if (dims[axis].fixed()) {
      shape.add_dim()->set_dim_value(dims[axis].min);
    } else {
      shape.add_dim()->set_dim_param(l.builder().model.dim_names.Unique(DimName(info.name(), axis)));
    }
  }
  made->tensor.set_raw_data(std::move(bytes));
  l.builder().model.constants.push_back(std::move(made));
}

// Zeros, as many as these dims say. A small file must not ask for much memory.
Bytes Zeros(IrLowering& l, TensorType type, const std::vector<IrDim>& dims) {
  constexpr int64_t kMostBytes = int64_t{1} << 26;
  const int64_t bits = onnx_optim::BitsOf(type);
  std::optional<int64_t> count = 1;
  for (const IrDim& dim : dims)
    if (count) count = CheckedMul(*count, dim.min);
  const auto all = count ? CheckedMul(*count, bits) : std::nullopt;
  int64_t& made = l.builder().model.zero_bytes;
  if (bits <= 0 || !all || *all / 8 > kMostBytes - made)
    l.Refuse("a variable without a first value must be of numbers, all such of 64 MB at most");
  made += *all / 8;
  return Bytes(std::string(static_cast<size_t>((*all + 7) / 8), '\0'));
}

// What the layer says of the variable's dims.
std::optional<std::vector<IrDim>> GivenDims(const IrLowering& l) {
  return l.attrs().Has("variable_shape") ? l.attrs().PartialShape("variable_shape") : std::nullopt;
}

// The dims of a variable whose first value is computed, one of which at least is not fixed.
std::vector<IrDim> DimsOfComputed(const IrLowering& l) {
  std::vector<IrDim> dims;
  if (const auto given = GivenDims(l)) {
    dims = *given;
  } else {
    dims.resize(static_cast<size_t>(l.KnownRank(0, "to make an input of the variable")));
  }
  if (dims.empty()) l.Refuse("a variable of one element whose first value is not constant is not read");
  if (std::ranges::all_of(dims, &IrDim::fixed)) dims.front() = IrDim{};
  return dims;
}

// What was computed when the input is empty, else the input.
void ChooseFirst(IrLowering& l, const std::string& variable) {
  const std::string first = l.Use(0), size = l.Apply("Size", {variable});
  const std::string empty = l.Apply("Equal", {size, l.ScalarConstant("zero", TensorType::kInt64, 0)});
  NodeProto& node = l.Finish("If", {empty});
  for (const auto& [branch, value] : {std::pair("then_branch", first), std::pair("else_branch", variable)}) {
    GraphProto& graph = SetGraph(node, branch);
    graph.set_name(fmt::format("{}/{}", l.layer().name, branch));
    const std::string result = l.Temporary("chosen");
    NodeProto& same = *graph.add_node();
    same.set_op_type("Identity");
    same.set_name(result);
    same.add_input(value);
    same.add_output(result);
    graph.add_output()->set_name(result);
  }
}

}  // namespace

void LowerReadValue(IrLowering& l) {
  CheckTopLevel(l);
  const IrAttributes attrs = l.attrs();
  const TensorType type = l.input_size() > 0           ? l.input(0).type
                          : attrs.Has("variable_type") ? attrs.ElementType("variable_type")
                                                       : TensorType::kUndefined;
  if (type == TensorType::kUndefined) l.Refuse("the element type of the variable must be known");
  const std::string id = attrs.String("variable_id"), name = l.builder().model.names.Unique(id);
  const bool computed = l.input_size() > 0 && l.input(0).constant == nullptr;
  std::vector<IrDim> dims;
  if (computed) dims = DimsOfComputed(l);
  ValueInfoProto& info = *l.builder().graph->add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_optim::TensorTypeToDataType(type));
  if (computed) {
    AddDefault(l, info, type, dims, Bytes(std::string()));
    ChooseFirst(l, name);
  } else {
    if (l.input_size() > 0) {
      CopyDefault(l, info);
    } else if (const auto given = GivenDims(l); given && std::ranges::all_of(*given, &IrDim::fixed)) {
      dims = *given;
      AddDefault(l, info, type, dims, Zeros(l, type, dims));
    }
    l.Finish("Identity", {name});
  }
  l.output(0).type = type;
  l.output(0).rank = l.input_size() > 0 && !computed ? l.input(0).rank
                     : dims.empty()                  ? -1
                                                     : static_cast<int>(dims.size());
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
