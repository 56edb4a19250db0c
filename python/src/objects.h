// SPDX-License-Identifier: Apache-2.0
// Python objects as C++ values, with errors in Python's own classes.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "numpy_values.h"

namespace ONNX_LIGHT_NAMESPACE {

// A name, which comes from a file and need not be UTF-8: Python's form of such text, which gives the same bytes back.
inline nanobind::object NameText(std::string_view name) {
  PyObject* decoded = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "surrogateescape");
  if (decoded == nullptr) nanobind::raise_python_error();
  return nanobind::steal(decoded);
}

// A message to be printed: what is not UTF-8 is spelled out.
inline nanobind::object MessageText(std::string_view text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (decoded == nullptr) nanobind::raise_python_error();
  return nanobind::steal(decoded);
}

inline nanobind::list MessageTexts(const std::vector<std::string>& texts) {
  nanobind::list list;
  for (const std::string& text : texts) list.append(MessageText(text));
  return list;
}

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

[[noreturn]] inline void FailExpected(nanobind::handle object, const char* expected) {
  throw nanobind::type_error(fmt::format("expected {}, got {}", expected, nanobind::repr(object).c_str()).c_str());
}

// The object as a T, or a TypeError that says what was expected and what was given.
template <class T>
T As(nanobind::handle object, const char* expected) {
  T value;
  if (!nanobind::try_cast(object, value)) FailExpected(object, expected);
  return value;
}

// The bytes of a name given as str, which may be one NameText made; else a TypeError.
inline std::string NameFrom(nanobind::handle object, const char* expected) {
  if (!PyUnicode_Check(object.ptr())) FailExpected(object, expected);
  PyObject* encoded = PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogateescape");
  if (encoded == nullptr) nanobind::raise_python_error();
  const nanobind::object owner = nanobind::steal(encoded);
  return {PyBytes_AS_STRING(encoded), static_cast<size_t>(PyBytes_GET_SIZE(encoded))};
}

}  // namespace ONNX_LIGHT_NAMESPACE
