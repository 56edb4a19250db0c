// SPDX-License-Identifier: Apache-2.0
// numpy's arrays and types as C++ sees them. Private to what turns values into Python's and back; all needs the GIL.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
// One copy of numpy's table of functions, which numpy_objects.cc loads.
#define PY_ARRAY_UNIQUE_SYMBOL onnxseq_numpy
#ifndef ONNXSEQ_LOADS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>

#include <memory>
#include <string>

#include "numpy_values.h"

namespace ONNX_LIGHT_NAMESPACE {

struct Decref {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Ref = std::unique_ptr<PyObject, Decref>;

// Takes over a new reference; throws when it is null.
inline Ref Own(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return Ref(object);
}

inline PyArrayObject* AsArray(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// The element type of an array; kUndefined for what is none of a tensor.
TensorType TypeOf(PyArrayObject* array);
// A new reference; null when numpy has no such type.
PyArray_Descr* DescrOf(TensorType type);

// The bytes of a str or bytes; InvalidArgument for others.
std::string TextOf(PyObject* object);
// A str that gives the same bytes back, UTF-8 or not: a new reference, never null.
PyObject* TextObject(const std::string& text);

}  // namespace ONNX_LIGHT_NAMESPACE
