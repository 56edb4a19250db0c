// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnxseq/session.h"
#include "onnxseq/shapes.h"
#include "runtime/inline_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

// Holds every value of a run, those of bodies and functions included, against what inference says of it: kind, element
// type, rank, dims, lengths, presence, known elements. A symbol stands for one number in a run of the outermost graph
// that mentions it: those of the main graph throughout, those of a body alone in each of its runs. Watches one run of
// the whole model.
class ShapeCheck : public RunObserver {
 public:
  // Against what InferShapes says of the model.
  explicit ShapeCheck(const ModelProto& model);
  // Against what is given, that of graphs which are not the model's being left out.
  ShapeCheck(const ModelProto& model, InferredShapes inferred);

  bool WantsAllValues() const override { return true; }
  void OnGraph(const GraphEvent& event) override;
  void OnNode(const NodeEvent& event) override;
  void OnGraphEnd(uint64_t run) override;

  // What was found, once the run has ended. Each says what is, and what was inferred.
  const std::vector<std::string>& contradictions() const { return contradictions_; }
  // How many values were held against what is known of them.
  int64_t checked() const { return checked_; }

 private:
  using ShapeValue = onnx_optim::shapes::ShapeValue;
  using Values = std::map<std::string, ShapeValue>;
  class Subject;
  class Comparison;
  // What an expression must come to, once its symbols have numbers.
  struct Pending {
    std::string what;
    OptimDim dim;
    int64_t actual;
  };
  struct GraphRun {
    std::string path;
    uint64_t outer = 0;
    std::map<std::string, int64_t, std::less<>> sizes;
    std::vector<Pending> pending;
  };

  // What is inferred of the value `name` of the graph at `path`; null when nothing is.
  const ShapeValue* Find(std::string_view path, std::string_view name) const;
  void FindRagged(const ShapeValue& inferred, const Value& fed);
  void Check(uint64_t run, const std::string& name, const Value& value);
  // The run whose symbol it is; null when it is none of this model's.
  GraphRun* OwnerOf(std::string_view symbol, uint64_t run);
  void Say(std::string contradiction);

  InferredShapes inferred_;
  std::unordered_map<std::string_view, const Values*> graphs_;
  std::vector<InlinedCall> calls_;
  std::unordered_map<std::string_view, const InlinedCall*> call_of_prefix_;
  std::map<std::string, std::string, std::less<>> owners_;  // symbol -> path of the graph

  std::mutex mutex_;
  std::unordered_map<uint64_t, GraphRun> runs_;
  // A file may declare seq(float[N]) although the elements that are fed differ in N, as models of the official tests
  // do: then N stands for nothing, and what mentions it is not held against anything.
  std::set<std::string, std::less<>> ragged_;
  std::vector<std::string> contradictions_;
  int64_t checked_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
