// SPDX-License-Identifier: Apache-2.0
// Random models of one SequenceMap, and elements to feed them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "body_maker.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

struct RandomMap {
  // A model with one SequenceMap over one to three sequences, whole tensors beside them and captured values, whose body
  // has some ten nodes.
  std::string text;
  std::vector<Typed> sequences;  // its inputs that are sequences: their elements
};

// The same for the same seed.
RandomMap MakeRandomMap(uint64_t seed);

// Values of the model's inputs: 0, 1, 2, 5 or 40 elements, whose sizes are equal or not where the map says they may
// differ, and now and then 0; some elements have an axis more. Not every model runs with every one.
ValueMap RandomElements(const RandomMap& map, const ModelProto& model, uint64_t seed);

// The values with each float moved by a few units in its last place.
ValueMap Shaken(const ValueMap& feeds, uint64_t seed);

}  // namespace ONNX_LIGHT_NAMESPACE
