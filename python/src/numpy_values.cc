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
constexpr std::array<std::pair<const char*, TensorType>, 11> kMlTypes{{{"bfloat16", TensorType::kBfloat16},
                                                                       {"float8_e4m3fn", TensorType::kFloat8e4m3fn},
                                                                       {"float8_e4m3fnuz", TensorType::kFloat8e4m3fnuz},
                                                                       {"float8_e5m2", TensorType::kFloat8e5m2},
                                                                       {"float8_e5m2fnuz", TensorType::kFloat8e5m2fnuz},
                                                                       {"float8_e8m0fnu", TensorType::kFloat8e8m0},
                                                                       {"float4_e2m1fn", TensorType::kFloat4e2m1},
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

// One element a byte to packed ones, low bits first.
Tensor Packed(PyArrayObject* array, TensorType type, int bits) {
  Tensor tensor(type, ShapeOf(array));
  auto* out = static_cast<unsigned char*>(tensor.mutable_data());
  const auto* in = static_cast<const unsigned char*>(PyArray_DATA(array));
  std::memset(out, 0, tensor.ByteSize());
  const int per_byte = 8 / bits;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    out[i / per_byte] =
        static_cast<unsigned char>(out[i / per_byte] | (in[i] & ((1 << bits) - 1)) << (i % per_byte * bits));
  }
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
  const int bits = BitsOf(type);
  if (bits < 8) return Packed(array, type, bits);
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

Sequence SequenceFromList(PyObject* list, TensorType declared, FeedReferences& references) {
  // A tuple of its own: converting an element may run Python code that changes the list.
  const Ref items = Own(PySequence_Tuple(list));
  const Py_ssize_t size = PyTuple_GET_SIZE(items.get());
  std::vector<Tensor> elements;
  elements.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    try {
      elements.push_back(TensorFromObject(PyTuple_GET_ITEM(items.get(), i), declared, references));
    } catch (Error& error) {
      error.AddPath(fmt::format("in element {}", i));
      throw;
    }
  }
  if (elements.empty()) return Sequence(declared);
  const TensorType dtype = elements.front().dtype();
  return Sequence(dtype, std::move(elements));
}

PyObject* StringArray(const Tensor& tensor) {
  Ref array = Own(PyArray_SimpleNew(tensor.rank(), const_cast<npy_intp*>(tensor.shape().begin()), NPY_OBJECT));
  auto** element = static_cast<PyObject**>(PyArray_DATA(AsArray(array.get())));
  for (const std::string& text : tensor.View<std::string>()) {
    PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    if (decoded == nullptr) throw PythonError();
    Py_XSETREF(*element, decoded);
    ++element;
  }
  return array.release();
}

void Unpack(const Tensor& tensor, int bits, unsigned char* out) {
  const auto* in = static_cast<const unsigned char*>(tensor.data());
  const bool is_signed = tensor.dtype() == TensorType::kInt4 || tensor.dtype() == TensorType::kInt2;
  const int per_byte = 8 / bits;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    int value = (in[i / per_byte] >> (i % per_byte * bits)) & ((1 << bits) - 1);
    if (is_signed && value >= 1 << (bits - 1)) value -= 1 << bits;
    out[i] = static_cast<unsigned char>(value);
  }
}

void DeleteTensor(PyObject* capsule) { delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, nullptr)); }

enum class Sharing { kHandOver, kReadOnly };

PyObject* ArrayFromTensor(const Tensor& tensor, Sharing sharing) {
  if (tensor.dtype() == TensorType::kString) return StringArray(tensor);
  PyArray_Descr* descr = DescrOf(tensor.dtype());
  if (descr == nullptr) throw InvalidArgument(fmt::format("this numpy has no elements of {}", tensor.TypeString()));
  const int bits = BitsOf(tensor.dtype());
  auto* dims = const_cast<npy_intp*>(tensor.shape().begin());
  const bool may_share = sharing == Sharing::kReadOnly || (tensor.ByteSize() > kCopyBytes && tensor.IsUnique());
  if (bits < 8 || !may_share) {
    PyObject* array = PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank(), dims, nullptr, nullptr, 0, nullptr);
    if (array == nullptr) throw PythonError();
    void* data = PyArray_DATA(AsArray(array));
    if (bits < 8) {
      Unpack(tensor, bits, static_cast<unsigned char*>(data));
    } else if (tensor.ByteSize() > 0) {
      std::memcpy(data, tensor.data(), tensor.ByteSize());
    }
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
  constexpr std::string_view kOptional = "optional(", kSequence = "seq(", kTensor = "tensor(";
  if (type.starts_with(kOptional)) type.remove_prefix(kOptional.size());
  if (type.starts_with(kSequence)) {
    declared.is_sequence = true;
    type.remove_prefix(kSequence.size());
  }
  declared.is_known = declared.is_sequence || type.starts_with(kTensor);
  if (type.starts_with(kTensor)) {
    type.remove_prefix(kTensor.size());
    declared.dtype = onnx_optim::TensorTypeFromName(type.substr(0, type.find(')')));
  }
  return declared;
}

Value ValueFromPython(PyObject* object, const DeclaredInput& declared, FeedReferences& references) {
  if (object == Py_None) return Value();
  const bool is_list = PyList_Check(object) || PyTuple_Check(object);
  if (is_list && (declared.is_sequence || !declared.is_known))
    return SequenceFromList(object, declared.dtype, references);
  return TensorFromObject(object, declared.dtype, references);
}

namespace {

PyObject* ObjectFromValue(const Value& value, Sharing sharing) {
  if (value.IsNone()) Py_RETURN_NONE;
  if (value.IsTensor()) return ArrayFromTensor(value.tensor(), sharing);
  const auto elements = value.sequence().elements();
  Ref list = Own(PyList_New(static_cast<Py_ssize_t>(elements.size())));
  for (size_t i = 0; i < elements.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), ArrayFromTensor(elements[i], sharing));
  }
  return list.release();
}

}  // namespace

PyObject* PythonFromValue(const Value& value) { return ObjectFromValue(value, Sharing::kHandOver); }
PyObject* SharedWithPython(const Value& value) { return ObjectFromValue(value, Sharing::kReadOnly); }

}  // namespace ONNX_LIGHT_NAMESPACE
