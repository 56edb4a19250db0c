// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <unordered_map>
#include <utility>

#include "base/cpu_features.h"
#include "base/thread_team.h"
#include "onnx_io/reader.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "runtime/declared_type.h"
#include "runtime/describe.h"
#include "runtime/executor.h"
#include "runtime/inferred_types.h"
#include "runtime/inline_functions.h"
#include "runtime/model_checks.h"
#include "runtime/plan.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailIo(std::string_view what, std::string_view name, std::string fact) {
  throw InvalidArgument(std::move(fact),
                        {.op_type = {}, .node_name = {}, .subject = fmt::format("{} \"{}\"", what, name), .path = {}});
}

std::string Quoted(const std::vector<ValueDescription>& values) {
  std::vector<std::string> names;
  for (const ValueDescription& value : values) names.push_back(fmt::format("\"{}\"", value.name));
  return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
}

// Memory that was lent to the run, or lies in the model's file, is not handed out.
Value Owned(Value value) {
  if (value.IsTensor() && value.tensor().IsBorrowed()) {
    value.mutable_tensor().Unshare();
  } else if (value.IsSequence()) {
    const auto elements = value.sequence().elements();
    if (std::ranges::any_of(elements, [](const Tensor& t) { return t.IsBorrowed(); })) {
      std::vector<Tensor> copies(elements.begin(), elements.end());
      for (Tensor& copy : copies)
        if (copy.IsBorrowed()) copy.Unshare();
      value = Sequence(value.sequence().dtype(), std::move(copies));
    }
  }
  return value;
}

}  // namespace

struct Session::Impl {
  struct Input {
    std::string_view name;
    DeclaredType type;
    bool has_default;
  };

  Impl(ModelProto model_in, const SessionOptions& options_in) : model(std::move(model_in)), options(options_in) {
    CheckModel(model);
    if (NeedsInlining(model)) {
      inlined = model;
      InlineFunctions(*inlined);
    }
    types.emplace(Runnable());
    const GraphProto& graph = Runnable().graph();
    plan = MakePlan(Runnable(), *types, {.flush_denormals = !options.denormals});
    std::unordered_map<std::string_view, bool> initialized;
    for (const TensorProto& tensor : graph.initializer()) initialized.emplace(tensor.name(), true);
    for (const SparseTensorProto& tensor : graph.sparse_initializer())
      initialized.emplace(tensor.values().name(), true);
    for (const ValueInfoProto& input : graph.input()) {
      inputs.push_back({input.name(), DeclaredType(input, "graph input"), initialized.contains(input.name())});
      input_descriptions.push_back(Describe(input, types->Find(graph, input.name())));
    }
    for (const ValueInfoProto& output : graph.output())
      output_descriptions.push_back(Describe(output, types->Find(graph, output.name())));
    threads = options.threads > 0 ? options.threads : ThreadTeam::AvailableCpus();
    seed = options.seed ? *options.seed : std::random_device()() * 0x100000001ull + std::random_device()();
  }

  const ModelProto& Runnable() const { return inlined ? *inlined : model; }

  ValueMap Run(const ValueMap& feeds, std::span<const std::string> wanted, const RunOptions& run_options) const {
    std::vector<Value> in(inputs.size());
    const bool overrides = Bind(feeds, in);
    const std::vector<int> picked = Pick(wanted);
    RunState run;
    // A team that is busy with another run does this one's pieces on the calling thread.
    run.team = &ThreadTeam::Shared();
    run.threads = threads;
    run.cancel = run_options.cancel;
    if (run_options.timeout) {
      run.timeout = *run_options.timeout;
      // A deadline past what the clock can count is none.
      const auto now = std::chrono::steady_clock::now();
      if (*run_options.timeout < std::chrono::steady_clock::time_point::max() - now)
        run.deadline = now + *run_options.timeout;
    }
    if (run_options.memory_limit > 0) run.budget = std::make_shared<MemoryBudget>(run_options.memory_limit);
    run.seed = options.seed ? seed : seed + 0x9e3779b97f4a7c15u * runs.fetch_add(1, std::memory_order_relaxed);
    std::vector<Value> out(output_descriptions.size());
    // Before the scopes: what a plan keeps is not charged to the run.
    const GraphPlan& chosen = overrides ? OverridePlan(in) : *plan;
    {
      const DenormalScope denormals(!options.denormals);
      const MemoryBudgetScope budget(run.budget);
      RunGraph(chosen, run, in, {}, out);
    }
    ValueMap results;
    for (const int i : picked)
      results.emplace(output_descriptions[static_cast<size_t>(i)].name, Owned(std::move(out[static_cast<size_t>(i)])));
    return results;
  }

  // Fills `in`; true when a default is overridden.
  bool Bind(const ValueMap& feeds, std::vector<Value>& in) const {
    SymbolSizes symbols;
    size_t found = 0;
    bool overrides = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Input& input = inputs[i];
      const auto it = feeds.find(input.name);
      if (it == feeds.end()) {
        if (!input.has_default && !input.type.is_optional())
          FailIo("input", input.name, fmt::format("is missing, expected {}", input.type.text()));
        continue;
      }
      ++found;
      in[i] = it->second;
      input.type.Check(input.name, in[i], symbols);
      overrides = overrides || input.has_default;
    }
    if (found != feeds.size()) {
      for (const auto& [name, value] : feeds)
        if (std::ranges::none_of(inputs, [&](const Input& input) { return input.name == name; }))
          FailIo("input", name,
                 fmt::format("the model has no such input; its inputs are {}", Quoted(input_descriptions)));
    }
    return overrides;
  }

  std::vector<int> Pick(std::span<const std::string> wanted) const {
    std::vector<int> picked;
    for (size_t i = 0; wanted.empty() && i < output_descriptions.size(); ++i) picked.push_back(static_cast<int>(i));
    for (const std::string& name : wanted) {
      const auto it = std::ranges::find(output_descriptions, name, &ValueDescription::name);
      if (it == output_descriptions.end())
        FailIo("output", name,
               fmt::format("the model has no such output; its outputs are {}", Quoted(output_descriptions)));
      picked.push_back(static_cast<int>(it - output_descriptions.begin()));
    }
    return picked;
  }

  // The plan in which initializers of inputs are defaults only; made when the first run overrides one. Fills defaults
  // not overridden.
  const GraphPlan& OverridePlan(std::vector<Value>& in) const {
    std::call_once(override_once, [&] {
      std::unique_ptr<GraphPlan> made =
          MakePlan(Runnable(), *types, {.defaults_are_inputs = true, .flush_denormals = !options.denormals});
      std::vector<Value> made_defaults;
      const GraphProto& graph = Runnable().graph();
      std::unordered_map<std::string_view, Value> values;
      for (const TensorProto& tensor : graph.initializer()) values.emplace(tensor.name(), TensorFromProto(tensor));
      for (const SparseTensorProto& tensor : graph.sparse_initializer())
        values.emplace(tensor.values().name(), TensorFromSparse(tensor));
      for (const Input& input : inputs) made_defaults.push_back(input.has_default ? values.at(input.name) : Value());
      override_plan = std::move(made);
      defaults = std::move(made_defaults);
    });
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i].IsNone()) in[i] = defaults[i];
    return *override_plan;
  }

  ModelProto model;
  std::optional<ModelProto> inlined;
  SessionOptions options;
  std::optional<InferredTypes> types;
  std::unique_ptr<GraphPlan> plan;
  std::vector<Input> inputs;
  std::vector<ValueDescription> input_descriptions;
  std::vector<ValueDescription> output_descriptions;
  int threads = 1;
  uint64_t seed = 0;
  mutable std::atomic<uint64_t> runs{0};
  mutable std::once_flag override_once;
  mutable std::unique_ptr<GraphPlan> override_plan;
  mutable std::vector<Value> defaults;
};

Session Session::Load(const std::string& path, const SessionOptions& options) {
  return FromModel(ReadModelFile(path), options);
}

Session Session::Parse(std::string_view bytes, const SessionOptions& options) {
  return FromModel(TranslateErrors([&] { return ParseModel(bytes, nullptr); }), options);
}

Session Session::FromModel(ModelProto model, const SessionOptions& options) {
  return TranslateErrors([&] {
    ApplyIsaEnvironment();
    return Session(std::make_shared<const Impl>(std::move(model), options));
  });
}

std::span<const ValueDescription> Session::inputs() const { return impl_->input_descriptions; }
std::span<const ValueDescription> Session::outputs() const { return impl_->output_descriptions; }
const ModelProto& Session::model() const { return impl_->model; }

ValueMap Session::Run(const ValueMap& inputs, std::span<const std::string> outputs, const RunOptions& options) const {
  return TranslateErrors([&] { return impl_->Run(inputs, outputs, options); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
