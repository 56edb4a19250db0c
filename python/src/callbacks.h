// SPDX-License-Identifier: Apache-2.0
// Python callables as custom operators, and their exceptions on the way through the library.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "onnxseq/custom_op.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

// A reference that may be copied and dropped on any thread, with or without the GIL.
using SharedObject = std::shared_ptr<PyObject>;
// Takes over a new reference.
SharedObject Share(PyObject* object);

// A Python exception raised inside a run. The node is added on the way; what was raised is kept.
class CallbackError : public ErrorOf<std::runtime_error> {
 public:
  CallbackError(const std::string& text, SharedObject raised) : ErrorOf(text), raised_(std::move(raised)) {}
  PyObject* raised() const { return raised_.get(); }

 private:
  SharedObject raised_;
};

// {(domain, type): callable} as operators. A callable gets the inputs as read-only arrays (lists of them for sequences,
// None for absent ones) and the node's attributes by name, and returns the output, or a tuple of them. Needs the GIL,
// which the operators take by themselves. Raises TypeError for anything else.
std::vector<CustomOp> CustomOpsFrom(const nanobind::dict& callables);

}  // namespace ONNX_LIGHT_NAMESPACE
