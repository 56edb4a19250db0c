// SPDX-License-Identifier: Apache-2.0
#include "runtime/custom_ops.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "onnxseq/errors.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct CustomState : OpState {
  std::function<void(CustomOpContext&)> run;
};

class Call final : public CustomOpContext {
 public:
  explicit Call(RunContext& ctx) : ctx_(ctx), is_set_(static_cast<size_t>(ctx.output_size())) {}

  const NodeProto& node() const override { return ctx_.node(); }
  int input_size() const override { return ctx_.input_size(); }
  const Value& input(int i) const override {
    CheckIndex("input", i, input_size());
    return ctx_.input(i);
  }
  int output_size() const override { return ctx_.output_size(); }
  bool HasOutput(int i) const override { return ctx_.HasOutput(i); }
  void SetOutput(int i, Value value) override {
    CheckIndex("output", i, output_size());
    if (value.IsTensor() && !value.tensor().defined()) ctx_.Fail(OutputSubject(i), "was set to an undefined tensor");
    is_set_[static_cast<size_t>(i)] = true;
    ctx_.SetOutput(i, std::move(value));
  }
  void CheckCancelled() const override { ctx_.CheckCancelled(); }

  void CheckAllSet() const {
    for (int i = 0; i < output_size(); ++i)
      if (HasOutput(i) && !is_set_[static_cast<size_t>(i)]) ctx_.Fail(OutputSubject(i), "was not set");
  }

 private:
  void CheckIndex(std::string_view what, int i, int size) const {
    if (i < 0 || i >= size) ctx_.Fail(fmt::format("{} {}", what, i), fmt::format("the node has {} {}s", size, what));
  }
  std::string OutputSubject(int i) const {
    return fmt::format("output {} (\"{}\")", i, std::string_view(node().output(static_cast<size_t>(i))));
  }
  RunContext& ctx_;
  std::vector<bool> is_set_;
};

void RunCustomOp(RunContext& ctx) {
  Call call(ctx);
  ctx.state<CustomState>().run(call);
  call.CheckAllSet();
}

std::string Key(std::string_view domain, std::string_view type) { return fmt::format("{}.{}", domain, type); }

[[noreturn]] void FailOp(const CustomOp& op, std::string fact) {
  throw InvalidArgument(std::move(fact), {.op_type = {},
                                          .node_name = {},
                                          .subject = fmt::format("custom operator {} of {}", op.type,
                                                                 op.domain.empty() ? "ai.onnx" : op.domain),
                                          .path = {}});
}

}  // namespace

CustomOpContext::~CustomOpContext() = default;

CustomOps::CustomOps(std::span<const CustomOp> ops) : ops_(ops) {
  TypeSet every;
  every.bits = ~0u;
  for (const CustomOp& op : ops) {
    if (op.type.empty()) FailOp(op, "has no type");
    if (!op.run) FailOp(op, "has no run function");
    const std::string_view domain = op.domain == "ai.onnx" ? std::string_view() : std::string_view(op.domain);
    if (KnowsOp(domain, op.type)) FailOp(op, "is an operator of this build");
    auto state = std::make_shared<CustomState>();
    state->run = op.run;
    const Formal any{
        .name = "values", .types = every, .kind = FormalKind::kAny, .count = FormalCount::kVariadic, .min_count = 0};
    // Random: it may do other things than compute, so that it runs whenever the graph does.
    Entry entry{OpDef{.domain = domain,
                      .type = op.type,
                      .since_version = 1,
                      .inputs = {any},
                      .outputs = {any},
                      .attributes = {},
                      .shape = nullptr,
                      .run = RunCustomOp,
                      .random = true},
                std::move(state)};
    if (!entries_.emplace(Key(domain, op.type), std::move(entry)).second) FailOp(op, "is given twice");
  }
}

const CustomOps::Entry* CustomOps::Find(std::string_view domain, std::string_view type) const {
  if (entries_.empty()) return nullptr;
  const auto it = entries_.find(Key(domain, type));
  return it == entries_.end() ? nullptr : &it->second;
}

void CustomOps::AddShapeFunctions(onnx_optim::shapes::ShapesContext& context) const {
  const auto unknown = [](onnx_optim::shapes::ShapesContext& ctx, const NodeProto& node) {
    for (const auto& output : node.output())
      if (!output.empty()) ctx.SetValue(output, onnx_optim::shapes::ShapeValue());
  };
  for (const CustomOp& op : ops_) {
    const std::string domain = op.domain == "ai.onnx" ? "" : op.domain;
    if (op.shape)
      context.SetCustomShapeInferenceFunction(domain, op.type, op.shape);
    else
      context.SetCustomShapeInferenceFunction(domain, op.type, unknown);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
