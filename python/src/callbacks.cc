// SPDX-License-Identifier: Apache-2.0
#include "callbacks.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "numpy_values.h"
#include "objects.h"
#include "values/tensor_proto.h"

namespace nb = nanobind;

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// A new reference, or PythonError.
nb::object Steal(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return nb::steal(object);
}

nb::object Text(std::string_view text) {
  return Steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::object AttributeObject(const AttributeProto& attribute) {
  nb::list list;
  switch (attribute.type()) {
    case AttributeProto::INT:
      return Steal(PyLong_FromLongLong(attribute.i()));
    case AttributeProto::FLOAT:
      return Steal(PyFloat_FromDouble(static_cast<double>(attribute.f())));
    case AttributeProto::STRING:
      return Text(attribute.s());
    case AttributeProto::TENSOR:
      return Steal(PythonFromValue(TensorFromProto(attribute.t())));
    case AttributeProto::INTS:
      for (const int64_t i : attribute.ints()) list.append(i);
      return list;
    case AttributeProto::FLOATS:
      for (const float f : attribute.floats()) list.append(f);
      return list;
    case AttributeProto::STRINGS:
      for (const auto& s : attribute.strings()) list.append(Text(s));
      return list;
    default:
      throw Unsupported(fmt::format("attribute '{}' is of a kind that Python operators cannot take",
                                    std::string_view(attribute.name())));
  }
}

// A value of its own: the callable may go on writing to what it returned.
Value Result(PyObject* object) {
  FeedReferences references;
  Value value = ValueFromPython(object, DeclaredInput(), references);
  value.CopyBorrowed();
  return value;
}

void Call(PyObject* callable, CustomOpContext& ctx) {
  const auto inputs = static_cast<size_t>(ctx.input_size());
  const nb::object arguments = Steal(PyTuple_New(static_cast<Py_ssize_t>(inputs)));
  for (size_t i = 0; i < inputs; ++i)
    PyTuple_SET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i),
                     Steal(SharedWithPython(ctx.input(static_cast<int>(i)))).release().ptr());
  const nb::object attributes = Steal(PyDict_New());
  for (const AttributeProto& attribute : ctx.node().attribute())
    if (PyDict_SetItem(attributes.ptr(), Text(attribute.name()).ptr(), AttributeObject(attribute).ptr()) != 0)
      throw PythonError();
  const nb::object result = Steal(PyObject_Call(callable, arguments.ptr(), attributes.ptr()));
  const bool is_tuple = PyTuple_Check(result.ptr());
  const int given = is_tuple ? static_cast<int>(PyTuple_GET_SIZE(result.ptr())) : 1;
  if (given != ctx.output_size())
    throw InvalidArgument(fmt::format("the node has {} outputs, the operator returned {}", ctx.output_size(), given));
  for (int i = 0; i < given; ++i) {
    if (!ctx.HasOutput(i)) continue;
    PyObject* item = is_tuple ? PyTuple_GET_ITEM(result.ptr(), i) : result.ptr();
    if (item == Py_None) throw InvalidArgument(fmt::format("the operator returned None for output {}", i));
    ctx.SetOutput(i, Result(item));
  }
}

// Calls `fn` with the GIL; what it raises becomes a CallbackError.
template <class Fn>
void WithGil(const Fn& fn) {
  const nb::gil_scoped_acquire gil;
  try {
    fn();
  } catch (const PythonError&) {
    SharedObject raised = Share(TakeRaised().release().ptr());
    const nb::object text = nb::steal(PyObject_Str(raised.get()));
    if (!text.is_valid()) PyErr_Clear();
    const std::string what = fmt::format("{}: {}", Py_TYPE(raised.get())->tp_name,
                                         text.is_valid() ? nb::cast<std::string>(text) : std::string("?"));
    throw CallbackError(what, std::move(raised));
  }
}

}  // namespace

SharedObject Share(PyObject* object) {
  return {object, [](PyObject* held) {
            if (Py_IsInitialized() == 0) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_XDECREF(held);
            PyGILState_Release(state);
          }};
}

std::vector<CustomOp> CustomOpsFrom(const nb::dict& callables) {
  std::vector<CustomOp> ops;
  for (const auto& [key, callable] : callables) {
    std::pair<std::string, std::string> name;
    if (!PyTuple_Check(key.ptr()) || PyTuple_GET_SIZE(key.ptr()) != 2 || !nb::try_cast(key[0], name.first) ||
        !nb::try_cast(key[1], name.second) || !PyCallable_Check(callable.ptr()))
      throw nb::type_error("custom_ops is a dict of (domain, type): callable");
    CustomOp& op = ops.emplace_back();
    op.domain = std::move(name.first);
    op.type = std::move(name.second);
    Py_INCREF(callable.ptr());
    op.run = [shared = Share(callable.ptr())](CustomOpContext& ctx) { WithGil([&] { Call(shared.get(), ctx); }); };
  }
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
