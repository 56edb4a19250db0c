// SPDX-License-Identifier: Apache-2.0
// StepBody: the body of a Loop or Scan as something that is done for each step.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "onnxseq/value.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// A value of a graph.
struct Place {
  const GraphEdit* graph = nullptr;
  int value = GraphEdit::kAbsent;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// What goes from one step to the next.
struct Carried {
  int in, next;         // of the body: its value in a step, and in the next one
  int initial, result;  // of the graph around: before the first step, and after the last (kAbsent: nobody asked)
};

// What a step takes: one index along `axis` of a value of the graph around, the number of the step or, `reversed`, that
// of the last one less it; or always `index`, where that is not kEach; or, axis being kWhole, a value as it is.
struct StepInput {
  static constexpr int64_t kWhole = -1, kEach = -1;
  int value = GraphEdit::kAbsent;
  int64_t axis = kWhole;
  bool reversed = false;
  int64_t index = kEach;
  friend auto operator<=>(const StepInput&, const StepInput&) = default;
};

// What each step gives, stacked along `axis` of a value of the graph around.
struct StepOutput {
  int from, to;
  int64_t axis;
  bool reversed;             // that of the last step first
  bool is_sequence = false;  // a sequence of what the steps give
};

struct StepBody {
  const GraphEdit* outer;
  const GraphEdit* body;
  std::vector<Carried> carried;
  std::map<int, StepInput> inputs;  // by the value of the body
  std::vector<StepOutput> outputs;
  // The values of a Loop's body that count the steps, and that say the step is to be done.
  int iteration = GraphEdit::kAbsent, condition = GraphEdit::kAbsent;
  // Values of the body that are taken as they are, whatever makes them; `is_open`: so are those whose nodes mean
  // nothing to cells. For steps that stand beside each other in one graph, which is body and graph around at once.
  std::set<int> cuts;
  bool is_open = false;

  // Where the value comes from: past nodes that change nothing, and, for what is the same in all steps, to the graph
  // around.
  Place Resolve(Place place) const;
  bool IsOuter(Place place) const { return place.graph == outer; }
  // What Concats along the last axis put together, from left to right; the value itself where there is none.
  std::vector<Place> Parts(Place place) const;
  // Of a value that is one index, always the same, along another axis than the last of another value.
  std::optional<StepInput> FixedPart(Place place) const;
  // Null when it is not one. Of a resolved place.
  const Carried* CarriedAt(Place place) const;
  bool IsInvariant(const Carried& value) const;
  // The tensor, when it is the same in every run; undefined otherwise.
  const Tensor& Constant(Place place) const;
  // A constant of floats that are all 0.
  bool IsZero(Place place) const;
  // The one number in the value as an expression of dims and kStepNumber; nothing when it is none that is known.
  std::optional<OptimDim> Number(Place place) const;

 private:
  Tensor Fold(Place place) const;
  std::optional<OptimDim> NumberOfNode(Place place) const;
  std::optional<OptimDim> CountedNumber(const Carried& counter) const;
  mutable std::map<Place, Tensor> constants_;
  mutable std::map<int, std::optional<OptimDim>> counters_;  // by Carried::in; what is being found out has its own name
  mutable int depth_ = 0;
};

// Of a value of that shape; -1 is the last axis of all.
bool IsLastAxis(int64_t axis, const OptimShape& shape);

// The number of the step, counted from 0.
OptimDim StepNumber();

// Throws NotACell unless a Loop with this limit and first condition (kAbsent: none), values of the graph around, and
// `goes_on`, the body's condition, has `count` iterations, whatever that is in a run. Numbers
// below 2^24 are taken to be compared as they are, in floats too.
void CheckIterations(const StepBody& steps, int limit, int condition, int goes_on, const OptimDim& count);

}  // namespace ONNX_LIGHT_NAMESPACE::cells
