// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "numpy_objects.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Arrays of at most this many bytes are copied: that is cheaper than a capsule to own the storage of the tensor.
constexpr size_t kCopyBytes = 2048;

PyObject* StringArray(const Tensor& tensor) {
  Ref array = Own(PyArray_SimpleNew(tensor.rank(), const_cast<npy_intp*>(tensor.shape().begin()), NPY_OBJECT));
  auto** element = static_cast<PyObject**>(PyArray_DATA(AsArray(array.get())));
  for (const std::string& text : tensor.View<std::string>()) {
    Py_XSETREF(*element, TextObject(text));
    ++element;
  }
  return array.release();
}

void DeleteTensor(PyObject* capsule) { delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, nullptr)); }

enum class Sharing { kHandOver, kReadOnly };

PyObject* ObjectFromValue(const Value& value, Sharing sharing);

PyArray_Descr* ElementsOf(const Tensor& tensor) {
  PyArray_Descr* descr = DescrOf(tensor.dtype());
  if (descr == nullptr) throw InvalidArgument(fmt::format("this numpy has no elements of {}", tensor.TypeString()));
  return descr;
}

PyObject* ArrayFromTensor(const Tensor& tensor, Sharing sharing) {
  if (tensor.dtype() == TensorType::kString) return StringArray(tensor);
  PyArray_Descr* descr = ElementsOf(tensor);
  auto* dims = const_cast<npy_intp*>(tensor.shape().begin());
  const bool may_share = sharing == Sharing::kReadOnly || (tensor.ByteSize() > kCopyBytes && tensor.IsUnique());
  if (!may_share) {
    PyObject* array = PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank(), dims, nullptr, nullptr, 0, nullptr);
    if (array == nullptr) throw PythonError();
    if (tensor.ByteSize() > 0) std::memcpy(PyArray_DATA(AsArray(array)), tensor.data(), tensor.ByteSize());
    return array;
  }
  auto holder = std::make_unique<Tensor>(tensor);
  Ref array =
      Own(PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank(), dims, nullptr, const_cast<void*>(tensor.data()),
                               sharing == Sharing::kReadOnly ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY, nullptr));
  PyObject* capsule = PyCapsule_New(holder.get(), nullptr, DeleteTensor);
  if (capsule == nullptr) throw PythonError();
  holder.release();
  if (PyArray_SetBaseObject(AsArray(array.get()), capsule) < 0) throw PythonError();
  return array.release();
}

// What an array of the tensor, which has one element, would hold: a numpy scalar, str for a string.
Ref ScalarOf(const Tensor& tensor) {
  if (tensor.dtype() == TensorType::kString) return Own(TextObject(tensor.View<std::string>()[0]));
  const Ref descr = Own(reinterpret_cast<PyObject*>(ElementsOf(tensor)));
  return Own(PyArray_Scalar(const_cast<void*>(tensor.data()), reinterpret_cast<PyArray_Descr*>(descr.get()), nullptr));
}

// Python's own number: one of numpy's would hash alike but print otherwise.
Ref KeyOf(const Tensor& keys, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (keys.dtype()) {
    case TensorType::kString:
      return Own(TextObject(keys.View<std::string>()[at]));
    case TensorType::kInt8:
      return Own(PyLong_FromLong(keys.View<int8_t>()[at]));
    case TensorType::kInt16:
      return Own(PyLong_FromLong(keys.View<int16_t>()[at]));
    case TensorType::kInt32:
      return Own(PyLong_FromLong(keys.View<int32_t>()[at]));
    case TensorType::kUint8:
      return Own(PyLong_FromLong(keys.View<uint8_t>()[at]));
    case TensorType::kUint16:
      return Own(PyLong_FromLong(keys.View<uint16_t>()[at]));
    case TensorType::kUint32:
      return Own(PyLong_FromUnsignedLong(keys.View<uint32_t>()[at]));
    case TensorType::kUint64:
      return Own(PyLong_FromUnsignedLongLong(keys.View<uint64_t>()[at]));
    default:
      return Own(PyLong_FromLongLong(keys.View<int64_t>()[at]));
  }
}

PyObject* DictFromMap(const Map& map, Sharing sharing) {
  const Sequence& values = map.values();
  Ref dict = Own(PyDict_New());
  for (int64_t i = 0; i < map.size(); ++i) {
    const Ref key = KeyOf(map.keys(), i);
    const bool scalar = values.HoldsTensors() && values[i].rank() == 0;
    const Ref object = scalar ? ScalarOf(values[i]) : Own(ObjectFromValue(values.ValueAt(i), sharing));
    if (PyDict_SetItem(dict.get(), key.get(), object.get()) < 0) throw PythonError();
  }
  return dict.release();
}

PyObject* ObjectFromValue(const Value& value, Sharing sharing) {
  if (value.IsNone()) Py_RETURN_NONE;
  if (value.IsTensor()) return ArrayFromTensor(value.tensor(), sharing);
  if (value.IsMap()) return DictFromMap(value.map(), sharing);
  const Sequence& sequence = value.sequence();
  Ref list = Own(PyList_New(static_cast<Py_ssize_t>(sequence.size())));
  if (sequence.HoldsTensors()) {
    const auto elements = sequence.elements();
    for (size_t i = 0; i < elements.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), ArrayFromTensor(elements[i], sharing));
  } else {
    for (int64_t i = 0; i < sequence.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), ObjectFromValue(sequence.ValueAt(i), sharing));
  }
  return list.release();
}

}  // namespace

PyObject* PythonFromValue(const Value& value) { return ObjectFromValue(value, Sharing::kHandOver); }
PyObject* SharedWithPython(const Value& value) { return ObjectFromValue(value, Sharing::kReadOnly); }

}  // namespace ONNX_LIGHT_NAMESPACE
