// SPDX-License-Identifier: Apache-2.0
// Python objects as C++ values, with errors in Python's own classes.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "numpy_values.h"

namespace ONNX_LIGHT_NAMESPACE {

// Calls a function that works with raw references.
template <class Fn>
auto Checked(Fn&& fn) {
  try {
    return fn();
  } catch (const PythonError&) {
    nanobind::raise_python_error();
  }
}

// The exception that is set, which is set no longer.
inline nanobind::object TakeRaised() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nanobind::steal(value);
}

// The object as a T, or a TypeError that says what was expected and what was given.
template <class T>
T As(nanobind::handle object, const char* expected) {
  T value;
  if (!nanobind::try_cast(object, value))
    throw nanobind::type_error(fmt::format("expected {}, got {}", expected, nanobind::repr(object).c_str()).c_str());
  return value;
}

}  // namespace ONNX_LIGHT_NAMESPACE
