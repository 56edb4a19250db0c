// SPDX-License-Identifier: Apache-2.0
// TensorType: the element types of tensors, numbered as TensorProto::DataType. Used by shapes, values and kernels
// alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

// An enumerator's number is the ONNX elem_type: static_cast<int32_t>(TensorType::kFloat) == TensorProto::FLOAT.
enum class TensorType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8e4m3fn = 17,
  kFloat8e4m3fnuz = 18,
  kFloat8e5m2 = 19,
  kFloat8e5m2fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4e2m1 = 23,
  kFloat8e8m0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6e2m3 = 27,
  kFloat6e3m2 = 28,
};
inline constexpr int32_t kTensorTypeCount = 29;

// The type numbered `elem_type`; kUndefined when no type has that number.
ONNXSEQ_API TensorType DataTypeToTensorType(int32_t elem_type) noexcept;
// The ONNX elem_type of `type`.
ONNXSEQ_API int32_t TensorTypeToDataType(TensorType type) noexcept;
// Signed or unsigned whole numbers of any width; bool is not one.
ONNXSEQ_API bool IsIntegerTensorType(TensorType type) noexcept;
// float, double, float16, bfloat16 and the narrower floats.
ONNXSEQ_API bool IsFloatTensorType(TensorType type) noexcept;
// "tensor(float)", "tensor(int64)", "tensor(undefined)".
ONNXSEQ_API std::string ToTypeString(TensorType type);
// The name inside ToTypeString: "float", "int64", "bfloat16".
ONNXSEQ_API std::string_view TensorTypeName(TensorType type) noexcept;
// numpy's name: "float32", "float64", "int64", "bool", "complex64", "string", "bfloat16", "float8e4m3fn", "int4".
ONNXSEQ_API std::string_view NumpyTypeName(TensorType type) noexcept;
// The type with this TensorTypeName or NumpyTypeName; kUndefined when none has.
ONNXSEQ_API TensorType TensorTypeFromName(std::string_view name) noexcept;
// Bits of one element in messages and files, where int4 takes 4; 0 for string and undefined.
ONNXSEQ_API int BitsOf(TensorType type) noexcept;
// Bytes of one element in memory: 1 for types of up to 8 bits, sizeof(std::string) for string, 0 for undefined.
ONNXSEQ_API size_t BytesOf(TensorType type) noexcept;

}  // namespace onnx_optim

using onnx_optim::TensorType;

}  // namespace ONNX_LIGHT_NAMESPACE
