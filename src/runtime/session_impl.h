// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxseq/session.h"
#include "passes/optimize.h"
#include "runtime/custom_ops.h"
#include "runtime/declared_type.h"
#include "runtime/executor.h"
#include "runtime/inferred_types.h"
#include "runtime/plan.h"
#include "values/block_cache.h"

namespace ONNX_LIGHT_NAMESPACE {

// `input "x": fact`.
[[noreturn]] void FailIo(std::string_view what, std::string_view name, std::string fact);

// All of a session; thread safe once made.
struct Session::Impl {
  struct Input {
    std::string_view name;
    DeclaredType type;
    bool has_default;
  };

  Impl(ModelProto model_in, const SessionOptions& options_in);

  const ModelProto& Runnable() const { return inlined ? *inlined : model; }
  std::string Explain() const;
  // The position of the input or output; InvalidArgument when there is none.
  int FindInput(std::string_view name) const;
  int FindOutput(std::string_view name) const;

  ValueMap Run(const ValueMap& feeds, std::span<const std::string> wanted, const RunOptions& run_options) const;
  // Checks one value that is fed. True when it takes the place of a default.
  bool CheckInput(size_t i, Value& value, SymbolSizes& symbols) const;
  // What an input that is not fed is; throws when it must be.
  void CheckMissing(size_t i) const;
  // Runs with inputs that were checked, consuming them, `symbols` being their sizes; `out` has a place for each of the
  // model's outputs.
  void Execute(std::span<Value> in, bool overrides, const SymbolSizes& symbols, std::span<Value> out,
               const RunOptions& run_options) const;

  ModelProto model;
  std::optional<ModelProto> inlined;
  // What runs that neither watch all values nor feed others in the place of defaults go through.
  std::optional<ModelProto> optimized;
  OptimizeReport optimize_report;
  SessionOptions options;
  CustomOps custom_ops;
  std::optional<InferredTypes> types;
  std::vector<Input> inputs;
  std::vector<ValueDescription> input_descriptions;
  std::vector<ValueDescription> output_descriptions;
  int threads = 1;
  uint64_t seed = 0;
  mutable BlockCachePool blocks;

 private:
  void Optimize();

  // A plan made when first needed.
  struct LazyPlan {
    std::once_flag once;
    std::unique_ptr<GraphPlan> plan;
  };
  const GraphPlan& PlanFor(bool overrides, bool keep_values) const;
  void FillDefaults(std::span<Value> in) const;
  // The value of the main graph is one that Run can give without being an output.
  bool HasValue(std::string_view name) const;

  mutable std::atomic<uint64_t> runs_{0};
  mutable std::array<LazyPlan, 4> plans_;
  mutable std::once_flag defaults_once_;
  mutable std::vector<Value> defaults_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
