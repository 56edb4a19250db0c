// SPDX-License-Identifier: Apache-2.0
// Random models of operators whose shapes follow from one another, and values to feed them.
#pragma once

#include <cstdint>
#include <string>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// ONNX text of a model with `nodes` nodes or so in its main graph: elementwise operators, movement and selection of
// elements, shape arithmetic that feeds Reshape, Slice, Expand and the like, sequences, If, Loop, Scan, SequenceMap and
// a function. The same text for the same seed.
std::string RandomModelText(uint64_t seed, int nodes);

// Values of its inputs: dims of one name have one size, many of them 0 or 1; not every model runs with every one.
ValueMap RandomFeeds(const ModelProto& model, uint64_t seed);

}  // namespace ONNX_LIGHT_NAMESPACE
