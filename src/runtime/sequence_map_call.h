// SPDX-License-Identifier: Apache-2.0
// One run of a SequenceMap over all elements at once. Private to sequence_map.cc (the plans), sequence_map_groups.cc
// (which elements go through which plan) and sequence_map_run.cc (how they do).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "passes/batch/batch_body.h"
#include "runtime/executor.h"
#include "runtime/inferred_types.h"
#include "runtime/plan.h"
#include "runtime/sequence_map.h"

namespace ONNX_LIGHT_NAMESPACE {

struct SequenceMapPlans::Batch {
  std::optional<BatchedBody> body;  // none: `why`
  std::string why;
  std::unique_ptr<InferredTypes> types;
  std::unique_ptr<GraphPlan> plan;
  std::vector<BatchInput> inputs;
  std::string form;  // "stacked", "packed along axis 0", ..
  mutable std::atomic<int64_t> runs{0}, elements{0}, failures{0};
};

class SequenceMapPlans::Call {
 public:
  Call(SequenceMapPlans& plans, RunContext& ctx, const RunState& run, const uint64_t& outer_run,
       FunctionRef<const Value&(size_t)> capture);

  // As SequenceMapPlans::Run.
  bool Run();

 private:
  // A plan for all of them together costs more than running these few.
  static constexpr int64_t kFewElements = 4;

  // Elements that go through one batched body.
  struct Elements {
    std::vector<int64_t> numbers;
    std::shared_ptr<const Batch> batch;
    double length = 0;  // the mean of the dim in which they differ
  };

  SequenceMapStrategy strategy() const { return plans_.options_.sequence_map; }
  bool IsAuto() const { return strategy() == SequenceMapStrategy::kAuto; }

  // What the node is given, as far as it must be for this.
  bool Look();
  // All elements in one group, or those of the same shapes in one each; false when neither can be.
  bool Group();
  // First those whose plan serves elements of other sizes too: a dim that is not known before elements are is packed
  // even when it happens to be the same in all of them. What is chosen depends on nothing but the model and these
  // elements, so that the same elements always give the same to the bit.
  std::vector<std::vector<int>> WaysToPack(const std::vector<int>& axes) const;
  bool GroupByShape();
  // Finds the group's plan; false when its body cannot be batched this way. axes: along which each input is packed, -1
  // for stacked ones.
  bool Prepare(Elements& group, const std::vector<int>& axes) const;

  bool Pays(const Elements& group) const;
  void RunGroup(const Elements& group);
  void RunChunk(const Batch& batch, std::span<const int64_t> elements);
  void Distribute(const BatchOutput& form, std::vector<Value>& outputs, size_t o, std::span<const int64_t> elements);
  void SetOutputs();

  SequenceMapPlans& plans_;
  RunContext& ctx_;
  const RunState& run_;
  const uint64_t& outer_run_;
  std::vector<const Value*> captured_;
  int64_t count_ = 0;
  std::vector<const Sequence*> walked_;  // by input; null for what all elements see
  std::vector<Elements> groups_;
  std::vector<std::vector<Tensor>> results_;  // by output, then element
};

}  // namespace ONNX_LIGHT_NAMESPACE
