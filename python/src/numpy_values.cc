// SPDX-License-Identifier: Apache-2.0
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include "numpy_values.h"

#include <fmt/format.h>
#include <numpy/arrayobject.h>

#include <array>
#include <cstring>
#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Decref {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Ref = std::unique_ptr<PyObject, Decref>;

// Takes over a new reference; throws when it is null.
Ref Own(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return Ref(object);
}

PyArrayObject* AsArray(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// Arrays of at most this many bytes are copied: that is cheaper than a capsule to own the storage of the tensor.
constexpr size_t kCopyBytes = 2048;

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

// A new reference; null when numpy has no such type.
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

Shape ShapeOf(PyArrayObject* array) {
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  return Shape(std::span<const int64_t>(PyArray_DIMS(array), static_cast<size_t>(PyArray_NDIM(array))));
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

PyObject* TextObject(const std::string& text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (decoded == nullptr) throw PythonError();
  return decoded;
}

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

}  // namespace

bool InitNumpy() {
  import_array1(false);
  return true;
}

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

namespace {

PyObject* ObjectFromValue(const Value& value, Sharing sharing);

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
