// SPDX-License-Identifier: Apache-2.0
#include "inference_session.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "objects.h"
#include "onnx_io/reader.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "runtime/profiler.h"
#include "runtime/shape_check.h"

namespace nb = nanobind;

namespace ONNX_LIGHT_NAMESPACE {

namespace {

ValueInfo Describe(const ValueDescription& value) {
  nb::object shape = nb::none();
  if (value.shape) {
    nb::list dims;
    for (const ValueDescription::Dim& dim : *value.shape) {
      if (dim.size)
        dims.append(*dim.size);
      else if (dim.text.empty())
        dims.append(nb::none());
      else
        dims.append(NameText(dim.text));
    }
    shape = dims;
  }
  return {NameText(value.name), NameText(value.type), shape};
}

nb::list DescribeAll(std::span<const ValueDescription> values) {
  nb::list list;
  for (const ValueDescription& value : values) list.append(Describe(value));
  return list;
}

// Warnings are raised when all is loaded, where they may become exceptions.
Session Load(nb::handle model, SessionOptions options) {
  std::vector<std::string> warnings;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  const ModelSource source(model);
  std::optional<Session> session;
  {
    const nb::gil_scoped_release release;
    session = source.bytes.is_valid() ? Session::Parse(source.View(), options) : Session::Load(source.path, options);
  }
  if (warnings.empty()) return *session;
  const nb::object category = nb::module_::import_("onnxseq.errors").attr("Warning");
  for (const std::string& text : warnings) {
    const nb::object message = MessageText(text);
    if (PyErr_WarnEx(category.ptr(), PyUnicode_AsUTF8(message.ptr()), 1) != 0) nb::raise_python_error();
  }
  return *session;
}

// Python runs signal handlers on the main thread, which is the first of the process.
bool IsMainThread() {
  thread_local const bool is_main = getpid() == gettid();
  return is_main;
}

// Runs the handlers of signals that came meanwhile. True when one raised; the exception stays set.
bool PollSignals() {
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return raised;
}

}  // namespace

RunOptions RunOptionsFrom(std::optional<double> timeout) {
  RunOptions options;
  if (IsMainThread()) options.poll = PollSignals;
  if (!timeout) return options;
  if (!(*timeout > 0)) throw InvalidArgument(fmt::format("timeout is {}, but a run takes more than no time", *timeout));
  // A deadline past what the clock can count is none.
  if (*timeout < 1e9) options.timeout = std::chrono::nanoseconds(static_cast<int64_t>(*timeout * 1e9));
  return options;
}

nb::object OutputObject(const Value& value, const std::string& name) {
  try {
    return nb::steal(PythonFromValue(value));
  } catch (const PythonError&) {
    const bool memory = PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
    const nb::object raised = TakeRaised();
    const std::string fact =
        fmt::format("numpy cannot hold {}: {}", value.TypeString(), nb::cast<std::string>(nb::str(raised)));
    ErrorWhere where{.op_type = {}, .node_name = {}, .subject = fmt::format("output \"{}\"", name), .path = {}};
    if (memory) throw MemoryError(fact, std::move(where));
    throw InvalidArgument(fact, std::move(where));
  }
}

std::string FileSystemPath(nb::handle object) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &bytes) == 0) nb::raise_python_error();
  const nb::object owner = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

ModelSource::ModelSource(nb::handle model) {
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

std::string_view ModelSource::View() const {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

ModelProto ModelSource::Read(ExternalDataReport* external) const {
  if (bytes.is_valid()) return ParseModel(View(), nullptr);
  return ReadModelFile(path, external);
}

InferenceSession::InferenceSession(nb::handle model, const std::optional<SessionOptions>& options)
    : session_(Load(model, options ? *options : SessionOptions())) {
  for (const ValueDescription& input : session_.inputs()) {
    PyObject* name = NameText(input.name).release().ptr();
    PyUnicode_InternInPlace(&name);
    inputs_.push_back({nb::steal(name), DeclaredInput::Parse(input.type)});
  }
  for (const ValueDescription& output : session_.outputs()) output_names_.push_back(output.name);
}

int InferenceSession::InputOf(nb::handle name) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].name.is(name)) return static_cast<int>(i);
  for (size_t i = 0; i < inputs_.size() && PyUnicode_Check(name.ptr()); ++i)
    if (PyUnicode_Compare(inputs_[i].name.ptr(), name.ptr()) == 0) return static_cast<int>(i);
  return -1;
}

std::optional<std::vector<int>> InferenceSession::OutputsOf(const std::vector<std::string>& names) const {
  std::vector<int> positions;
  for (const std::string& name : names) {
    const auto it = std::ranges::find(output_names_, name);
    if (it == output_names_.end()) return std::nullopt;
    positions.push_back(static_cast<int>(it - output_names_.begin()));
  }
  return positions;
}

Value InferenceSession::ReadFeed(nb::handle name, nb::handle object, int input, FeedReferences& references) const {
  try {
    return Checked([&] {
      return ValueFromPython(object.ptr(), input < 0 ? DeclaredInput() : inputs_[static_cast<size_t>(input)].declared,
                             references);
    });
  } catch (Error& error) {
    error.AddPath(fmt::format("in what is fed to input '{}'", NameFrom(name, "an input name")));
    throw;
  }
}

ValueMap InferenceSession::ReadFeeds(const nb::dict& feeds) const {
  FeedReferences references;
  ValueMap inputs;
  for (const auto& [name, object] : feeds) {
    Value value = ReadFeed(name, object, InputOf(name), references);
    // An absent optional is one that is not fed.
    if (!value.IsNone()) inputs.emplace(NameFrom(name, "an input name"), std::move(value));
  }
  return inputs;
}

std::unique_ptr<Runner> InferenceSession::TakeRunner() {
  if (idle_.empty()) return std::make_unique<Runner>(session_);
  std::unique_ptr<Runner> runner = std::move(idle_.back());
  idle_.pop_back();
  return runner;
}

void InferenceSession::RunPositions(const nb::dict& feeds, std::optional<std::vector<int>> positions,
                                    const RunOptions& options, nb::list& results) {
  std::unique_ptr<Runner> runner = TakeRunner();
  FeedReferences references;
  for (const auto& [name, object] : feeds) {
    const int i = InputOf(name);
    // No such input: reading the feeds by name says so.
    if (i < 0) static_cast<void>(session_.Run(ReadFeeds(feeds)));
    runner->SetInput(i, ReadFeed(name, object, i, references));
  }
  WithoutGil([&] { runner->Run(options); });
  for (int i = 0; i < runner->input_size(); ++i) runner->SetInput(i, Value());
  std::vector<Value> values;
  for (int i = 0; i < runner->output_size(); ++i) values.push_back(runner->TakeOutput(i));
  idle_.push_back(std::move(runner));
  for (size_t i = 0; i < (positions ? positions->size() : values.size()); ++i) {
    const size_t at = positions ? static_cast<size_t>((*positions)[i]) : i;
    results.append(OutputObject(values[at], output_names_[at]));
  }
}

nb::object InferenceSession::Run(nb::object output_names, nb::dict feeds, std::optional<double> timeout) {
  const RunOptions options = RunOptionsFrom(timeout);
  nb::list results;
  if (output_names.is_none()) {
    RunPositions(feeds, std::nullopt, options, results);
    return results;
  }
  if (PyUnicode_Check(output_names.ptr())) throw nb::type_error("output_names is a list of names or None");
  std::vector<std::string> names;
  for (nb::handle name : output_names) names.push_back(NameFrom(name, "an output name"));
  if (names.empty()) return results;
  if (std::optional<std::vector<int>> positions = OutputsOf(names)) {
    RunPositions(feeds, std::move(positions), options, results);
    return results;
  }
  const ValueMap inputs = ReadFeeds(feeds);
  ValueMap outputs;
  WithoutGil([&] { outputs = session_.Run(inputs, names, options); });
  for (const std::string& name : names) results.append(OutputObject(outputs.at(name), name));
  return results;
}

nb::object InferenceSession::Profile(nb::dict feeds) {
  const ValueMap inputs = ReadFeeds(feeds);
  Profiler profiler;
  RunOptions options = RunOptionsFrom(std::nullopt);
  options.observer = &profiler;
  WithoutGil([&] { static_cast<void>(session_.Run(inputs, {}, options)); });
  nb::list entries;
  for (const Profiler::Entry& entry : profiler.Entries()) {
    nb::dict one;
    one["path"] = NameText(entry.path);
    one["op_type"] = NameText(entry.op_type);
    one["name"] = NameText(entry.node_name);
    one["thread"] = entry.thread;
    one["start"] = entry.start_seconds;
    one["seconds"] = entry.seconds;
    entries.append(one);
  }
  return entries;
}

nb::list InferenceSession::CheckShapes(nb::dict feeds) {
  const ValueMap inputs = ReadFeeds(feeds);
  ShapeCheck check(session_.model());
  RunOptions options = RunOptionsFrom(std::nullopt);
  options.observer = &check;
  WithoutGil([&] { static_cast<void>(session_.Run(inputs, {}, options)); });
  return MessageTexts(check.contradictions());
}

nb::object InferenceSession::Explain() const { return MessageText(session_.Explain()); }
nb::list InferenceSession::Inputs() const { return DescribeAll(session_.inputs()); }
nb::list InferenceSession::Outputs() const { return DescribeAll(session_.outputs()); }

}  // namespace ONNX_LIGHT_NAMESPACE
