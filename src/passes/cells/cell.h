// SPDX-License-Identifier: Apache-2.0
// Cell: a step that is one of LSTM, GRU or RNN, and its weights as the operator takes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/cells/step_reader.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// What goes into the function of a gate: columns [0,hidden) of each.
struct Gate {
  Sum input = {}, recurrent = {}, bias = {},
      peephole = {};  // products with inputs, with the state; vectors and numbers; vectors times c
};

struct Cell {
  std::string_view op_type;            // "LSTM", "GRU", "RNN"
  std::vector<Gate> gates = {};        // in the operator's order: i o f c, z r h
  std::optional<Gate> reset = {};      // of a GRU with linear_before_reset: what r is multiplied by
  std::vector<Symbol> functions = {};  // calls: f, g, h
  bool input_forget = false;
};

// How the states go on from one step to the next.
struct Update {
  int hidden = GraphEdit::kAbsent, state = GraphEdit::kAbsent;  // symbols of h and c, all their columns; GRU, RNN: no c
  Sum next_hidden = {}, next_state = {};
};

// The operator that says so. Throws NotACell.
Cell MatchCell(const StepReader& reader, const Update& update);

// Constants of the operator, undefined where it needs none.
struct CellWeights {
  Tensor w, r, b, p;
  std::vector<StepInput> inputs;  // side by side they are the operator's input
  std::vector<int> leaves;        // their numbers in the reader
  int64_t input_size = 0, hidden_size = 0;
};
// Those of all gates. `type` is float or double. Throws NotACell for states without columns.
CellWeights MakeWeights(const StepReader& reader, const Cell& cell, TensorType type, int64_t hidden_size);

// "an LSTM of 4 units over 3 inputs, backwards"
std::string Describe(const Cell& cell, const CellWeights& weights, bool reversed);

}  // namespace ONNX_LIGHT_NAMESPACE::cells
