// SPDX-License-Identifier: Apache-2.0
#include "runtime/describe.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kMaxTypeDepth = 16;

// "seq(tensor(float))": no dims.
std::string TypeText(const TypeProto& type, int depth) {
  if (depth > kMaxTypeDepth) return "...";
  const auto of = [](int32_t elem_type) {
    return onnx_optim::ToTypeString(onnx_optim::DataTypeToTensorType(elem_type));
  };
  if (type.has_tensor_type()) return of(type.tensor_type().elem_type());
  if (type.has_sparse_tensor_type()) return "sparse_" + of(type.sparse_tensor_type().elem_type());
  if (type.has_sequence_type()) return fmt::format("seq({})", TypeText(type.sequence_type().elem_type(), depth + 1));
  if (type.has_optional_type())
    return fmt::format("optional({})", TypeText(type.optional_type().elem_type(), depth + 1));
  if (type.has_map_type())
    return fmt::format("map({},{})",
                       onnx_optim::TensorTypeName(onnx_optim::DataTypeToTensorType(type.map_type().key_type())),
                       TypeText(type.map_type().value_type(), depth + 1));
  return "unknown";
}

}  // namespace

ValueDescription Describe(const ValueInfoProto& info, const ShapeValue* inferred) {
  ValueDescription description;
  description.name = info.name();
  TypeProto type = info.type();
  if (type.value_case() == TypeProto::VALUE_NOT_SET && inferred != nullptr)
    static_cast<void>(ToTypeProto(*inferred, type));
  description.type = TypeText(type, 0);
  if (!type.has_tensor_type()) return description;
  const bool declared = type.tensor_type().has_shape();
  const bool known = inferred != nullptr && inferred->IsTensor() && inferred->HasRank();
  if (!declared && !known) return description;
  const auto& dims = type.tensor_type().shape().dim();
  const size_t rank = declared ? dims.size() : inferred->Shape().Rank();
  std::vector<ValueDescription::Dim>& shape = description.shape.emplace();
  for (size_t i = 0; i < rank; ++i) {
    ValueDescription::Dim& dim = shape.emplace_back();
    if (declared && dims[i].has_dim_value() && dims[i].dim_value() >= 0) {
      dim.size = dims[i].dim_value();
    } else if (declared && dims[i].has_dim_param()) {
      dim.text = dims[i].dim_param();
    } else if (known && inferred->Shape().Rank() == rank) {
      const OptimDim& found = inferred->Shape()[i];
      if (found.IsInt())
        dim.size = found.AsInt();
      else
        dim.text = found.ToString();
    }
    if (dim.size) dim.text = std::to_string(*dim.size);
  }
  return description;
}

}  // namespace ONNX_LIGHT_NAMESPACE
