// SPDX-License-Identifier: Apache-2.0
#include "ops/evaluate.h"

#include <utility>

#include "base/cpu_features.h"
#include "graph/captures.h"
#include "onnxseq/errors.h"
#include "ops/run_context.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class ConstantInputs final : public PrepareContext {
 public:
  ConstantInputs(const NodeProto& node, int64_t opset, std::span<const Value> inputs, bool flush_denormals)
      : node_(node), opset_(opset), inputs_(inputs), flush_denormals_(flush_denormals) {}
  const NodeProto& node() const override { return node_; }
  int64_t opset() const override { return opset_; }
  const Tensor* ConstantInput(int i) const override {
    const auto k = static_cast<size_t>(i);
    return HasInput(i) && inputs_[k].IsTensor() ? &inputs_[k].tensor() : nullptr;
  }
  TensorType InputType(int i) const override {
    const Tensor* tensor = ConstantInput(i);
    return tensor == nullptr ? TensorType::kUndefined : tensor->dtype();
  }
  bool flush_denormals() const override { return flush_denormals_; }

 private:
  const NodeProto& node_;
  int64_t opset_;
  std::span<const Value> inputs_;
  bool flush_denormals_;
};

class ValueRun final : public RunContext {
 public:
  ValueRun(const OpDef& op, const NodeProto& node, const OpState* state, std::vector<Value> inputs)
      : node_(node),
        op_(op),
        inputs_(std::move(inputs)),
        outputs_(static_cast<size_t>(node.output_size())),
        state_(state) {}

  std::vector<Value> TakeOutputs() { return std::move(outputs_); }

  const NodeProto& node() const override { return node_; }
  const OpDef& op() const override { return op_; }
  int input_size() const override { return static_cast<int>(inputs_.size()); }
  const Value& input(int i) const override { return inputs_[static_cast<size_t>(i)]; }
  Value TakeInput(int i) override { return inputs_[static_cast<size_t>(i)]; }
  int output_size() const override { return node_.output_size(); }
  bool HasOutput(int i) const override { return i < output_size() && !node_.output(static_cast<size_t>(i)).empty(); }
  void SetOutput(int i, Value value) override {
    if (HasOutput(i)) outputs_[static_cast<size_t>(i)] = std::move(value);
  }
  Tensor& AllocateOutput(int i, TensorType dtype, Shape shape) override {
    Value& place = HasOutput(i) ? outputs_[static_cast<size_t>(i)] : unwanted_;
    place = Tensor(dtype, std::move(shape));
    return place.mutable_tensor();
  }
  ThreadTeam& team() override {
    static ThreadTeam alone(1);
    return alone;
  }
  int threads() const override { return 1; }
  const BodyRunner& Body(std::string_view) override { throw InvalidArgument("has no bodies"); }
  void CheckCancelled() const override {}
  uint64_t NextSeed() override { return 0; }

 protected:
  const OpState* RawState() const override { return state_; }

 private:
  const NodeProto& node_;
  const OpDef& op_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  Value unwanted_;
  const OpState* state_;
};

}  // namespace

std::unique_ptr<OpState> PrepareOn(const OpDef& op, const NodeProto& node, int64_t opset, std::span<const Value> inputs,
                                   bool flush_denormals) {
  return op.prepare == nullptr ? nullptr : op.prepare(ConstantInputs(node, opset, inputs, flush_denormals));
}

std::vector<Value> Evaluate(const OpDef& op, const NodeProto& node, const OpState* state, std::vector<Value> inputs,
                            std::span<const InputCheck> checks) {
  ValueRun run(op, node, state, std::move(inputs));
  CheckInputs(run, checks);
  op.run(run);
  return run.TakeOutputs();
}

bool IsFoldable(const OpDef& op, const NodeProto& node) {
  bool has_body = false;
  if (!op.reads_graphs) ForEachBody(node, [&](const AttributeProto&, const GraphProto&) { has_body = true; });
  return op.run != nullptr && !op.random && !has_body;
}

std::optional<std::vector<Value>> Fold(const OpDef& op, const NodeProto& node, const OpState* state,
                                       std::vector<Value> inputs, std::span<const InputCheck> checks,
                                       bool flush_denormals, int64_t memory) {
  try {
    const DenormalScope denormals(flush_denormals);
    const MemoryBudgetScope budget(memory > 0 ? std::make_shared<MemoryBudget>(memory) : nullptr);
    return Evaluate(op, node, state, std::move(inputs), checks);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
