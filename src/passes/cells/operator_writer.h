// SPDX-License-Identifier: Apache-2.0
// OperatorWriter: the nodes that compute all steps of a cell at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// All values are of the graph that is changed. Shapes are what they have in one step: an axis of rows, the last of
// columns, the others of size 1; for values that are there their own are read.
class OperatorWriter {
 public:
  // The operators are written as they are from this version of ai.onnx on; those that reverse and bound
  // something from later ones on.
  static constexpr int64_t kLeastOpset = 7, kLeastOpsetToReverse = 10, kLeastOpsetForLengths = 12;

  explicit OperatorWriter(GraphEdit& edit) : edit_(edit) {}

  // [T,N,I]: of something that has the steps along an axis; of what single steps take, of so many columns, in order; of
  // several, side by side.
  int Input(const StepInput& input);
  int Stack(const std::vector<StepInput>& values, int64_t columns);
  int SideBySide(const std::vector<int>& values);

  // [N], each between 0 and the steps of x: of integers, one for each row.
  int Lengths(int value, int x);

  struct Outputs {
    int all, hidden, state;  // [T,1,N,H], [1,N,H], [1,N,H]; kAbsent: not asked for
  };
  // `hidden`, `state`: before the first step; `state` is kAbsent where the cell has none.
  struct Inputs {
    int x, hidden, state;
    bool reversed;
    int lengths = GraphEdit::kAbsent;
  };
  // `wanted`: kAbsent for what is not.
  Outputs Operator(std::string_view name, const Cell& cell, const CellWeights& weights, const Inputs& inputs,
                   const Outputs& wanted);

  // Where a row has length 0, what it had before the first step, else `last`.
  int OrInitial(int lengths, int last, int initial, int64_t hidden_size);

  // `to` becomes what the operator gives: h or c of the last step, h of step t, and those of all steps stacked along
  // `axis` or in a sequence, the last one first where they are `reversed`.
  void GiveLast(int from, const OptimShape& shape, int to);
  void GiveStep(int all, int64_t step, const OptimShape& shape, int to);
  void GiveAll(int all, const OptimShape& shape, int64_t axis, bool reversed, int to);
  void GiveSequence(int all, const OptimShape& shape, bool reversed, int to);
  void GiveSame(int from, int to);

 private:
  // What the node makes of the inputs.
  int Add(NodeProto node, const std::vector<int>& inputs);
  int Stacked(int all, const OptimShape& shape, int64_t axis, bool reversed);
  int Initial(int value, int64_t hidden_size);
  int InitialOrZero(int value, int64_t hidden_size);

  GraphEdit& edit_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::cells
