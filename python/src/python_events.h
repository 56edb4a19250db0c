// SPDX-License-Identifier: Apache-2.0
// A sink of JSON events (cli/json_events.h) that builds the Python objects json.loads would make of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "objects.h"

namespace ONNX_LIGHT_NAMESPACE {

// Needs the GIL.
class PythonEvents {
 public:
  void Object() { open_.push_back({nanobind::dict(), {}}); }
  void Array() { open_.push_back({nanobind::list(), {}}); }
  void EndObject() { Close(); }
  void EndArray() { Close(); }
  void Key(std::string_view key) { open_.back().key = NameText(key); }
  void String(std::string_view text) { Add(NameText(text)); }
  void Int(int64_t number) { Add(nanobind::steal(PyLong_FromLongLong(number))); }
  void Bool(bool flag) { Add(nanobind::borrow(flag ? Py_True : Py_False)); }
  void Null() { Add(nanobind::none()); }

  nanobind::object result() const { return result_; }

 private:
  struct Open {
    nanobind::object container;
    nanobind::object key;
  };
  void Add(nanobind::object value) {
    if (open_.empty()) {
      result_ = std::move(value);
      return;
    }
    Open& open = open_.back();
    const int failed = PyList_Check(open.container.ptr())
                           ? PyList_Append(open.container.ptr(), value.ptr())
                           : PyDict_SetItem(open.container.ptr(), open.key.ptr(), value.ptr());
    if (failed != 0) nanobind::raise_python_error();
  }
  void Close() {
    nanobind::object done = std::move(open_.back().container);
    open_.pop_back();
    Add(std::move(done));
  }

  std::vector<Open> open_;
  nanobind::object result_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
