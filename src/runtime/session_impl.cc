// SPDX-License-Identifier: Apache-2.0
#include "runtime/session_impl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <unordered_set>
#include <utility>

#include "base/cpu_features.h"
#include "base/thread_team.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "runtime/describe.h"
#include "runtime/inline_functions.h"
#include "runtime/missing_module.h"
#include "runtime/model_checks.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// A line for each SequenceMap, and below it what it has made of its elements so far.
void ExplainSequenceMaps(const GraphPlan& plan, std::string& text) {
  for (const auto* nodes : {&plan.invariant, &plan.nodes}) {
    for (const NodePlan& node : *nodes) {
      if (node.sequence_map != nullptr)
        text += fmt::format("SequenceMap \"{}\"\n{}", node.node->name().as_string(), node.sequence_map->Explain());
      for (const auto& body : node.bodies) ExplainSequenceMaps(body->graph, text);
    }
  }
}

std::string Quoted(const std::vector<ValueDescription>& values) {
  std::vector<std::string> names;
  for (const ValueDescription& value : values) names.push_back(fmt::format("\"{}\"", value.name));
  return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
}

int Find(const std::vector<ValueDescription>& values, std::string_view name) {
  const auto it = std::ranges::find(values, name, &ValueDescription::name);
  return it == values.end() ? -1 : static_cast<int>(it - values.begin());
}

// Keeps values of the main graph by name, and passes everything on.
class ValueCollector : public RunObserver {
 public:
  ValueCollector(const std::unordered_set<std::string_view>& names, RunObserver* next) : names_(names), next_(next) {}
  bool WantsAllValues() const override { return true; }
  void OnNode(const NodeEvent& event) override {
    for (size_t i = 0; i < event.outputs.size() && event.path.empty(); ++i)
      if (const std::string_view name = event.node.output(i); event.outputs[i] != nullptr && names_.contains(name))
        values.insert_or_assign(std::string(name), *event.outputs[i]);
    if (next_ != nullptr) next_->OnNode(event);
  }
  void OnGraph(const GraphEvent& event) override {
    if (next_ != nullptr) next_->OnGraph(event);
  }
  void OnGraphEnd(uint64_t run) override {
    if (next_ != nullptr) next_->OnGraphEnd(run);
  }

  ValueMap values;

 private:
  const std::unordered_set<std::string_view>& names_;
  RunObserver* next_;
};

}  // namespace

void FailIo(std::string_view what, std::string_view name, std::string fact) {
  throw InvalidArgument(std::move(fact),
                        {.op_type = {}, .node_name = {}, .subject = fmt::format("{} \"{}\"", what, name), .path = {}});
}

Session::Impl::Impl(ModelProto model_in, const SessionOptions& options_in)
    : model(std::move(model_in)), options(options_in), custom_ops(options.custom_ops) {
  if (options.threads < 0) throw InvalidArgument(fmt::format("threads = {}, expected 0 or more", options.threads));
  CheckModel(model);
  if (!options.data_folder.empty()) LoadExternalData(model, options.data_folder);
  if (NeedsInlining(model)) {
    inlined = model;
    static_cast<void>(InlineFunctions(*inlined));
  }
  if ((!options.optimize || options.deterministic) && options.sequence_map == SequenceMapStrategy::kAuto)
    options.sequence_map = SequenceMapStrategy::kElements;
  threads = options.threads > 0 ? options.threads : ThreadTeam::AvailableCpus();
  types.emplace(Runnable(), custom_ops);
  const GraphProto& graph = Runnable().graph();
  if (options.optimize) Optimize();
  static_cast<void>(PlanFor(false, false));
  std::unordered_set<std::string_view> initialized;
  for (const TensorProto& tensor : graph.initializer()) initialized.emplace(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) initialized.emplace(tensor.values().name());
  for (const ValueInfoProto& input : graph.input()) {
    inputs.push_back({input.name(), DeclaredType(input, "graph input"), initialized.contains(input.name())});
    input_descriptions.push_back(Describe(input, types->Find(graph, input.name())));
  }
  for (const ValueInfoProto& output : graph.output())
    output_descriptions.push_back(Describe(output, types->Find(graph, output.name())));
  seed = options.seed ? *options.seed : std::random_device()() * 0x100000001ull + std::random_device()();
  for (const auto& problem : types->problems())
    if (options.on_warning) options.on_warning(problem.message);
  if (const std::string missing = options.on_warning ? MissingModule(Runnable()) : ""; !missing.empty())
    options.on_warning(missing);
}

void Session::Impl::Optimize() {
  optimized = Runnable();
  types->AddCopy(Runnable().graph(), optimized->graph());
  try {
    optimize_report = OptimizeGraphs(*optimized, *types,
                                     {.defaults_are_constant = true,
                                      .flush_denormals = !options.denormals,
                                      .least_fused = LeastFused(),
                                      .threads = threads,
                                      .least_grouped = LeastGrouped()});
  } catch (const Error&) {
    optimized.reset();  // planning says what is wrong
  }
}

std::string Session::Impl::Explain() const {
  std::string text = "the nodes run as they are\n";
  if (optimized) {
    text = fmt::format("{} nodes, {} after the passes\n", optimize_report.nodes_before, optimize_report.nodes_after);
    for (const PassReport& pass : optimize_report.passes)
      if (pass.count > 0) text += fmt::format("{}: {}\n", pass.pass, pass.count);
    for (const std::string& note : optimize_report.notes) text += note + "\n";
  }
  ExplainSequenceMaps(PlanFor(false, false), text);
  return text;
}

int Session::Impl::FindInput(std::string_view name) const {
  const int i = Find(input_descriptions, name);
  if (i < 0)
    FailIo("input", name, fmt::format("the model has no such input; its inputs are {}", Quoted(input_descriptions)));
  return i;
}

int Session::Impl::FindOutput(std::string_view name) const {
  const int i = Find(output_descriptions, name);
  if (i < 0)
    FailIo("output", name,
           fmt::format("the model has no such output; its outputs are {}", Quoted(output_descriptions)));
  return i;
}

bool Session::Impl::HasValue(std::string_view name) const {
  const GraphProto& graph = Runnable().graph();
  const auto has_name = [&](const auto& named) { return std::string_view(named.name()) == name; };
  return !name.empty() &&
         (std::ranges::any_of(graph.input(), has_name) || std::ranges::any_of(graph.initializer(), has_name) ||
          std::ranges::any_of(graph.node(), [&](const NodeProto& node) {
            return std::ranges::any_of(node.output(),
                                       [&](const auto& output) { return std::string_view(output) == name; });
          }));
}

bool Session::Impl::CheckInput(size_t i, Value& value, SymbolSizes& symbols) const {
  const Input& input = inputs[i];
  input.type.Check(input.name, value, symbols);
  return input.has_default;
}

void Session::Impl::CheckMissing(size_t i) const {
  const Input& input = inputs[i];
  if (!input.has_default && !input.type.is_optional())
    FailIo("input", input.name, fmt::format("is missing, expected {}", input.type.text()));
}

ValueMap Session::Impl::Run(const ValueMap& feeds, std::span<const std::string> wanted,
                            const RunOptions& run_options) const {
  std::vector<Value> in(inputs.size()), out(output_descriptions.size());
  SymbolSizes symbols;
  std::vector<size_t> missing;
  size_t found = 0;
  bool overrides = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto it = feeds.find(inputs[i].name);
    if (it == feeds.end()) {
      missing.push_back(i);
      continue;
    }
    ++found;
    in[i] = it->second;
    overrides = CheckInput(i, in[i], symbols) || overrides;
  }
  // Before what is missing: the input fed under a wrong name is missing, too.
  if (found != feeds.size())
    for (const auto& [name, value] : feeds) static_cast<void>(FindInput(name));
  for (const size_t i : missing) CheckMissing(i);

  std::unordered_set<std::string_view> inner;  // wanted, but no outputs
  for (const std::string& name : wanted)
    if (Find(output_descriptions, name) < 0 && (HasValue(name) || FindOutput(name) < 0)) inner.emplace(name);
  ValueCollector collector(inner, run_options.observer);
  if (inner.empty()) {
    Execute(in, overrides, symbols, out, run_options);
  } else {
    RunOptions watched = run_options;
    watched.observer = &collector;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inner.contains(inputs[i].name) && !in[i].IsNone()) collector.values.emplace(inputs[i].name, in[i]);
    for (const TensorProto& tensor : Runnable().graph().initializer())
      if (inner.contains(tensor.name())) collector.values.emplace(tensor.name().as_string(), TensorFromProto(tensor));
    Execute(in, overrides, symbols, out, watched);
  }
  ValueMap results;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string& name = output_descriptions[i].name;
    if (wanted.empty() || std::ranges::find(wanted, name) != wanted.end()) results.emplace(name, std::move(out[i]));
  }
  for (const std::string_view name : inner) {
    Value& value = results[std::string(name)] = std::move(collector.values[std::string(name)]);
    value.CopyBorrowed();
  }
  return results;
}

void Session::Impl::Execute(std::span<Value> in, bool overrides, const SymbolSizes& symbols, std::span<Value> out,
                            const RunOptions& run_options) const {
  RunState run;
  // A team that is busy with another run does this one's pieces on the calling thread.
  run.team = &ThreadTeam::Shared();
  run.threads = threads;
  std::optional<StopToken::Clock::time_point> deadline;
  if (run_options.timeout) {
    run.timeout = *run_options.timeout;
    // A deadline past what the clock can count is none.
    const auto now = StopToken::Clock::now();
    if (*run_options.timeout < StopToken::Clock::time_point::max() - now) deadline = now + *run_options.timeout;
  }
  StopToken stop(run_options.cancel, deadline, &run_options.poll);
  if (!stop.idle()) run.stop = &stop;
  const int64_t limit = run_options.memory_limit > 0 ? run_options.memory_limit : options.memory_limit;
  if (limit > 0) run.budget = std::make_shared<MemoryBudget>(limit);
  run.symbols = &symbols;
  run.blocks = &blocks;
  run.observer = run_options.observer;
  run.seed = options.seed ? seed : seed + 0x9e3779b97f4a7c15u * runs_.fetch_add(1, std::memory_order_relaxed);
  const GraphPlan& plan = PlanFor(overrides, run.observer != nullptr && run.observer->WantsAllValues());
  if (overrides) FillDefaults(in);
  {
    const DenormalScope denormals(!options.denormals);
    const StopScope stop_scope(run.stop);
    const RunThreadScope thread(run);
    for (Value& value : out) value = Value();
    RunGraph(plan, run, in, {}, out);
  }
  // Memory that was lent to the run, or lies in the model's file, is not handed out.
  for (Value& value : out) value.CopyBorrowed();
}

const GraphPlan& Session::Impl::PlanFor(bool overrides, bool keep_values) const {
  LazyPlan& lazy = plans_[(overrides ? 1u : 0u) + (keep_values ? 2u : 0u)];
  std::call_once(lazy.once, [&] {
    // An operator of another run may have brought us here: its limits are not the plan's.
    const RunState nobody;
    const RunThreadScope thread(nobody);
    const StopScope unstopped(nullptr);
    lazy.plan = MakePlan(optimized && !overrides && !keep_values ? *optimized : Runnable(), *types,
                         {.defaults_are_inputs = overrides,
                          .flush_denormals = !options.denormals,
                          .weight_storage = options.weights,
                          .keep_values = keep_values,
                          .custom_ops = &custom_ops,
                          .sequence_map = keep_values ? SequenceMapStrategy::kElements : options.sequence_map});
  });
  return *lazy.plan;
}

void Session::Impl::FillDefaults(std::span<Value> in) const {
  std::call_once(defaults_once_, [&] {
    const GraphProto& graph = Runnable().graph();
    std::vector<Value> made(inputs.size());
    const auto keep = [&](std::string_view name, const auto& read) {
      const int i = Find(input_descriptions, name);
      if (i >= 0) made[static_cast<size_t>(i)] = read();
    };
    for (const TensorProto& tensor : graph.initializer()) keep(tensor.name(), [&] { return TensorFromProto(tensor); });
    for (const SparseTensorProto& tensor : graph.sparse_initializer())
      keep(tensor.values().name(), [&] { return TensorFromSparse(tensor); });
    defaults_ = std::move(made);
  });
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].IsNone()) in[i] = defaults_[i];
}

}  // namespace ONNX_LIGHT_NAMESPACE
