// SPDX-License-Identifier: Apache-2.0
// The passes over one graph, each in the file of its name, in the order they are run. None throws; each returns how
// many nodes it removed, or how many groups of nodes it made one.
#pragma once

#include <cstdint>

#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

// Loops and Scans whose bodies compute what LSTM, GRU or RNN computes, for each step of an input, become that operator.
// A note says of each what it became, or why it stays, where it looks like one.
int64_t RecogniseCells(GraphEdit& edit);
// Steps of one cell, each node by node beside the others, two or more of them, become its operator.
int64_t RecogniseUnrolledCells(GraphEdit& edit);
// DequantizeLinear, one node of floats, QuantizeLinear, of bytes, become a node of bytes: MatMul and Conv by quantised
// weights QLinearMatMul and QLinearConv; where com.microsoft is imported, Gemm, Add and Mul its QGemm, QLinearAdd and
// QLinearMul; with a Relu after them where the bytes begin at zero. Nodes that only move elements, or find the
// greatest, do so with the bytes where the scale stays the same. Whole numbers are summed where floats were rounded:
// results differ by at most one unit of the last QuantizeLinear, those of Add, Mul and moves not at all.
int64_t FuseQuantized(GraphEdit& edit);

// Nodes whose inputs are all constant become constants: by their operator's own kernel, never random ones nor ones with
// bodies. Constants of more than kMaxFoldedRead bytes are not read, results that exceed the inputs by more than
// kMaxFoldedGrowth bytes not kept; graph outputs stay.
inline constexpr int64_t kMaxFoldedRead = 16 << 20;
inline constexpr int64_t kMaxFoldedGrowth = 64 << 10;
int64_t FoldConstants(GraphEdit& edit);

// Identity, Dropout that drops nothing, Cast to the same type, Slice of everything, Concat, Sum, Max, Min and Mean of
// one input, Transpose that leaves the order of axes; two Transposes become one, of two Reshapes the last is left where
// the first is known to have gone well.
int64_t RemoveNoOps(GraphEdit& edit);

// Of nodes of the same operator with the same inputs and attributes, random ones and those with bodies excepted, the
// first is left.
int64_t MergeEqual(GraphEdit& edit);

// BatchNormalization that follows a Conv, all statistics and weights constant and of at most kMaxFoldedRead bytes, goes
// into the weights and bias of the Conv. Rounds differently.
int64_t FoldBatchNormalization(GraphEdit& edit);

// Add of a constant per channel that follows a Conv without bias becomes its bias.
int64_t FuseConvBias(GraphEdit& edit);

// Nodes whose results nobody uses leave, unless they or nodes in their bodies are random or unknown.
int64_t RemoveDead(GraphEdit& edit);

// An activation that follows a Conv of constant weights of floats, or a MaxPool without padding whose windows do not
// overlap along the first axis and fit whatever the sizes, or one after the other, become part of the Conv
// (ops/nn/conv.cc).
int64_t FuseAfterConv(GraphEdit& edit);
// MatMul or Gemm by a constant matrix that is packed, then Add of a constant row, Relu, or both, become one
// FusedProduct node.
int64_t FuseProduct(GraphEdit& edit);

// Elementwise nodes (OpDef::elementwise) of floating-point numbers and bools whose results are used by one another
// alone, all of one known shape, become one FusedElementwise node. In bodies, nodes that depend on outer values alone
// stay out: they are computed once for all runs of the body.
int64_t FuseElementwise(GraphEdit& edit);

// With two threads or more, nodes of LSTM, GRU and RNN, and OpenVINO's sequences of these, that may run at the same
// time become one RecurrentGroup node: such as do not depend on each other, and layers of one direction that read the Y
// of another one, all elements at their places. Weights must be constant, float or double. Not those that share each
// step among the threads well, nor in bodies. A note names the nodes of each group.
int64_t GroupRecurrent(GraphEdit& edit);

// SequenceMaps that standard operators can run over all elements at once become those: elements of one known shape
// stacked, others that differ in one dim concatenated along it. SplitToSequence before and ConcatFromSequence behind
// then need no sequence where axes agree. What is given is the same but for rounding, no elements at all included; what
// cannot be said so, or not be proven, stays. A note says of each what became of it, or why it stays.
int64_t BatchSequenceMaps(GraphEdit& edit);

}  // namespace ONNX_LIGHT_NAMESPACE
