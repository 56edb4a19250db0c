// SPDX-License-Identifier: Apache-2.0
// UnrolledSteps: where in a graph the same cell is computed again and again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

struct UnrolledStep {
  const StepReader* reader = nullptr;
  int hidden = GraphEdit::kAbsent, state = GraphEdit::kAbsent;  // h and c after it
  int hidden_before = GraphEdit::kAbsent, state_before = GraphEdit::kAbsent;
  int64_t units = 0;
  Cell cell = {};
  std::vector<int> inputs = {};  // leaves, in the same order in all steps
  std::string signature = {};    // the same for steps that compute the same of their inputs and states
};

class UnrolledSteps {
 public:
  explicit UnrolledSteps(const GraphEdit& edit);
  // Each two steps or more, each step's states being those the one before made. They refer to this.
  std::vector<std::vector<UnrolledStep>> Find();

 private:
  // What may be a step.
  struct Candidate {
    StepReader* reader;
    int hidden, state;
    Sum next_hidden, next_state;
    std::vector<int> leaves;  // values that matrices are multiplied by
    std::vector<int> states;  // values that may be c
  };
  void FindCuts();
  int StateBeside(int n) const;
  void AddCandidate(int n);
  std::optional<UnrolledStep> Match(const Candidate& candidate, int hidden_before, int state_before) const;
  // With any of its values as states.
  std::optional<UnrolledStep> MatchLike(const Candidate& candidate, const std::string& signature) const;

  const GraphEdit& edit_;
  StepBody steps_;
  std::map<std::string, std::unique_ptr<StepReader>> readers_;  // by the rows
  std::map<int, Candidate> candidates_;                         // by h
};

}  // namespace ONNX_LIGHT_NAMESPACE::cells
