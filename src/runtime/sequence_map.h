// SPDX-License-Identifier: Apache-2.0
// SequenceMap over all elements at once. The plain way, element by element, is the operator's own
// (ops/sequence/sequence_map.cc); this is tried before it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "onnx_proto/onnx.h"
#include "ops/run_context.h"
#include "passes/type_knowledge.h"
#include "runtime/plan_options.h"

namespace ONNX_LIGHT_NAMESPACE {

struct BatchRequest;
struct RunState;

// What a body uses of the graphs around it.
struct MapCaptures {
  // By name. Constants are messages of the model, or kept here.
  std::vector<std::pair<std::string, const TensorProto*>> constants;
  std::vector<std::unique_ptr<TensorProto>> made;
  // The values of others are those of the body's captures with these numbers.
  std::vector<std::pair<std::string, size_t>> values;
};

// The batched plans of one SequenceMap node, by what elements look like: which inputs are sequences, their element
// types, ranks and dims, and which dim differs between elements. Made by the run that first needs one and kept for
// later ones, the last kMaxBatches. Thread safe.
class SequenceMapPlans {
 public:
  static constexpr size_t kMaxBatches = 16;

  // All but `types` must outlive this; `body` belongs to `model`, whose opsets it imports; `path` is
  // the body's for observers.
  SequenceMapPlans(const ModelProto& model, const GraphProto& body, std::string path, MapCaptures captures,
                   const TypeKnowledge& types, const PlanOptions& options);
  ~SequenceMapPlans();

  // Runs the node, or does nothing and returns false where the body cannot be batched for these elements, where that
  // would not pay, and where something fails: which element it is shows when they run one by one. `capture(i)` is the
  // value of the body's capture i, `outer_run` the number of the run of the graph around it. Throws TimeoutError.
  bool Run(RunContext& ctx, const RunState& run, const uint64_t& outer_run, FunctionRef<const Value&(size_t)> capture);

  // One line for each kind of elements that was run: what was done, and why not more.
  std::string Explain() const;

 private:
  struct Batch;
  class Call;
  std::unique_ptr<Batch> Make(BatchRequest& request) const;
  std::shared_ptr<const Batch> Find(const std::string& signature, FunctionRef<std::unique_ptr<Batch>()> make);

  const ModelProto& model_;
  const GraphProto& body_;
  const std::string path_;
  MapCaptures captures_;
  PlanOptions options_;
  bool can_batch_ = true;
  bool is_recurrent_ = false;
  // Of each input of the body: the one axis of its elements whose size nobody knows before they are there, or -1.
  std::vector<int> open_axes_;

  mutable std::mutex mutex_;
  // By signature, with the time of the last use.
  std::map<std::string, std::pair<std::shared_ptr<const Batch>, int64_t>> batches_;
  int64_t uses_ = 0;
  bool differed_ = false;  // elements of a run did, in more than a plan takes
};

}  // namespace ONNX_LIGHT_NAMESPACE
