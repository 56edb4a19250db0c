// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "numpy_objects.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Shape ShapeOf(PyArrayObject* array) {
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  return Shape(std::span<const int64_t>(PyArray_DIMS(array), static_cast<size_t>(PyArray_NDIM(array))));
}

Tensor StringsOf(PyArrayObject* array) {
  const Ref objects = Own(PyArray_FromAny(reinterpret_cast<PyObject*>(array), PyArray_DescrFromType(NPY_OBJECT), 0, 0,
                                          NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
  Tensor tensor(TensorType::kString, ShapeOf(array));
  auto* const* element = static_cast<PyObject* const*>(PyArray_DATA(AsArray(objects.get())));
  for (std::string& text : tensor.MutableView<std::string>()) text = TextOf(*element++);
  return tensor;
}

// Takes over the reference.
Tensor TensorFromArray(Ref object, FeedReferences& references) {
  PyArrayObject* array = AsArray(object.get());
  const TensorType type = TypeOf(array);
  if (type == TensorType::kUndefined) {
    const int number = PyArray_TYPE(array);
    const char kind = PyArray_DESCR(array)->kind;
    if (number == NPY_OBJECT || number == NPY_UNICODE || number == NPY_STRING || kind == 'T') return StringsOf(array);
    const Ref name = Own(PyObject_Str(reinterpret_cast<PyObject*>(PyArray_DESCR(array))));
    throw InvalidArgument(fmt::format("arrays of {} are no tensors", TextOf(name.get())));
  }
  // numpy calls complex64 aligned at 4 bytes; tensors want the whole element's size.
  const bool aligned = reinterpret_cast<uintptr_t>(PyArray_DATA(array)) % 8 == 0 || PyArray_ITEMSIZE(array) < 8;
  if (!PyArray_ISCARRAY_RO(array) || !aligned) {
    if (!aligned) object = Own(PyArray_NewCopy(array, NPY_CORDER));
    object = Own(PyArray_FromAny(object.get(), DescrOf(type), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
    array = AsArray(object.get());
  }
  Tensor tensor = Tensor::Borrow(PyArray_DATA(array), type, ShapeOf(array), references.owner());
  references.Adopt(object.release());
  return tensor;
}

Tensor TensorFromObject(PyObject* object, TensorType declared, FeedReferences& references) {
  if (PyArray_Check(object) || PyArray_CheckScalar(object)) {
    const bool is_array = PyArray_Check(object);
    if (is_array) Py_INCREF(object);
    return TensorFromArray(Own(is_array ? object : PyArray_FromScalar(object, nullptr)), references);
  }
  if (declared == TensorType::kString) {
    const Ref objects =
        Own(PyArray_FromAny(object, PyArray_DescrFromType(NPY_OBJECT), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
    return StringsOf(AsArray(objects.get()));
  }
  if (PyObject_HasAttrString(object, "__dlpack__")) {
    const Ref numpy = Own(PyImport_ImportModule("numpy"));
    return TensorFromArray(Own(PyObject_CallMethod(numpy.get(), "from_dlpack", "O", object)), references);
  }
  if (PyDict_Check(object)) throw InvalidArgument("a dict is no tensor");
  Ref array = Own(PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr));
  if (declared != TensorType::kUndefined && TypeOf(AsArray(array.get())) != declared) {
    PyArray_Descr* descr = DescrOf(declared);
    if (descr == nullptr || !PyArray_CanCastArrayTo(AsArray(array.get()), descr, NPY_SAME_KIND_CASTING)) {
      Py_XDECREF(descr);
      const Ref name = Own(PyObject_Str(reinterpret_cast<PyObject*>(PyArray_DESCR(AsArray(array.get())))));
      throw InvalidArgument(
          fmt::format("a value of type {} cannot become {}", TextOf(name.get()), onnx_optim::ToTypeString(declared)));
    }
    array = Own(PyArray_FromAny(array.get(), descr, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
  }
  return TensorFromArray(std::move(array), references);
}

// A list in a list in a list ends as Python's own recursion does.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while converting a value") != 0) throw PythonError();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
};

Value NestedFromObject(PyObject* object, const DeclaredInput* declared, FeedReferences& references) {
  const RecursionGuard guard;
  static const DeclaredInput unknown;
  if (object == Py_None) throw InvalidArgument("None is no value here");
  return ValueFromPython(object, declared == nullptr ? unknown : *declared, references);
}

template <class T>
Tensor IntegerKeys(const std::vector<PyObject*>& keys, TensorType type) {
  Tensor tensor(type, Shape{static_cast<int64_t>(keys.size())});
  T* out = tensor.MutableView<T>().data();
  for (PyObject* key : keys) {
    const Ref number = Own(PyNumber_Index(key));
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    bool fits = overflow == 0 && std::in_range<T>(value);
    *out = static_cast<T>(value);
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (overflow > 0) {
        *out = PyLong_AsUnsignedLongLong(number.get());
        fits = PyErr_Occurred() == nullptr;
        PyErr_Clear();
      }
    }
    if (!fits) {
      const Ref text = Own(PyObject_Str(key));
      throw InvalidArgument(fmt::format("the key {} is no {}", TextOf(text.get()), onnx_optim::TensorTypeName(type)));
    }
    ++out;
  }
  return tensor;
}

Tensor KeysFromObjects(const std::vector<PyObject*>& keys, TensorType declared) {
  const auto is_text = [](PyObject* key) { return PyUnicode_Check(key) || PyBytes_Check(key); };
  if (declared == TensorType::kUndefined && !keys.empty())
    declared = is_text(keys.front()) ? TensorType::kString : TensorType::kInt64;
  for (PyObject* key : keys) {
    const bool text = is_text(key);
    if (text != (declared == TensorType::kString) || (!text && !PyIndex_Check(key)))
      throw InvalidArgument(
          fmt::format("keys must be {}, got {}", onnx_optim::TensorTypeName(declared), Py_TYPE(key)->tp_name));
  }
  switch (declared) {
    case TensorType::kInt8:
      return IntegerKeys<int8_t>(keys, declared);
    case TensorType::kInt16:
      return IntegerKeys<int16_t>(keys, declared);
    case TensorType::kInt32:
      return IntegerKeys<int32_t>(keys, declared);
    case TensorType::kUint8:
      return IntegerKeys<uint8_t>(keys, declared);
    case TensorType::kUint16:
      return IntegerKeys<uint16_t>(keys, declared);
    case TensorType::kUint32:
      return IntegerKeys<uint32_t>(keys, declared);
    case TensorType::kUint64:
      return IntegerKeys<uint64_t>(keys, declared);
    case TensorType::kString: {
      Tensor tensor(declared, Shape{static_cast<int64_t>(keys.size())});
      std::string* out = tensor.MutableView<std::string>().data();
      for (PyObject* key : keys) *out++ = TextOf(key);
      return tensor;
    }
    default:
      return IntegerKeys<int64_t>(keys, TensorType::kInt64);
  }
}

// The sequence of the elements of a list or the values of a dict; `place` names one in messages.
template <class Place>
Sequence SequenceFromObjects(std::span<PyObject* const> objects, const DeclaredInput* declared,
                             FeedReferences& references, const Place& place) {
  std::vector<Value> elements;
  elements.reserve(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    try {
      elements.push_back(NestedFromObject(objects[i], declared, references));
    } catch (Error& error) {
      error.AddPath(place(i));
      throw;
    }
  }
  if (elements.empty() && declared != nullptr && declared->kind == DeclaredInput::Kind::kTensor)
    return Sequence(declared->dtype);
  return Sequence::OfValues(std::move(elements));
}

Sequence SequenceFromList(PyObject* list, const DeclaredInput* declared, FeedReferences& references) {
  // A tuple of its own: converting an element may run Python code that changes the list.
  const Ref items = Own(PySequence_Tuple(list));
  std::vector<PyObject*> objects;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) objects.push_back(PyTuple_GET_ITEM(items.get(), i));
  return SequenceFromObjects(objects, declared, references, [](size_t i) { return fmt::format("in element {}", i); });
}

Map MapFromDict(PyObject* dict, const DeclaredInput& declared, FeedReferences& references) {
  const Ref items = Own(PyDict_Items(dict));  // of its own, as above
  std::vector<PyObject*> keys, values;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* pair = PyList_GET_ITEM(items.get(), i);
    keys.push_back(PyTuple_GET_ITEM(pair, 0));
    values.push_back(PyTuple_GET_ITEM(pair, 1));
  }
  Tensor key_tensor = KeysFromObjects(keys, declared.dtype);
  const auto place = [&](size_t i) {
    const Ref text = Own(PyObject_Repr(keys[i]));
    return fmt::format("in the value of key {}", TextOf(text.get()));
  };
  return Map(std::move(key_tensor), SequenceFromObjects(values, declared.elem.get(), references, place));
}

}  // namespace

FeedReferences::Held::~Held() {
  if (objects.empty() || Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  for (PyObject* object : objects) Py_DECREF(object);
  PyGILState_Release(state);
}

DeclaredInput DeclaredInput::Parse(std::string_view type) {
  DeclaredInput declared;
  constexpr std::string_view kOptional = "optional(", kSequence = "seq(", kMap = "map(", kTensor = "tensor(";
  if (type.starts_with(kOptional)) type.remove_prefix(kOptional.size());
  if (type.starts_with(kSequence)) {
    declared.kind = Kind::kSequence;
    declared.elem = std::make_shared<const DeclaredInput>(Parse(type.substr(kSequence.size())));
  } else if (type.starts_with(kMap) && type.find(',') != type.npos) {
    declared.kind = Kind::kMap;
    type.remove_prefix(kMap.size());
    declared.dtype = onnx_optim::TensorTypeFromName(type.substr(0, type.find(',')));
    declared.elem = std::make_shared<const DeclaredInput>(Parse(type.substr(type.find(',') + 1)));
  } else if (type.starts_with(kTensor)) {
    declared.kind = Kind::kTensor;
    type.remove_prefix(kTensor.size());
    declared.dtype = onnx_optim::TensorTypeFromName(type.substr(0, type.find(')')));
  }
  return declared;
}

Value ValueFromPython(PyObject* object, const DeclaredInput& declared, FeedReferences& references) {
  using Kind = DeclaredInput::Kind;
  if (object == Py_None) return Value();
  const bool known = declared.kind != Kind::kUnknown;
  if ((PyList_Check(object) || PyTuple_Check(object)) && (declared.kind == Kind::kSequence || !known))
    return SequenceFromList(object, declared.elem.get(), references);
  if (PyDict_Check(object) && (declared.kind == Kind::kMap || !known)) return MapFromDict(object, declared, references);
  return TensorFromObject(object, declared.kind == Kind::kTensor ? declared.dtype : TensorType::kUndefined, references);
}

}  // namespace ONNX_LIGHT_NAMESPACE
