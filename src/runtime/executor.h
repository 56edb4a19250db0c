// SPDX-License-Identifier: Apache-2.0
// The executor: runs a plan's nodes one after the other in a frame.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/stop_token.h"
#include "base/thread_team.h"
#include "onnxseq/session.h"
#include "onnxseq/value.h"
#include "runtime/declared_type.h"
#include "runtime/plan.h"
#include "values/block_cache.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {

// What all nodes and bodies of one run share. Read by every thread that takes part.
struct RunState {
  ThreadTeam* team = nullptr;
  int threads = 1;
  StopToken* stop = nullptr;  // null: nothing ends the run early
  std::chrono::nanoseconds timeout{0};
  std::shared_ptr<MemoryBudget> budget;
  const SymbolSizes* symbols = nullptr;  // of the inputs' declared dims
  BlockCachePool* blocks = nullptr;
  RunObserver* observer = nullptr;
  uint64_t seed = 0;
  mutable std::atomic<uint64_t> draws{0};
  mutable std::atomic<uint64_t> graph_runs{0};  // counted for the observer
  mutable std::atomic<bool> observer_threw{false};

  bool can_stop() const { return stop != nullptr; }
  // Throws TimeoutError when the run was cancelled or is past its deadline.
  void Check() const;
};

// Makes the calling thread one of the run's: its tensors are counted and their memory is used again. Nothing where it
// is one already.
class RunThreadScope {
 public:
  explicit RunThreadScope(const RunState& run);
  ~RunThreadScope();
  RunThreadScope(const RunThreadScope&) = delete;
  RunThreadScope& operator=(const RunThreadScope&) = delete;

 private:
  const RunState* before_;
  std::optional<MemoryBudgetScope> budget_;
  std::optional<BlockCacheScope> blocks_;
};

// Runs the graph: `inputs` (as many as it has, moved from) to `outputs`. `outer` are the values it captures,
// `outer_run` is the number of the run of the graph around it, null for the main graph. Errors name their node.
void RunGraph(const GraphPlan& plan, const RunState& run, std::span<Value> inputs, std::span<const Value* const> outer,
              std::span<Value> outputs, const uint64_t* outer_run = nullptr);

}  // namespace ONNX_LIGHT_NAMESPACE
