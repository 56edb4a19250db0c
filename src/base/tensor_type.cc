// SPDX-License-Identifier: Apache-2.0
#include "onnx_optim/tensor_type.h"

#include <array>

namespace ONNX_LIGHT_NAMESPACE::onnx_optim {
namespace {

struct TypeRow {
  std::string_view name;
  std::string_view numpy;
  int bits;
  char kind;  // i integer, f float, other
};

constexpr std::array<TypeRow, kTensorTypeCount> kRows = {{
    {"undefined", "undefined", 0, '-'},
    {"float", "float32", 32, 'f'},
    {"uint8", "uint8", 8, 'i'},
    {"int8", "int8", 8, 'i'},
    {"uint16", "uint16", 16, 'i'},
    {"int16", "int16", 16, 'i'},
    {"int32", "int32", 32, 'i'},
    {"int64", "int64", 64, 'i'},
    {"string", "string", 0, '-'},
    {"bool", "bool", 8, '-'},
    {"float16", "float16", 16, 'f'},
    {"double", "float64", 64, 'f'},
    {"uint32", "uint32", 32, 'i'},
    {"uint64", "uint64", 64, 'i'},
    {"complex64", "complex64", 64, '-'},
    {"complex128", "complex128", 128, '-'},
    {"bfloat16", "bfloat16", 16, 'f'},
    {"float8e4m3fn", "float8e4m3fn", 8, 'f'},
    {"float8e4m3fnuz", "float8e4m3fnuz", 8, 'f'},
    {"float8e5m2", "float8e5m2", 8, 'f'},
    {"float8e5m2fnuz", "float8e5m2fnuz", 8, 'f'},
    {"uint4", "uint4", 4, 'i'},
    {"int4", "int4", 4, 'i'},
    {"float4e2m1", "float4e2m1", 4, 'f'},
    {"float8e8m0", "float8e8m0", 8, 'f'},
    {"uint2", "uint2", 2, 'i'},
    {"int2", "int2", 2, 'i'},
    {"float6e2m3", "float6e2m3fn", 6, 'f'},
    {"float6e3m2", "float6e3m2fn", 6, 'f'},
}};

const TypeRow& RowOf(TensorType type) noexcept {
  const auto number = static_cast<uint32_t>(type);
  return kRows[number < kRows.size() ? number : 0];
}

}  // namespace

TensorType DataTypeToTensorType(int32_t elem_type) noexcept {
  return elem_type > 0 && elem_type < kTensorTypeCount ? static_cast<TensorType>(elem_type) : TensorType::kUndefined;
}
int32_t TensorTypeToDataType(TensorType type) noexcept { return static_cast<int32_t>(type); }
bool IsIntegerTensorType(TensorType type) noexcept { return RowOf(type).kind == 'i'; }
bool IsFloatTensorType(TensorType type) noexcept { return RowOf(type).kind == 'f'; }
std::string ToTypeString(TensorType type) { return "tensor(" + std::string(RowOf(type).name) + ")"; }
std::string_view TensorTypeName(TensorType type) noexcept { return RowOf(type).name; }
std::string_view NumpyTypeName(TensorType type) noexcept { return RowOf(type).numpy; }
int BitsOf(TensorType type) noexcept { return RowOf(type).bits; }
size_t BytesOf(TensorType type) noexcept {
  return type == TensorType::kString ? sizeof(std::string) : (static_cast<size_t>(RowOf(type).bits) + 7) / 8;
}

TensorType TensorTypeFromName(std::string_view name) noexcept {
  for (int32_t i = 1; i < kTensorTypeCount; ++i)
    if (kRows[i].name == name || kRows[i].numpy == name) return static_cast<TensorType>(i);
  return TensorType::kUndefined;
}

}  // namespace ONNX_LIGHT_NAMESPACE::onnx_optim
