// SPDX-License-Identifier: Apache-2.0
// What the recurrent operators share: LSTM, GRU, RNN as ONNX has them, and OpenVINO's sequences and cells. Each
// operator's file says its operands, defaults and what only it has.
//
// Sizes: T steps, N rows, I inputs, H hidden units, D directions, G gates (LSTM 4, GRU 3, RNN 1).
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

enum class RecurrentLayout : uint8_t {
  kTimeMajor,   // X [T,N,I], Y [T,D,N,H], states [D,N,H]: ONNX layout 0
  kBatchMajor,  // X [N,T,I], Y [N,T,D,H], states [N,D,H]: ONNX layout 1
  kOpenVino,    // X [N,T,I], Y [N,D,T,H], states [N,D,H]
  kCell,        // X [N,I], states [N,H], weights without D; no Y and one step
  // The operators on packed values (ops/internal/segments.h): E elements of B rows, their lengths [E], one after the
  // other along time: X [S,B,I], Y [S,D,B,H], final states [E,D,B,H], initial ones the same or [D,B,H] for all.
  kPacked,
};

// Input positions, -1 for those an operator does not have, and the formals' names for messages.
struct RecurrentOperands {
  int x, w, r, b, lengths, h0, c0, p;
  std::array<std::string_view, 8> names;
};

// Those of ONNX's operators, and of what they become on packed values, which name the lengths otherwise.
constexpr RecurrentOperands OnnxOperands(bool is_lstm, std::string_view lengths = "sequence_lens") {
  if (!is_lstm) return {0, 1, 2, 3, 4, 5, -1, -1, {"X", "W", "R", "B", lengths, "initial_h"}};
  return {0, 1, 2, 3, 4, 5, 6, 7, {"X", "W", "R", "B", lengths, "initial_h", "initial_c", "P"}};
}

// W or R of a node, [D,G*H,..]. Where it is bytes, of type int8, a weight is (value - zero) * scale; `scales` (float)
// and `zeros` (int32) are [D,G*H], undefined otherwise.
struct GateWeight {
  Tensor values, scales, zeros;

  bool is_bytes() const { return scales.defined(); }
};

// One node's attributes, checked.
struct RecurrentSpec {
  const RecurrentOperands* operands = nullptr;
  RecurrentLayout layout = RecurrentLayout::kTimeMajor;
  int gates = 1;
  int bias_blocks = 2;  // B is [D, bias_blocks * H]: 2 G for Wb and Rb, G for their sum
  int directions = 1;
  std::array<bool, 2> reverse{};
  std::array<std::array<kernels::Activation, 3>, 2> functions{};  // f, g, h of each direction, as many as the kind has
  double clip = 0;
  std::optional<int64_t> hidden_size;
  // LSTM: how its gates stand in files.
  kernels::LstmCoupling coupling = kernels::LstmCoupling::kNone;
  kernels::LstmGateOrder gate_order = kernels::kIofc;
  kernels::LstmPeepholeOrder peephole_order = kernels::kIof;
  // Where W and R are bytes and stand in the node as [D,I,G*H] and [D,H,G*H]: what input i, one of the two, is, from
  // the tensors of all inputs (null where one is not known). Undefined when it needs one that is not.
  GateWeight (*read_bytes)(int i, FunctionRef<const Tensor*(int)> input) = nullptr;
  // GRU. In OpenVINO's B of G + 1 blocks the last is then the candidate's Rb.
  bool linear_before_reset = false;

  bool is_cell() const { return layout == RecurrentLayout::kCell; }
  // The first output that is a state.
  int state_output() const { return is_cell() ? 0 : 1; }
};

// Reads direction, layout, activations, their alpha and beta, clip, hidden_size and linear_before_reset; `defaults` are
// the names of the kind's functions. Alpha and beta are consumed in order, only by functions that take them; where a
// list ends early the rest take their function's default.
RecurrentSpec ReadOnnxRecurrent(const NodeAttributes& attrs, const RecurrentOperands& operands, int gates,
                                std::span<const std::string_view> defaults);
// Those of ONNX's operators.
RecurrentSpec ReadLstmSpec(const NodeAttributes& attrs);
RecurrentSpec ReadGruSpec(const NodeAttributes& attrs);
RecurrentSpec ReadRnnSpec(const NodeAttributes& attrs);
// Those of OpenVINO's.
RecurrentSpec ReadLstmSequenceSpec(const NodeAttributes& attrs);
RecurrentSpec ReadGruSequenceSpec(const NodeAttributes& attrs);
RecurrentSpec ReadRnnSequenceSpec(const NodeAttributes& attrs);
// That of a node of one of these six operators; nothing for others. Throws what is wrong with the attributes.
std::optional<RecurrentSpec> ReadSequenceSpec(const OpDef& op, const NodeAttributes& attrs);
// The same with layout kPacked.
RecurrentSpec PackedSpec(RecurrentSpec spec, const RecurrentOperands& operands);
// The same for OpenVINO's spelling of attributes. One set of names may serve both directions; it takes alpha and beta
// from their start again unless they are long enough for both.
RecurrentSpec ReadOpenVinoRecurrent(const NodeAttributes& attrs, const RecurrentOperands& operands,
                                    RecurrentLayout layout, int gates, std::span<const std::string_view> defaults);
// weights_format and input_forget of OpenVINO's LSTMs before opset5 (opset4 for the cell).
void ReadLegacyLstmAttributes(const NodeAttributes& attrs, RecurrentSpec& spec);

// Definitions without functions: the formals in the order of `operands`, the attributes above.
OpDef OnnxRecurrentOp(std::string_view type, int since_version, const RecurrentOperands& operands);
// Of ONNX's newest version made packed, in domain onnxseq.internal.
OpDef PackedRecurrentOp(std::string_view type, const RecurrentOperands& operands);
OpDef OpenVinoRecurrentOp(std::string_view type, RecurrentLayout layout, const RecurrentOperands& operands);

// The shape rule; every dim two operands share is unified.
void InferRecurrent(InferScope& scope, const RecurrentSpec& spec);

// Kind: kernels::Lstm, Gru or Rnn.
// State for RunRecurrentOp. Packs the weights once when all of them are constant; their shapes are checked then.
template <class Kind>
std::unique_ptr<OpState> PrepareRecurrent(const PrepareContext& context, const RecurrentSpec& spec);
// Checks the shapes of all operands and the lengths, then runs the kernel. float16 and bfloat16 are computed in float.
template <class Kind>
void RunRecurrentOp(RunContext& ctx);

// Gives `op` its functions, which know the node by ReadSpec of its attributes.
template <class Kind, RecurrentSpec (*ReadSpec)(const NodeAttributes&)>
void SetRecurrentFunctions(OpDef& op) {
  op.shape = [](InferScope& scope) { InferRecurrent(scope, ReadSpec(scope.attrs())); };
  op.prepare = [](const PrepareContext& context) { return PrepareRecurrent<Kind>(context, ReadSpec(context.attrs())); };
  op.run = RunRecurrentOp<Kind>;
}

}  // namespace ONNX_LIGHT_NAMESPACE
