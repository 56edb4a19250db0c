// SPDX-License-Identifier: Apache-2.0
// PackedGRU (onnxseq.internal 1): GRU of each element of a packed value, ragged along time. RecurrentLayout::kPacked
// says how its inputs and outputs look. An element without steps keeps its initial states, as ONNX's GRU does with T =
// 0.
#include "kernels/gru/gru.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(false, "lengths");

RecurrentSpec ReadSpec(const NodeAttributes& attrs) { return PackedSpec(ReadGruSpec(attrs), kOperands); }

OpDef Definition() {
  OpDef op = PackedRecurrentOp("PackedGRU", kOperands);
  op.attributes.push_back({"linear_before_reset", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Gru, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> packed_gru_ops() {
  static const OpDef op = Definition();
  return {&op, 1};
}

}  // namespace ONNX_LIGHT_NAMESPACE
