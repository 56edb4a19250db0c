// SPDX-License-Identifier: Apache-2.0
// PrepareContext and RunContext: what an operator sees when a plan is made and when it runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_team.h"
#include "graph/node_attributes.h"
#include "onnxseq/value.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

// At planning time: the node, and those inputs whose values are known to be the same in each run.
class PrepareContext {
 public:
  virtual ~PrepareContext() = default;
  virtual const NodeProto& node() const = 0;
  NodeAttributes attrs() const { return NodeAttributes(node()); }
  virtual int64_t opset() const = 0;
  bool HasInput(int i) const { return i < node().input_size() && !node().input(i).empty(); }
  // Null when absent or not constant.
  [[nodiscard]] virtual const Tensor* ConstantInput(int i) const = 0;
  // The element type inferred for input i; kUndefined when unknown.
  virtual TensorType InputType(int i) const = 0;
  // Denormals of packed weights become zero, as runs would read them; otherwise they are kept.
  virtual bool flush_denormals() const = 0;
};

// Runs of one body after each other, on one thread. They share a frame, and what is the same in each is computed in the
// first. After one that throws, nothing more may be asked of it.
class BodySteps {
 public:
  virtual ~BodySteps() = default;
  // As BodyRunner::Run. An error found inside is given its place and number, `in body 'b' of SequenceMap "map0",
  // element 7`: operators add nothing.
  virtual void Run(std::span<Value> inputs, std::span<Value> outputs, int64_t number) = 0;
};

// One body graph during a run of its node: its captured outer values are bound already. All members may be called from
// many threads at once.
class BodyRunner {
 public:
  virtual ~BodyRunner() = default;
  virtual int input_size() const = 0;
  virtual int output_size() const = 0;
  // Element type inferred for output i, kUndefined when it cannot be known without running.
  virtual TensorType OutputType(int i) const = 0;
  // Dims inferred for output i, with the sizes of this run put in: -1 for one that cannot be known without running,
  // nothing when not even the rank can.
  virtual std::optional<std::vector<int64_t>> OutputDims(int i) const = 0;
  // Estimated cost of one run in nanoseconds, from sizes that are known; never from timing.
  virtual double EstimatedNanoseconds() const = 0;
  // Runs once. `inputs` are consumed; `outputs` has output_size() places. An error found inside is given its place, `in
  // body 'b' of If "if0"`.
  virtual void Run(std::span<Value> inputs, std::span<Value> outputs) const = 0;
  // For more than one run. `name` is what messages call one: "element", "iteration".
  virtual std::unique_ptr<BodySteps> Start(std::string_view name) const = 0;
};

struct RowsCall;

class RunContext {
 public:
  virtual ~RunContext() = default;
  virtual const NodeProto& node() const = 0;
  NodeAttributes attrs() const { return NodeAttributes(node()); }
  virtual const OpDef& op() const = 0;
  // The state prepare made; T is its type.
  template <class T>
  const T& state() const {
    return static_cast<const T&>(*RawState());
  }

  // Inputs ----------------------------------------------------------------------------------------
  virtual int input_size() const = 0;
  // Present: named, and not an absent optional.
  bool HasInput(int i) const { return i < input_size() && !input(i).IsNone(); }
  // i < input_size(); nothing when absent.
  virtual const Value& input(int i) const = 0;
  const Tensor& tensor(int i) const { return input(i).tensor(); }
  const Sequence& sequence(int i) const { return input(i).sequence(); }
  // Moves the value out when this is its last use in the run (so that it may be changed in place), copies the handle
  // otherwise.
  virtual Value TakeInput(int i) = 0;

  // Outputs ---------------------------------------------------------------------------------------
  virtual int output_size() const = 0;
  // Somebody wants output i: it has a name.
  virtual bool HasOutput(int i) const = 0;
  // Ignored when nobody wants it.
  virtual void SetOutput(int i, Value value) = 0;
  // A new tensor, set as output i, to be filled through the returned handle.
  virtual Tensor& AllocateOutput(int i, TensorType dtype, Shape shape) = 0;

  // Surroundings ----------------------------------------------------------------------------------
  virtual ThreadTeam& team() = 0;
  // At most this many threads take part in this run.
  virtual int threads() const = 0;
  // ParallelFor over the team with this run's limit. Throws TimeoutError when the run is to end, pieces missing.
  // Kernels that split their own work return with results unfinished instead; the executor finds out after the node.
  void ParallelFor(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> fn) {
    team().ParallelFor(n, grain, fn, threads());
    CheckCancelled();
  }
  // For RunRows (math/elementwise_op.h) alone: true when the loop was run, or will be, on the caller's behalf.
  virtual bool TakeRows(const RowsCall& /*call*/) { return false; }
  // The body in graph attribute `name`.
  virtual const BodyRunner& Body(std::string_view name) = 0;
  // Throws TimeoutError when the run was cancelled or is past its deadline. For operators that work long.
  virtual void CheckCancelled() const = 0;
  // A generator that gives other numbers in each run unless the session was seeded.
  virtual uint64_t NextSeed() = 0;

  // Problems --------------------------------------------------------------------------------------
  // "input 0 'data' (\"x\")"
  std::string InputSubject(int i) const;
  // Throws InvalidArgument; the executor adds the node.
  [[noreturn]] void Fail(std::string subject, std::string fact) const;
  [[noreturn]] void FailInput(int i, std::string fact) const { Fail(InputSubject(i), std::move(fact)); }

 protected:
  virtual const OpState* RawState() const = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
