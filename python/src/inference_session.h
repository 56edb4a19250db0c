// SPDX-License-Identifier: Apache-2.0
// InferenceSession of the Python package: sessions over numpy values. Everything here needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "numpy_values.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// The path as the operating system takes it, from str, bytes or an os.PathLike; raises TypeError for others.
std::string FileSystemPath(nanobind::handle object);

// Where a model comes from: a path, or bytes kept alive here (those of an onnx.ModelProto are made by it).
struct ModelSource {
  std::string path;
  nanobind::object bytes;

  explicit ModelSource(nanobind::handle model);
  std::string_view View() const;
  // Without the GIL. External data of a file that cannot be had is listed, as ReadModelFile does; bytes have none.
  ModelProto Read(ExternalDataReport* external = nullptr) const;
};

// Options of a run that signals may end, on the main thread, and a timeout in seconds (InvalidArgument unless > 0).
RunOptions RunOptionsFrom(std::optional<double> timeout);

// Calls fn without the GIL. What a signal handler raised goes before the end of the run it brought about.
template <class Fn>
void WithoutGil(const Fn& fn) {
  try {
    const nanobind::gil_scoped_release release;
    fn();
  } catch (const Error&) {
    if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();
    throw;
  }
}

// What Python gets of an output. What numpy cannot hold is an error that names the output.
nanobind::object OutputObject(const Value& value, const std::string& name);

// What get_inputs() and get_outputs() list.
struct ValueInfo {
  nanobind::object name;
  nanobind::object type;
  nanobind::object shape;
};

class InferenceSession {
 public:
  InferenceSession(nanobind::handle model, const std::optional<SessionOptions>& options);

  InferenceSession(const InferenceSession&) = delete;
  InferenceSession& operator=(const InferenceSession&) = delete;

  nanobind::object Run(nanobind::object output_names, nanobind::dict feeds, std::optional<double> timeout);
  nanobind::object Profile(nanobind::dict feeds);
  nanobind::list CheckShapes(nanobind::dict feeds);
  nanobind::object Explain() const;
  void Trim() const { session_.Trim(); }
  nanobind::list Inputs() const;
  nanobind::list Outputs() const;

  const Session& session() const { return session_; }
  // The feeds by name, those that are None left out.
  ValueMap ReadFeeds(const nanobind::dict& feeds) const;

 private:
  struct Input {
    nanobind::object name;  // as dicts hold it: interned
    DeclaredInput declared;
  };
  // The position of the input with this name, -1 for none.
  int InputOf(nanobind::handle name) const;
  // The positions of the outputs named, nothing when one is an inner value.
  std::optional<std::vector<int>> OutputsOf(const std::vector<std::string>& names) const;
  Value ReadFeed(nanobind::handle name, nanobind::handle object, int input, FeedReferences& references) const;
  std::unique_ptr<Runner> TakeRunner();
  void RunPositions(const nanobind::dict& feeds, std::optional<std::vector<int>> positions, const RunOptions& options,
                    nanobind::list& results);

  Session session_;
  std::vector<Input> inputs_;
  std::vector<std::string> output_names_;
  std::vector<std::unique_ptr<Runner>> idle_;  // guarded by the GIL
};

}  // namespace ONNX_LIGHT_NAMESPACE
