// SPDX-License-Identifier: Apache-2.0
// Session: a model made ready to run.
//
//   onnxseq::Session session = onnxseq::Session::Load("model.onnx");
//   onnxseq::ValueMap outputs = session.Run({{"x", tensor}});
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/custom_op.h"
#include "onnxseq/shapes.h"
#include "onnxseq/value.h"
#include "onnxseq/versions.h"
#include "onnxseq/weight_storage.h"

namespace ONNX_LIGHT_NAMESPACE {

using ValueMap = std::map<std::string, Value, std::less<>>;

// How SequenceMap runs its body. What comes out is the same up to the rounding of sums.
enum class SequenceMapStrategy : uint8_t {
  kAuto,      // as what is known of the elements says
  kElements,  // element by element
  kStacked,   // elements of one shape together, wherever the body allows it
  kPacked,    // all elements together, where they differ in one dim at most and the body allows it
};

struct SessionOptions {
  // Threads that take part in one run, the caller included; 0 = as many CPUs as the process may use. 1 starts no
  // thread. Loading throws InvalidArgument for fewer than 0.
  int threads = 0;
  // Rewrite the model, once it is checked, into one that gives the same in less time; Explain says how. Off, its nodes
  // run as they are.
  bool optimize = true;
  // Keep denormal numbers instead of flushing them to zero.
  bool denormals = false;
  // How recurrent operators of type float keep constant weights. kFull is exact; `onnxseq bench --accuracy` says what
  // the others cost and gain.
  WeightStorage weights = WeightStorage::kFull;
  // kAuto with `optimize` false or `deterministic`: kElements.
  SequenceMapStrategy sequence_map = SequenceMapStrategy::kAuto;
  // Results are the same to the bit however work is batched: each element of a SequenceMap as if it were alone. They
  // never depend on the number of threads.
  bool deterministic = false;
  // Random operators without a seed of their own give the same numbers in each run of a single-threaded session; other
  // ones in each run when absent.
  std::optional<uint64_t> seed;
  // Below it lies the external data of a model that is not loaded from a file; a file's lies beside it.
  std::string data_folder;
  // Bytes the tensors of one run may take at once where the run does not say; 0 = no limit.
  int64_t memory_limit = 0;
  // Operators of the caller's own.
  std::vector<CustomOp> custom_ops;
  // Told, while the session is loaded, what is doubtful about the model but keeps it from nothing, such as an output
  // declared with another type than it has. The library itself never prints.
  std::function<void(const std::string&)> on_warning;
};

// A graph that begins to run, for those who watch. The references hold during the call only; values may be kept.
struct GraphEvent {
  std::string_view path;  // "" for the main graph, "/map0/body" for a body
  const GraphProto& graph;
  uint64_t run;    // its number among all graphs that run on behalf of the main graph, each time anew
  uint64_t outer;  // of the graph around it; its own for the main graph
  std::span<const Value> inputs;
};

// One node that has run. As GraphEvent.
struct NodeEvent {
  std::string_view path;  // of the graph around it
  uint64_t run;           // of that graph
  const NodeProto& node;
  std::chrono::steady_clock::time_point begin, end;  // one moment for a node whose result is kept since loading
  // One for each of the node's outputs; null for one that was not computed since nobody uses it.
  std::span<const Value* const> outputs;
};

// Watches a run.
class ONNXSEQ_API RunObserver {
 public:
  virtual ~RunObserver();
  // Every named value is computed, whether it is used or not.
  virtual bool WantsAllValues() const { return false; }
  // Called after each node on the thread that ran it, so from several at once where elements run side by side. What it
  // throws ends the run.
  virtual void OnNode(const NodeEvent& event) = 0;
  // Called likewise before the first node of a graph, and after its last one unless one has failed.
  virtual void OnGraph(const GraphEvent& /*event*/) {}
  virtual void OnGraphEnd(uint64_t /*run*/) {}
};

struct RunOptions {
  // TimeoutError when the run takes longer.
  std::optional<std::chrono::nanoseconds> timeout;
  // TimeoutError soon after another thread has set it; must outlive the run.
  const std::atomic<bool>* cancel = nullptr;
  // Called every 10 ms or so on the thread that runs; TimeoutError when it says true. Must not throw.
  std::function<bool()> poll;
  // MemoryError when the tensors of the run would take more bytes at once; 0 = the session's limit.
  int64_t memory_limit = 0;
  // Must outlive the run.
  RunObserver* observer = nullptr;
};

// One input or output of the model.
struct ValueDescription {
  struct Dim {
    // A number, a name or an expression; a fresh name such as "unk__0" when the model gives none.
    std::string text;
    // The number, where it is one.
    std::optional<int64_t> size;
  };

  std::string name;
  // "tensor(float)", "seq(tensor(int64))", "optional(tensor(float))"; "unknown" when the model does not say and it is
  // not inferred.
  std::string type;
  // Nothing when the rank is unknown or the value is not a tensor.
  std::optional<std::vector<Dim>> shape;
};

// Loading reads, checks and plans; it throws ModelParseError, IoError, InvalidArgument or Unsupported (which lists
// every operator that cannot run). A loaded session is immutable: Run may be called from many threads at once. Copies
// share everything.
class ONNXSEQ_API Session {
 public:
  // An ONNX file, ONNX text (.onnxtxt), or an OpenVINO IR .xml with its .bin beside it.
  static Session Load(const std::string& path, const SessionOptions& options = {});
  // The bytes of an ONNX file.
  static Session Parse(std::string_view bytes, const SessionOptions& options = {});
  static Session FromModel(ModelProto model, const SessionOptions& options = {});

  std::span<const ValueDescription> inputs() const;
  std::span<const ValueDescription> outputs() const;
  const ModelProto& model() const;
  // What was made of the model before it runs: how many nodes there were and are, and what each pass did, a line each.
  std::string Explain() const;

  // Runs with the named inputs (optional ones may be missing) and returns the named outputs, all of them when none are
  // named. Any value of the main graph may be named as well, however little is left of it when the run is optimised.
  // Throws InvalidArgument for a wrong or missing input and whatever an operator finds, TimeoutError past the deadline;
  // the session is as before and may run again.
  ValueMap Run(const ValueMap& inputs, std::span<const std::string> outputs = {}, const RunOptions& options = {}) const;

  // Runs keep memory of tensors that died for the next ones: for each thread at most twice what one of its last 16 runs
  // asked for. This frees what is not in use now. Values that were returned are their owners' alone.
  void Trim() const;

 private:
  friend class Runner;
  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// A session with its inputs and outputs in a fixed order: what runs again and again pays for names once.
//
//   onnxseq::Runner runner(session, {"x"}, {"y"});
//   runner.SetInput(0, tensor);
//   runner.Run();
//   use(runner.output(0));
//
// One Runner belongs to one thread at a time; many of one session may run at once. A warm run with shapes it has seen
// before takes no memory from the system for tensors.
class ONNXSEQ_API Runner {
 public:
  // The names in the order of the positions below; none: all of the model's, in its order. Throws InvalidArgument for a
  // name the model does not have or one given twice.
  explicit Runner(const Session& session, std::span<const std::string> inputs = {},
                  std::span<const std::string> outputs = {});
  Runner(const Session& session, std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs);
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  int input_size() const;
  int output_size() const;
  // The value of input i from now on; nothing for an optional one that is not fed. Checked by Run. InvalidArgument when
  // there is no input i.
  void SetInput(int i, Value value);
  // Results of output i are written into this tensor, which must have storage of its own (InvalidArgument otherwise)
  // and which the caller may go on holding; an undefined one ends that. Run throws InvalidArgument when a result is not
  // of its element type and shape.
  void BindOutput(int i, Tensor tensor);
  // As Session::Run. After an error the outputs are nothing.
  void Run(const RunOptions& options = {});
  // Of the last run, nothing before. InvalidArgument when there is no output i.
  const Value& output(int i) const;
  // The same, moved out.
  Value TakeOutput(int i);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What is wrong with a model, errors first: what keeps it from being loaded, and what inference finds. Throws nothing
// for what it finds in the model.
ONNXSEQ_API std::vector<ShapeProblem> FindProblems(const ModelProto& model, const SessionOptions& options = {});

}  // namespace ONNX_LIGHT_NAMESPACE
