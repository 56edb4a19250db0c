// SPDX-License-Identifier: Apache-2.0
#define ONNXSEQ_LOADS_NUMPY
#include "numpy_objects.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// numpy's own types by their number.
constexpr std::array<std::pair<int, TensorType>, 16> kNumpyTypes{{{NPY_FLOAT, TensorType::kFloat},
                                                                  {NPY_DOUBLE, TensorType::kDouble},
                                                                  {NPY_HALF, TensorType::kFloat16},
                                                                  {NPY_BYTE, TensorType::kInt8},
                                                                  {NPY_SHORT, TensorType::kInt16},
                                                                  {NPY_INT, TensorType::kInt32},
                                                                  {NPY_LONG, TensorType::kInt64},
                                                                  {NPY_LONGLONG, TensorType::kInt64},
                                                                  {NPY_UBYTE, TensorType::kUint8},
                                                                  {NPY_USHORT, TensorType::kUint16},
                                                                  {NPY_UINT, TensorType::kUint32},
                                                                  {NPY_ULONG, TensorType::kUint64},
                                                                  {NPY_ULONGLONG, TensorType::kUint64},
                                                                  {NPY_BOOL, TensorType::kBool},
                                                                  {NPY_CFLOAT, TensorType::kComplex64},
                                                                  {NPY_CDOUBLE, TensorType::kComplex128}}};
// Those of the ml_dtypes package, by name.
constexpr std::array<std::pair<const char*, TensorType>, 13> kMlTypes{{{"bfloat16", TensorType::kBfloat16},
                                                                       {"float8_e4m3fn", TensorType::kFloat8e4m3fn},
                                                                       {"float8_e4m3fnuz", TensorType::kFloat8e4m3fnuz},
                                                                       {"float8_e5m2", TensorType::kFloat8e5m2},
                                                                       {"float8_e5m2fnuz", TensorType::kFloat8e5m2fnuz},
                                                                       {"float8_e8m0fnu", TensorType::kFloat8e8m0},
                                                                       {"float4_e2m1fn", TensorType::kFloat4e2m1},
                                                                       {"float6_e2m3fn", TensorType::kFloat6e2m3},
                                                                       {"float6_e3m2fn", TensorType::kFloat6e3m2},
                                                                       {"uint4", TensorType::kUint4},
                                                                       {"int4", TensorType::kInt4},
                                                                       {"uint2", TensorType::kUint2},
                                                                       {"int2", TensorType::kInt2}}};

// The element type of each numpy type number below NPY_NTYPES_LEGACY, and back.
struct TypeTables {
  std::array<TensorType, 32> from_numpy{};
  std::array<int, onnx_optim::kTensorTypeCount> to_numpy{};
  TypeTables() {
    to_numpy.fill(-1);
    for (const auto& [number, type] : kNumpyTypes) {
      from_numpy[static_cast<size_t>(number)] = type;
      int& back = to_numpy[static_cast<size_t>(type)];
      if (back < 0) back = number;
    }
  }
};
const TypeTables& Tables() {
  static const TypeTables tables;
  return tables;
}

// Descriptors of the ml_dtypes, looked up when one is first met; null for a type this version of the package lacks.
using MlDescrs = std::array<PyArray_Descr*, kMlTypes.size()>;
const MlDescrs& MlTypes() {
  static MlDescrs descrs{};
  static bool loaded = false;
  if (!loaded) {
    const Ref module = Own(PyImport_ImportModule("ml_dtypes"));
    for (size_t i = 0; i < kMlTypes.size(); ++i) {
      const Ref scalar(PyObject_GetAttrString(module.get(), kMlTypes[i].first));
      if (!scalar || PyArray_DescrConverter(scalar.get(), &descrs[i]) == NPY_FAIL) PyErr_Clear();
    }
    loaded = true;
  }
  return descrs;
}

}  // namespace

TensorType TypeOf(PyArrayObject* array) {
  const int number = PyArray_TYPE(array);
  if (number < static_cast<int>(Tables().from_numpy.size())) return Tables().from_numpy[static_cast<size_t>(number)];
  if (number < NPY_USERDEF) return TensorType::kUndefined;
  const MlDescrs& descrs = MlTypes();
  for (size_t i = 0; i < descrs.size(); ++i) {
    if (descrs[i] != nullptr && descrs[i]->type_num == number) return kMlTypes[i].second;
  }
  return TensorType::kUndefined;
}

PyArray_Descr* DescrOf(TensorType type) {
  const int number = type == TensorType::kString ? NPY_OBJECT : Tables().to_numpy[static_cast<size_t>(type)];
  if (number >= 0) return PyArray_DescrFromType(number);
  const MlDescrs& descrs = MlTypes();
  for (size_t i = 0; i < descrs.size(); ++i) {
    if (kMlTypes[i].second == type && descrs[i] != nullptr) {
      Py_INCREF(descrs[i]);
      return descrs[i];
    }
  }
  return nullptr;
}

std::string TextOf(PyObject* object) {
  if (PyBytes_Check(object)) return {PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object))};
  if (!PyUnicode_Check(object)) {
    throw InvalidArgument(fmt::format("a string tensor needs str or bytes, got {}", Py_TYPE(object)->tp_name));
  }
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(object, &size)) return {text, static_cast<size_t>(size)};
  // Lone surrogates stand for bytes that were no UTF-8.
  PyErr_Clear();
  const Ref bytes = Own(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
  return {PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

PyObject* TextObject(const std::string& text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (decoded == nullptr) throw PythonError();
  return decoded;
}

bool InitNumpy() {
  import_array1(false);
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
