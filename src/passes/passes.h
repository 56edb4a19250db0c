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

// Elementwise nodes (OpDef::elementwise) of floating-point numbers and bools whose results are used by one another
// alone, all of one known shape, become one FusedElementwise node. In bodies, nodes that depend on outer values alone
// stay out: they are computed once for all runs of the body.
int64_t FuseElementwise(GraphEdit& edit);

}  // namespace ONNX_LIGHT_NAMESPACE
