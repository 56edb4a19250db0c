// SPDX-License-Identifier: Apache-2.0
// The extension module behind the Python package `onnxseq`: sessions and shape inference over numpy values.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "callbacks.h"
#include "cli/json_events.h"
#include "inference_session.h"
#include "numpy_values.h"
#include "objects.h"
#include "onnx_io/external_data.h"
#include "onnx_io/reader.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"
#include "onnxseq/shapes.h"
#include "python_events.h"
#include "streams.h"

namespace nb = nanobind;

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The names of an option's values, in their order.
template <class Choice>
constexpr std::nullptr_t kNames{};
template <>
constexpr std::array<std::string_view, 3> kNames<WeightStorage>{"f32", "bf16", "int8"};
template <>
constexpr std::array<std::string_view, 4> kNames<SequenceMapStrategy>{"auto", "elements", "stacked", "packed"};

template <class Choice>
std::string_view NameOf(Choice choice) {
  return kNames<Choice>[static_cast<size_t>(choice)];
}

template <class Choice>
Choice ChoiceFrom(std::string_view option, std::string_view name) {
  const auto found = std::ranges::find(kNames<Choice>, name);
  if (found == kNames<Choice>.end())
    throw InvalidArgument(fmt::format("{} is \"{}\", not one of {}", option, name, fmt::join(kNames<Choice>, ", ")));
  return static_cast<Choice>(found - kNames<Choice>.begin());
}

ShapeOptions ReadShapeOptions(const nb::dict& dims, const nb::dict& shapes) {
  ShapeOptions options;
  for (const auto& [name, size] : dims)
    options.dims[NameFrom(name, "a symbol's name")] = As<int64_t>(size, "a size as int");
  for (const auto& [name, shape] : shapes) {
    std::vector<std::string>& texts = options.shapes[NameFrom(name, "an input name")];
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
    inferred = InferShapes(source.Read(&external), options);
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
    ModelProto proto = is_onnx ? ReadModel(source.path) : source.Read(&external);
    ExternalReferences references;
    if (is_onnx) references = LoadExternalData(proto, DataFoldersOf(source.path), &external.missing);
    WriteShapes(proto, options);
    references.Restore();
    bytes = SerializeModel(proto);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

// What became of each SequenceMap, when that is asked for.
nb::list ConvertFile(nb::handle model, nb::handle path, std::optional<int64_t> external_data, nb::handle data_folder,
                     bool optimize, bool batch_sequence_map, bool lower, int ir_version) {
  const ModelSource source(model);
  const std::string target = FileSystemPath(path);
  const std::string folder = data_folder.is_none() ? std::string() : FileSystemPath(data_folder);
  std::vector<std::string> notes;
  {
    const nb::gil_scoped_release release;
    ExternalDataReport external;
    external.need_all = true;
    ModelProto proto = source.Read(&external);
    if (!folder.empty()) LoadExternalData(proto, folder);
    if (optimize) proto = OptimizeModel(std::move(proto));
    if (batch_sequence_map) proto = BatchSequenceMaps(std::move(proto), &notes);
    WriteModelOptions options = AsRead(external);
    if (external_data) options.external_bytes = external_data;
    options.lower = lower;
    options.ir_version = ir_version;
    WriteModelFile(proto, target, options);
  }
  return MessageTexts(notes);
}

// [(is_error, message)], errors first.
nb::list FindProblemsOf(nb::handle model) {
  const ModelSource source(model);
  std::vector<ShapeProblem> problems;
  {
    const nb::gil_scoped_release release;
    problems = FindProblems(source.Read());
  }
  nb::list list;
  for (const ShapeProblem& problem : problems)
    list.append(nb::make_tuple(problem.is_error, MessageText(problem.message)));
  return list;
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
    const auto* const callback = dynamic_cast<const CallbackError*>(&error);
    if (callback != nullptr && !PyObject_IsInstance(callback->raised(), PyExc_Exception)) {
      // KeyboardInterrupt and its like go through everything.
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(callback->raised())), callback->raised());
      return;
    }
    const nb::object type =
        nb::module_::import_("onnxseq.errors").attr(PythonClassOf(dynamic_cast<const std::exception*>(&error)));
    const nb::object exception = type(MessageText(error.what()));
    nb::list path;
    for (const std::string& place : error.path()) path.append(MessageText(place));
    exception.attr("op_type") = MessageText(error.op_type());
    exception.attr("node_name") = MessageText(error.node_name());
    exception.attr("subject") = MessageText(error.subject());
    exception.attr("path") = nb::tuple(path);
    if (callback != nullptr) PyException_SetCause(exception.ptr(), nb::borrow(callback->raised()).release().ptr());
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace

NB_MODULE(_onnxseq, m) {
  if (!InitNumpy()) nb::raise_python_error();
  nb::register_exception_translator(Translate);
  m.attr("_version") = ONNXSEQ_VERSION;

  nb::class_<SessionOptions>(
      m, "SessionOptions",
      "How a session runs. threads: how many take part in one run, the caller included; 0 = as many as the CPU "
      "has to give. optimize: rewrite the model first into one that gives the same in less time; "
      "InferenceSession.explain() says how. denormals: keep denormal numbers instead of flushing them to zero. "
      "weights: "
      "how recurrent operators of type float keep constant weights, \"f32\", \"bf16\" or \"int8\", the last two less "
      "exact and faster where memory is what they wait for. deterministic: the same to the bit however work is "
      "batched. sequence_map: how SequenceMap runs its body: \"elements\" one by one; \"stacked\", those of one shape "
      "together; \"packed\", all together where they differ in one dim at most; \"auto\", as it pays. seed: of random "
      "operators "
      "without one of their own. memory_limit: bytes the tensors of one run may take at once, else "
      "onnxseq.MemoryError; 0 = no limit. data_folder: where the external data of a model given as bytes or "
      "ModelProto lies; that of a file lies beside it. custom_ops: {(domain, type): callable}; a callable gets the "
      "inputs as "
      "read-only arrays and the node's attributes as keywords, and returns the output or a tuple of them.")
      .def(
          "__init__",
          [](SessionOptions* self, int threads, bool optimize, bool denormals, const std::string& weights,
             bool deterministic, const std::string& sequence_map, std::optional<uint64_t> seed, int64_t memory_limit,
             const nb::dict& custom_ops, nb::handle data_folder) {
            if (threads < 0) throw InvalidArgument(fmt::format("threads is {}, but 0 is the least", threads));
            if (memory_limit < 0)
              throw InvalidArgument(fmt::format("memory_limit is {}, but 0 is the least", memory_limit));
            new (self)
                SessionOptions{.threads = threads,
                               .optimize = optimize,
                               .denormals = denormals,
                               .weights = ChoiceFrom<WeightStorage>("weights", weights),
                               .sequence_map = ChoiceFrom<SequenceMapStrategy>("sequence_map", sequence_map),
                               .deterministic = deterministic,
                               .seed = seed,
                               .data_folder = data_folder.is_none() ? std::string() : FileSystemPath(data_folder),
                               .memory_limit = memory_limit,
                               .custom_ops = CustomOpsFrom(custom_ops),
                               .on_warning = {}};
          },
          nb::sig("def __init__(self, *, threads: int = 0, optimize: bool = True, denormals: bool = False, "
                  "weights: typing.Literal['f32', 'bf16', 'int8'] = 'f32', deterministic: bool = False, "
                  "sequence_map: typing.Literal['auto', 'elements', 'stacked', 'packed'] = 'auto', "
                  "seed: int | None = None, memory_limit: int = 0, "
                  "custom_ops: dict[tuple[str, str], collections.abc.Callable[..., typing.Any]] = {}, "
                  "data_folder: _Path | None = None) -> None"),
          nb::kw_only(), nb::arg("threads") = 0, nb::arg("optimize") = true, nb::arg("denormals") = false,
          nb::arg("weights") = "f32", nb::arg("deterministic") = false, nb::arg("sequence_map") = "auto",
          nb::arg("seed") = nb::none(), nb::arg("memory_limit") = 0, nb::arg("custom_ops") = nb::dict(),
          nb::arg("data_folder") = nb::none())
      .def_ro("threads", &SessionOptions::threads)
      .def_ro("optimize", &SessionOptions::optimize)
      .def_ro("denormals", &SessionOptions::denormals)
      .def_prop_ro("weights", [](const SessionOptions& self) { return NameOf(self.weights); })
      .def_ro("deterministic", &SessionOptions::deterministic)
      .def_prop_ro("sequence_map", [](const SessionOptions& self) { return NameOf(self.sequence_map); })
      .def_ro("seed", &SessionOptions::seed)
      .def_ro("memory_limit", &SessionOptions::memory_limit);

  nb::class_<ValueInfo>(m, "ValueInfo",
                        "An input or output: name, type (\"tensor(float)\"), shape (ints, names, None; or None).")
      .def_ro("name", &ValueInfo::name, nb::for_getter(nb::sig("def name(self, /) -> str")))
      .def_ro("type", &ValueInfo::type, nb::for_getter(nb::sig("def type(self, /) -> str")))
      .def_ro("shape", &ValueInfo::shape,
              nb::for_getter(nb::sig("def shape(self, /) -> list[int | str | None] | None")))
      .def(
          "__repr__",
          [](const ValueInfo& self) {
            return nb::str("ValueInfo(name={!r}, type={!r}, shape={!r})")
                .attr("format")(self.name, self.type, self.shape);
          },
          nb::sig("def __repr__(self) -> str"));

  nb::class_<InferenceSession>(
      m, "InferenceSession",
      "A model made ready to run: the path of an ONNX file, of ONNX text (.onnxtxt) or of an OpenVINO IR .xml, the "
      "bytes of an ONNX file, or an onnx.ModelProto. One session may run in many threads at once.")
      .def(nb::init<nb::handle, std::optional<SessionOptions>>(),
           nb::sig("def __init__(self, model: _Model, options: SessionOptions | None = None) -> None"),
           nb::arg("model"), nb::arg("options") = nb::none())
      .def("explain", &InferenceSession::Explain, nb::sig("def explain(self) -> str"),
           "What was made of the model before it runs: how many nodes there were and are, and what each pass did.")
      .def("run", &InferenceSession::Run,
           nb::sig("def run(self, output_names: collections.abc.Sequence[str] | None, "
                   "feeds: _Feeds, *, timeout: float | None = None) -> list[typing.Any]"),
           nb::arg("output_names").none(), nb::arg("feeds"), nb::kw_only(), nb::arg("timeout") = nb::none(),
           "The named outputs, or all of them for None, as a list: arrays, lists of arrays for sequences, None for "
           "absent optionals. Any value of the main graph may be named, not outputs alone. "
           "feeds: values by input name. timeout: seconds after which onnxseq.TimeoutError is raised.")
      .def("profile", &InferenceSession::Profile,
           nb::sig("def profile(self, feeds: _Feeds) -> list[dict[str, typing.Any]]"), nb::arg("feeds"),
           "Runs once. A dict for each node that ran, in the order they began: path of the body it stands in, op_type, "
           "name, thread, start and seconds.")
      .def(
          "check_shapes", &InferenceSession::CheckShapes, nb::sig("def check_shapes(self, feeds: _Feeds) -> list[str]"),
          nb::arg("feeds"),
          "Runs once, and holds every value, those of bodies and functions included, against what infer_shapes says of "
          "it. What contradicts it, as a list of messages: each is a mistake of onnxseq.")
      .def("trim", &InferenceSession::Trim, "Gives back memory that runs keep for the next ones.")
      .def("get_inputs", &InferenceSession::Inputs, nb::sig("def get_inputs(self) -> list[ValueInfo]"))
      .def("get_outputs", &InferenceSession::Outputs, nb::sig("def get_outputs(self) -> list[ValueInfo]"));

  BindStreams(m);

  m.def("infer_shapes", &InferShapesOf,
        nb::sig("def infer_shapes(model: _Model, dims: _Dims = {}, "
                "shapes: _Shapes = {}) -> dict[str, typing.Any]"),
        nb::arg("model"), nb::arg("dims") = nb::dict(), nb::arg("shapes") = nb::dict(),
        "Kind, element type and shape of every value, as the dict `onnxseq shapes --json` prints. dims: sizes for "
        "symbols of the "
        "inputs; shapes: shapes for inputs, each dim a number, a name or an expression. What is wrong with the model "
        "is listed "
        "under \"problems\", not raised.");
  m.def("_infer_shapes_model", &InferShapesModelOf,
        nb::sig("def _infer_shapes_model(model: _Model, dims: _Dims, "
                "shapes: _Shapes) -> bytes"),
        nb::arg("model"), nb::arg("dims"), nb::arg("shapes"));
  m.def(
      "convert", &ConvertFile,
      nb::sig("def convert(model: _Model, path: _Path, *, "
              "external_data: int | None = None, data_folder: _Path | None = None, "
              "optimize: bool = False, batch_sequence_map: bool = False, lower: bool = False, "
              "ir_version: int = 11) -> list[str]"),
      nb::arg("model"), nb::arg("path"), nb::kw_only(), nb::arg("external_data") = nb::none(),
      nb::arg("data_folder") = nb::none(), nb::arg("optimize") = false, nb::arg("batch_sequence_map") = false,
      nb::arg("lower") = false, nb::arg("ir_version") = 11,
      "Writes a model (a path, bytes, or an onnx.ModelProto) to a file, whole or not at all, in the form its suffix "
      "names: OpenVINO IR for .xml, ONNX text for .onnxtxt, else ONNX. external_data: keep initializers of this many "
      "bytes and more in a file beside it (a model that has external data keeps it so anyway). data_folder: where the "
      "external data of a model lies that is not given as a path. optimize: write what gives the same in less time, in "
      "standard operators. batch_sequence_map: optimize the model, and write "
      "SequenceMap as the nodes of its body over all elements at once, where standard operators can say it; returns "
      "for each what became of it. lower: write nodes that no layer of IR says as several others that give the same. "
      "ir_version: 11 or 10.");
  m.def("_find_problems", &FindProblemsOf, nb::sig("def _find_problems(model: _Model) -> list[tuple[bool, str]]"),
        nb::arg("model"));
}

}  // namespace ONNX_LIGHT_NAMESPACE
