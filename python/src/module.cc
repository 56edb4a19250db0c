// SPDX-License-Identifier: Apache-2.0
// The extension module behind the Python package `onnxseq`: sessions and shape inference over numpy values.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "cli/json_events.h"
#include "numpy_values.h"
#include "onnx_io/external_data.h"
#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "onnxseq/shapes.h"
#include "python_events.h"

namespace nb = nanobind;

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Calls a function that works with raw references.
template <class Fn>
auto Checked(Fn&& fn) {
  try {
    return fn();
  } catch (const PythonError&) {
    nb::raise_python_error();
  }
}

std::string FileSystemPath(nb::handle object) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &bytes) == 0) nb::raise_python_error();
  const nb::object owner = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

// Where a model comes from: a path, or bytes kept alive here (those of an onnx.ModelProto are made by it).
struct ModelSource {
  std::string path;
  nb::object bytes;

  explicit ModelSource(nb::handle model) {
    if (nb::hasattr(model, "SerializeToString")) {
      bytes = model.attr("SerializeToString")();
    } else if (PyBytes_Check(model.ptr())) {
      bytes = nb::borrow(model);
    } else if (PyByteArray_Check(model.ptr()) || PyMemoryView_Check(model.ptr())) {
      bytes = nb::steal(PyBytes_FromObject(model.ptr()));
      if (!bytes.is_valid()) nb::raise_python_error();
    } else if (PyUnicode_Check(model.ptr()) || nb::hasattr(model, "__fspath__")) {
      path = FileSystemPath(model);
    } else {
      throw nb::type_error("a model is a path, bytes, or an onnx.ModelProto");
    }
    if (bytes.is_valid() && !PyBytes_Check(bytes.ptr()))
      throw nb::type_error("SerializeToString() of the model gave no bytes");
  }

  std::string_view View() const {
    return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
  }

  // Without the GIL. External data that cannot be had is listed, as ReadModelFile does; bytes have none.
  ModelProto Read(ExternalDataReport& external) const {
    if (bytes.is_valid()) return ParseModel(View(), nullptr);
    return ReadModelFile(path, &external);
  }
};

// What get_inputs() and get_outputs() list.
struct ValueInfo {
  std::string name;
  std::string type;
  nb::object shape;
};

ValueInfo Describe(const ValueDescription& value) {
  nb::object shape = nb::none();
  if (value.shape) {
    nb::list dims;
    for (const std::string& dim : *value.shape) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), number);
      if (dim.empty()) {
        dims.append(nb::none());
      } else if (error == std::errc() && end == dim.data() + dim.size()) {
        dims.append(number);
      } else {
        dims.append(dim);
      }
    }
    shape = dims;
  }
  return {value.name, value.type, shape};
}

// The options of a session and of its runs.
struct PythonOptions {
  SessionOptions session;
  int64_t memory_limit = 0;
};

// The object as a T, or a TypeError that says what was expected and what was given.
template <class T>
T As(nb::handle object, const char* expected) {
  T value;
  if (!nb::try_cast(object, value))
    throw nb::type_error(fmt::format("expected {}, got {}", expected, nb::repr(object).c_str()).c_str());
  return value;
}

class InferenceSession {
 public:
  InferenceSession(nb::handle model, std::optional<PythonOptions> options)
      : session_(Load(model, options ? options->session : SessionOptions())),
        memory_limit_(options ? options->memory_limit : 0) {
    for (const ValueDescription& input : session_.inputs())
      declared_.emplace(input.name, DeclaredInput::Parse(input.type));
    for (const ValueDescription& output : session_.outputs()) output_names_.push_back(output.name);
  }

  nb::object Run(nb::object output_names, nb::dict feeds, std::optional<double> timeout) const {
    std::vector<std::string> chosen;
    if (!output_names.is_none()) {
      if (PyUnicode_Check(output_names.ptr())) throw nb::type_error("output_names is a list of names or None");
      for (nb::handle name : output_names) chosen.push_back(As<std::string>(name, "an output name"));
      if (chosen.empty()) return nb::list();
    }
    RunOptions options;
    options.memory_limit = memory_limit_;
    if (timeout) {
      if (!(*timeout > 0))
        throw InvalidArgument(fmt::format("timeout is {}, but a run takes more than no time", *timeout));
      // A deadline past what the clock can count is none.
      if (*timeout < 1e9) options.timeout = std::chrono::nanoseconds(static_cast<int64_t>(*timeout * 1e9));
    }
    const ValueMap inputs = ReadFeeds(feeds);
    ValueMap outputs;
    {
      const nb::gil_scoped_release release;
      outputs = session_.Run(inputs, chosen, options);
    }
    const std::vector<std::string>& names = chosen.empty() ? output_names_ : chosen;
    nb::list result;
    for (const std::string& name : names) {
      result.append(nb::steal(Checked([&] { return PythonFromValue(outputs.at(name)); })));
    }
    return result;
  }

  nb::list Inputs() const { return DescribeAll(session_.inputs()); }
  nb::list Outputs() const { return DescribeAll(session_.outputs()); }

 private:
  static Session Load(nb::handle model, const SessionOptions& options) {
    const ModelSource source(model);
    const nb::gil_scoped_release release;
    return source.bytes.is_valid() ? Session::Parse(source.View(), options) : Session::Load(source.path, options);
  }

  static nb::list DescribeAll(std::span<const ValueDescription> values) {
    nb::list list;
    for (const ValueDescription& value : values) list.append(Describe(value));
    return list;
  }

  ValueMap ReadFeeds(const nb::dict& feeds) const {
    const auto references = std::make_shared<PythonReferences>();
    ValueMap inputs;
    for (const auto& [key, object] : feeds) {
      std::string name = As<std::string>(key, "an input name");
      const auto declared = declared_.find(name);
      try {
        Value value = Checked([&, &fed = object] {
          return ValueFromPython(fed.ptr(), declared == declared_.end() ? DeclaredInput() : declared->second,
                                 references);
        });
        // An absent optional is one that is not fed.
        if (!value.IsNone()) inputs.emplace(std::move(name), std::move(value));
      } catch (Error& error) {
        error.AddPath(fmt::format("in what is fed to input '{}'", name));
        throw;
      }
    }
    return inputs;
  }

  Session session_;
  int64_t memory_limit_;
  std::unordered_map<std::string, DeclaredInput> declared_;
  std::vector<std::string> output_names_;
};

ShapeOptions ReadShapeOptions(const nb::dict& dims, const nb::dict& shapes) {
  ShapeOptions options;
  for (const auto& [name, size] : dims)
    options.dims[As<std::string>(name, "a symbol's name")] = As<int64_t>(size, "a size as int");
  for (const auto& [name, shape] : shapes) {
    std::vector<std::string>& texts = options.shapes[As<std::string>(name, "an input name")];
    for (nb::handle dim : shape) texts.push_back(nb::cast<std::string>(nb::str(dim)));
  }
  return options;
}

nb::object InferShapesOf(nb::handle model, nb::dict dims, nb::dict shapes) {
  const ModelSource source(model);
  const ShapeOptions options = ReadShapeOptions(dims, shapes);
  InferredShapes inferred;
  {
    const nb::gil_scoped_release release;
    ExternalDataReport external;
    inferred = InferShapes(source.Read(external), options);
    for (std::string& message : external.missing) inferred.problems.push_back({false, std::move(message)});
  }
  PythonEvents events;
  EmitInferredShapes(events, source.path, inferred);
  return events.result();
}

nb::bytes InferShapesModelOf(nb::handle model, nb::dict dims, nb::dict shapes) {
  const ModelSource source(model);
  const ShapeOptions options = ReadShapeOptions(dims, shapes);
  std::string bytes;
  {
    const nb::gil_scoped_release release;
    // The result refers to external data where the model does, and does not hold it.
    const bool is_onnx =
        !source.bytes.is_valid() && !source.path.ends_with(".xml") && !source.path.ends_with(".onnxtxt");
    ExternalDataReport external;
    ModelProto proto = is_onnx ? ReadModel(source.path) : source.Read(external);
    ExternalReferences references;
    if (is_onnx) references = LoadExternalData(proto, DataFoldersOf(source.path), &external.missing);
    WriteShapes(proto, options);
    references.Restore();
    bytes = SerializeModel(proto);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

void ConvertFile(nb::handle model, nb::handle path, std::optional<int64_t> external_data, nb::handle data_folder) {
  const ModelSource source(model);
  const std::string target = FileSystemPath(path);
  const std::string folder = data_folder.is_none() ? std::string() : FileSystemPath(data_folder);
  const nb::gil_scoped_release release;
  ExternalDataReport external;
  ModelProto proto = source.Read(external);
  if (!external.missing.empty()) throw InvalidArgument(external.missing.front());
  if (!folder.empty()) LoadExternalData(proto, folder);
  WriteModelOptions options = AsRead(external);
  if (external_data) options.external_bytes = external_data;
  WriteModelFile(proto, target, options);
}

// The class of onnxseq/errors.py that stands for `error`.
const char* PythonClassOf(const std::exception* error) {
  const auto is = [&]<class T>(const T*) { return dynamic_cast<const T*>(error) != nullptr; };
  if (is(static_cast<const Unsupported*>(nullptr))) return "Unsupported";
  if (is(static_cast<const ModelParseError*>(nullptr))) return "ModelParseError";
  if (is(static_cast<const IoError*>(nullptr))) return "IoError";
  if (is(static_cast<const TimeoutError*>(nullptr))) return "TimeoutError";
  if (is(static_cast<const MemoryError*>(nullptr))) return "MemoryError";
  if (is(static_cast<const std::out_of_range*>(nullptr))) return "OutOfRange";
  if (is(static_cast<const std::logic_error*>(nullptr))) return "InvalidArgument";
  return "Error";
}

void Translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    const nb::object type =
        nb::module_::import_("onnxseq.errors").attr(PythonClassOf(dynamic_cast<const std::exception*>(&error)));
    const auto text = [](const std::string& bytes) {
      return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
    };
    const nb::object exception = type(text(error.what()));
    nb::list path;
    for (const std::string& place : error.path()) path.append(text(place));
    exception.attr("op_type") = text(error.op_type());
    exception.attr("node_name") = text(error.node_name());
    exception.attr("subject") = text(error.subject());
    exception.attr("path") = nb::tuple(path);
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace

NB_MODULE(_onnxseq, m) {
  if (!InitNumpy()) nb::raise_python_error();
  nb::register_exception_translator(Translate);
  m.attr("__version__") = ONNXSEQ_VERSION;

  nb::class_<PythonOptions>(
      m, "SessionOptions",
      "How a session runs. threads: how many take part in one run, the caller included; 0 = as many as the CPU "
      "has to give. denormals: keep denormal numbers instead of flushing them to zero. seed: of random operators "
      "without one of their own. memory_limit: bytes the tensors of one run may take at once, else "
      "onnxseq.MemoryError; 0 = no limit. data_folder: where the external data of a model given as bytes or "
      "ModelProto lies; that of a file lies beside it.")
      .def(
          "__init__",
          [](PythonOptions* self, int threads, bool denormals, std::optional<uint64_t> seed, int64_t memory_limit,
             nb::handle data_folder) {
            if (threads < 0) throw InvalidArgument(fmt::format("threads is {}, but 0 is the least", threads));
            if (memory_limit < 0)
              throw InvalidArgument(fmt::format("memory_limit is {}, but 0 is the least", memory_limit));
            new (self) PythonOptions{
                .session = {.threads = threads,
                            .denormals = denormals,
                            .seed = seed,
                            .data_folder = data_folder.is_none() ? std::string() : FileSystemPath(data_folder)},
                .memory_limit = memory_limit};
          },
          nb::kw_only(), nb::arg("threads") = 0, nb::arg("denormals") = false, nb::arg("seed") = nb::none(),
          nb::arg("memory_limit") = 0, nb::arg("data_folder") = nb::none())
      .def_prop_ro("threads", [](const PythonOptions& self) { return self.session.threads; })
      .def_prop_ro("denormals", [](const PythonOptions& self) { return self.session.denormals; })
      .def_prop_ro("seed", [](const PythonOptions& self) { return self.session.seed; })
      .def_ro("memory_limit", &PythonOptions::memory_limit);

  nb::class_<ValueInfo>(m, "ValueInfo",
                        "An input or output: name, type (\"tensor(float)\"), shape (ints, names, None; or None).")
      .def_ro("name", &ValueInfo::name)
      .def_ro("type", &ValueInfo::type)
      .def_ro("shape", &ValueInfo::shape)
      .def("__repr__", [](const ValueInfo& self) {
        return fmt::format("ValueInfo(name='{}', type='{}', shape={})", self.name, self.type,
                           nb::repr(self.shape).c_str());
      });

  nb::class_<InferenceSession>(
      m, "InferenceSession",
      "A model made ready to run: the path of an ONNX file or of an OpenVINO IR .xml, the bytes of an ONNX "
      "file, or an onnx.ModelProto. One session may run in many threads at once.")
      .def(nb::init<nb::handle, std::optional<PythonOptions>>(), nb::arg("model"), nb::arg("options") = nb::none())
      .def("run", &InferenceSession::Run, nb::arg("output_names").none(), nb::arg("feeds"), nb::kw_only(),
           nb::arg("timeout") = nb::none(),
           "The named outputs, or all of them for None, as a list: arrays, lists of arrays for sequences, None for "
           "absent optionals. "
           "feeds: values by input name. timeout: seconds after which onnxseq.TimeoutError is raised.")
      .def("get_inputs", &InferenceSession::Inputs)
      .def("get_outputs", &InferenceSession::Outputs);

  m.def("infer_shapes", &InferShapesOf, nb::arg("model"), nb::arg("dims") = nb::dict(), nb::arg("shapes") = nb::dict(),
        "Kind, element type and shape of every value, as the dict `onnxseq shapes --json` prints. dims: sizes for "
        "symbols of the "
        "inputs; shapes: shapes for inputs, each dim a number, a name or an expression. What is wrong with the model "
        "is listed "
        "under \"problems\", not raised.");
  m.def("_infer_shapes_model", &InferShapesModelOf, nb::arg("model"), nb::arg("dims"), nb::arg("shapes"));
  m.def("convert", &ConvertFile, nb::arg("model"), nb::arg("path"), nb::kw_only(),
        nb::arg("external_data") = nb::none(), nb::arg("data_folder") = nb::none(),
        "Writes a model (a path, bytes, or an onnx.ModelProto) to a file, whole or not at all, in the form its suffix "
        "names: ONNX text for .onnxtxt, else ONNX. external_data: keep initializers of this many bytes and more in a "
        "file beside it (a model that has external data keeps it so anyway). data_folder: where the external data of a "
        "model lies that is not given as a path.");
}

}  // namespace ONNX_LIGHT_NAMESPACE
