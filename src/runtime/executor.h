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

#include "base/thread_team.h"
#include "onnxseq/value.h"
#include "runtime/declared_type.h"
#include "runtime/plan.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {

// What all nodes and bodies of one run share. Read by every thread that takes part.
struct RunState {
  ThreadTeam* team = nullptr;
  int threads = 1;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::chrono::nanoseconds timeout{0};
  const std::atomic<bool>* cancel = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  const SymbolSizes* symbols = nullptr;  // of the inputs' declared dims
  uint64_t seed = 0;
  mutable std::atomic<uint64_t> draws{0};

  bool can_stop() const { return cancel != nullptr || deadline.has_value(); }
  // Throws TimeoutError when the run was cancelled or is past its deadline.
  void Check() const;
};

// Runs the graph: `inputs` (as many as it has, moved from) to `outputs`. `outer` are the values it captures. Errors
// name their node.
void RunGraph(const GraphPlan& plan, const RunState& run, std::span<Value> inputs, std::span<const Value* const> outer,
              std::span<Value> outputs);

// The outputs of a node whose inputs are constants of the plan, on the calling thread alone.
std::vector<Value> EvaluateConstant(const NodePlan& node, const GraphPlan& plan);

}  // namespace ONNX_LIGHT_NAMESPACE
