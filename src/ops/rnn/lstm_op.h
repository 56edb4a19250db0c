// SPDX-License-Identifier: Apache-2.0
// What LSTM and LSTMSequence share: everything but the order of their operands, their layout and their attributes.
//
// Sizes: T steps, N rows, I inputs, H hidden units, D directions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/lstm/lstm.h"
#include "ops/op_def.h"
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

enum class LstmLayout : uint8_t {
  kTimeMajor,   // X [T,N,I], Y [T,D,N,H], states [D,N,H]: ONNX layout 0
  kBatchMajor,  // X [N,T,I], Y [N,T,D,H], states [N,D,H]: ONNX layout 1
  kOpenVino,    // X [N,T,I], Y [N,D,T,H], states [N,D,H]
};

// Where an operator has its operands: input positions, and the formals' names for messages.
struct LstmOperands {
  int x, w, r, b, lengths, h0, c0, p;
  int bias_blocks;  // B is [D, bias_blocks * H]: 8 for Wb and Rb, 4 for their sum
  std::array<std::string_view, 8> names;
};

// One node's attributes, checked.
struct LstmSpec {
  const LstmOperands* operands = nullptr;
  LstmLayout layout = LstmLayout::kTimeMajor;
  int directions = 1;
  std::array<bool, 2> reverse{};
  std::array<kernels::LstmCell, 2> cells;
  kernels::LstmGateOrder gates = kernels::kIofc;
  kernels::LstmPeepholeOrder peepholes = kernels::kIof;
  std::optional<int64_t> hidden_size;
};

// Reads direction, activations, their alpha and beta, clip and hidden_size into `spec`. With `one_set_serves_both`
// three activations are enough for two directions. Alpha and beta are consumed in order, only by functions that take
// them; where a list ends early the rest take their function's default, and a shared set takes the list from its start
// again unless it is long enough for both.
void ReadLstmAttributes(const NodeAttributes& attrs, std::string_view alpha_name, std::string_view beta_name,
                        bool one_set_serves_both, LstmSpec& spec);

// The shape rule: outputs Y, Y_h, Y_c; every dim two operands share is unified.
void InferLstm(InferScope& scope, const LstmSpec& spec);
// State for RunLstmOp. Packs the weights once when all of them are constant; their shapes are checked then. Throws
// Unsupported for float16 and bfloat16, which the operator may have and the kernel has not.
std::unique_ptr<OpState> PrepareLstm(const PrepareContext& context, const LstmSpec& spec);
// Checks the shapes of all operands and the lengths, then runs the kernel.
void RunLstmOp(RunContext& ctx);

}  // namespace ONNX_LIGHT_NAMESPACE
