// SPDX-License-Identifier: Apache-2.0
// Random values for the inputs of a model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// What is said of them: sizes of dims by name, and the least and the greatest number of inputs of whole numbers.
struct RandomChoices {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
};

// Parses "N=4,T=100,ids=0..999"; InvalidArgument for anything else.
RandomChoices ParseRandomChoices(const std::string& text);

// Adds to `feeds` a value for every input of the model it lacks: floats from the standard normal distribution,
// sequences of three elements, and whole numbers from the range given. Without one that is 0 to 9, and less than every
// size of these inputs (but 0 and 1 always), so that lengths and places of them fit. Dims have the sizes given, those
// that inference knows to be equal to one or made of them follow; the same seed gives the same values. Throws
// InvalidArgument, naming the input, for a dim without size, an unknown rank, a type that has no random values and a
// range its type cannot hold; and for a choice that is about nothing.
void AddRandomFeeds(const ModelProto& model, const RandomChoices& choices, uint64_t seed, ValueMap& feeds);

}  // namespace ONNX_LIGHT_NAMESPACE
