// SPDX-License-Identifier: Apache-2.0
// Values to and from numpy. All functions need the GIL; those that return PyObject* return a new reference or null with
// a Python error set; those that return C++ values throw onnxseq errors, or PythonError with a Python error set.
#pragma once

#include <Python.h>

#include <memory>
#include <string>
#include <vector>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// A Python error is set and stands for this exception.
struct PythonError {};

// Loads numpy's C API. False with a Python error set when that fails.
bool InitNumpy();

// References to the arrays whose memory the tensors of one run borrow: one owner for all of them, since a counted owner
// for each of 10,000 elements costs more than the elements. The last of the tensors may die on any thread.
class FeedReferences {
 public:
  FeedReferences() : owner_(held_) {}
  const Owner& owner() const { return owner_; }
  // Takes over one reference.
  void Adopt(PyObject* object) { held_->objects.push_back(object); }

 private:
  struct Held {
    ~Held();
    std::vector<PyObject*> objects;
  };
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
  Owner owner_;
};

// What the model says of an input.
struct DeclaredInput {
  // Parses "tensor(float)", "seq(tensor(int64))", "map(string,tensor(float))", "optional(...)".
  static DeclaredInput Parse(std::string_view type);
  enum class Kind : uint8_t { kUnknown, kTensor, kSequence, kMap };
  Kind kind = Kind::kUnknown;
  TensorType dtype = TensorType::kUndefined;    // of a tensor's elements, of a map's keys
  std::shared_ptr<const DeclaredInput> elem{};  // of a sequence's elements, of a map's values; null when unknown
};

// The value of a feed: None; an array, anything numpy or DLPack makes one of, a scalar; a list or tuple of those for a
// sequence; a dict for a map, with keys that are str, bytes, int or numpy integers. Contiguous arrays are borrowed
// through `references`. Python scalars and lists take the declared element type, integers as keys the declared key
// type.
Value ValueFromPython(PyObject* object, const DeclaredInput& declared, FeedReferences& references);

// An array, a list, a dict, or None. The values of a dict that are scalars become numpy scalars (str for strings), its
// keys int or str. Tensors with storage of their own that nothing else refers to are handed over,
// others copied.
PyObject* PythonFromValue(const Value& value);
// The same, read-only: the memory of tensors is shared and kept alive, whoever else uses it.
PyObject* SharedWithPython(const Value& value);

}  // namespace ONNX_LIGHT_NAMESPACE
