// SPDX-License-Identifier: Apache-2.0
#include "runtime/sequence_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/stop_token.h"
#include "model/domain.h"
#include "ops/rnn/is_recurrent.h"
#include "passes/optimize.h"
#include "runtime/sequence_map_call.h"

namespace ONNX_LIGHT_NAMESPACE {

SequenceMapPlans::SequenceMapPlans(const ModelProto& model, const GraphProto& body, std::string path,
                                   MapCaptures captures, const TypeKnowledge& types, const PlanOptions& options)
    : model_(model), body_(body), path_(std::move(path)), captures_(std::move(captures)), options_(options) {
  for (const ValueInfoProto& input : body.input()) {
    const OptimShape shape = types.ShapeOf(body, input.name());
    const auto form = FormOf(shape);
    open_axes_.push_back(form && form->first == BatchForm::kPacked ? form->second : -1);
  }
  is_recurrent_ = std::ranges::any_of(body.node(), IsRecurrent);
  can_batch_ = options.custom_ops != nullptr;
  for (const auto& [name, tensor] : captures_.constants) can_batch_ = can_batch_ && tensor != nullptr;
  for (const NodeProto& node : body.node())
    if (can_batch_ && options.custom_ops->Find(Domain(node.domain()), node.op_type()) != nullptr) can_batch_ = false;
}
SequenceMapPlans::~SequenceMapPlans() = default;

std::shared_ptr<const SequenceMapPlans::Batch> SequenceMapPlans::Find(const std::string& signature,
                                                                      FunctionRef<std::unique_ptr<Batch>()> make) {
  const std::lock_guard lock(mutex_);
  auto it = batches_.find(signature);
  if (it == batches_.end()) {
    if (batches_.size() >= kMaxBatches)
      batches_.erase(std::ranges::min_element(batches_, {}, [](const auto& entry) { return entry.second.second; }));
    it = batches_.emplace(signature, std::pair(std::shared_ptr<const Batch>(make()), int64_t{0})).first;
  }
  it->second.second = ++uses_;
  return it->second.first;
}

std::unique_ptr<SequenceMapPlans::Batch> SequenceMapPlans::Make(BatchRequest& request) const {
  // Limits of the run that needs it first are not the plan's.
  const RunState nobody;
  const RunThreadScope thread(nobody);
  const StopScope unstopped(nullptr);
  auto batch = std::make_unique<Batch>();
  request.body = &body_;
  request.model = &model_;
  request.constants = captures_.constants;
  batch->inputs = request.inputs;
  for (const BatchInput& input : request.inputs) {
    if (input.form == BatchForm::kPacked) batch->form = fmt::format("packed along axis {}", input.axis);
    if (input.form == BatchForm::kStacked && batch->form.empty()) batch->form = "stacked";
  }
  batch->body = BatchBody(request, batch->why);
  if (!batch->body) return batch;
  try {
    ModelProto& model = batch->body->model;
    const InferredTypes types(model, *options_.custom_ops);
    static_cast<void>(OptimizeGraphs(model, types, {.flush_denormals = options_.flush_denormals}));
    batch->types = std::make_unique<InferredTypes>(model, *options_.custom_ops);
    PlanOptions options = options_;
    options.sequence_map = SequenceMapStrategy::kElements;  // what is left of it could not be batched
    batch->plan = MakePlan(model, *batch->types, options);
    batch->plan->path = path_;
  } catch (const std::exception& e) {
    batch->why = e.what();
    batch->body.reset();
  }
  return batch;
}

bool SequenceMapPlans::Run(RunContext& ctx, const RunState& run, const uint64_t& outer_run,
                           FunctionRef<const Value&(size_t)> capture) {
  return can_batch_ && Call(*this, ctx, run, outer_run, capture).Run();
}

std::string SequenceMapPlans::Explain() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [signature, entry] : batches_) {
    const Batch& batch = *entry.first;
    if (!batch.body) {
      text += fmt::format("  not {}: {}\n", batch.form, batch.why);
      continue;
    }
    const int64_t runs = batch.runs.load(), failures = batch.failures.load();
    if (runs == 0 && failures == 0) {
      text += fmt::format("  not {}: with elements so few, or so large, nothing is gained\n", batch.form);
      continue;
    }
    text += fmt::format("  {}: {} element{} in {} group{}, {} node{} for all of a group\n", batch.form,
                        batch.elements.load(), batch.elements.load() == 1 ? "" : "s", runs, runs == 1 ? "" : "s",
                        batch.body->batched_nodes, batch.body->batched_nodes == 1 ? "" : "s");
    if (failures > 0) {
      const std::string times = failures == 1 ? "once" : fmt::format("{} times", failures);
      text += fmt::format("    then element by element, {}, for an error\n", times);
    }
    for (const std::string& node : batch.body->per_element) text += fmt::format("    element by element: {}\n", node);
  }
  if (differed_) text += "  element by element: elements differ in more than one dim, or in rank, in too many ways\n";
  return text;
}

}  // namespace ONNX_LIGHT_NAMESPACE
