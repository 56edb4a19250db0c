// SPDX-License-Identifier: Apache-2.0
// Session: a model made ready to run.
//
//   onnxseq::Session session = onnxseq::Session::Load("model.onnx");
//   onnxseq::ValueMap outputs = session.Run({{"x", tensor}});
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"
#include "onnxseq/versions.h"

namespace ONNX_LIGHT_NAMESPACE {

using ValueMap = std::map<std::string, Value, std::less<>>;

struct SessionOptions {
  // Threads that take part in one run, the caller included; 0 = as many CPUs as the process may use. 1 starts no
  // thread.
  int threads = 0;
  // Keep denormal numbers instead of flushing them to zero.
  bool denormals = false;
  // Random operators without a seed of their own give the same numbers in each run of a single-threaded session; other
  // ones in each run when absent.
  std::optional<uint64_t> seed;
  // Below it lies the external data of a model that is not loaded from a file; a file's lies beside it.
  std::string data_folder;
};

struct RunOptions {
  // TimeoutError when the run takes longer.
  std::optional<std::chrono::nanoseconds> timeout;
  // TimeoutError soon after another thread has set it; must outlive the run.
  const std::atomic<bool>* cancel = nullptr;
  // MemoryError when the tensors of the run would take more bytes at once; 0 = no limit.
  int64_t memory_limit = 0;
};

// One input or output of the model.
struct ValueDescription {
  std::string name;
  // "tensor(float)", "seq(tensor(int64))", "optional(tensor(float))"; "unknown" when the model does not say and it is
  // not inferred.
  std::string type;
  // One text per dim: a number, a name or an expression, a fresh name such as "unk__0" when the model gives none;
  // nothing when the rank is unknown or the value is not a tensor.
  std::optional<std::vector<std::string>> shape;
};

// Loading reads, checks and plans; it throws ModelParseError, IoError, InvalidArgument or Unsupported (which lists
// every operator that cannot run). A loaded session is immutable: Run may be called from many threads at once. Copies
// share everything.
class ONNXSEQ_API Session {
 public:
  // An ONNX file, or an OpenVINO IR .xml with its .bin beside it.
  static Session Load(const std::string& path, const SessionOptions& options = {});
  // The bytes of an ONNX file.
  static Session Parse(std::string_view bytes, const SessionOptions& options = {});
  static Session FromModel(ModelProto model, const SessionOptions& options = {});

  std::span<const ValueDescription> inputs() const;
  std::span<const ValueDescription> outputs() const;
  const ModelProto& model() const;

  // Runs with the named inputs (optional ones may be missing) and returns the named outputs, all of them when none are
  // named. Throws InvalidArgument for a wrong or missing input and whatever an operator finds, TimeoutError past the
  // deadline; the session is as before and may run again.
  ValueMap Run(const ValueMap& inputs, std::span<const std::string> outputs = {}, const RunOptions& options = {}) const;

 private:
  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
