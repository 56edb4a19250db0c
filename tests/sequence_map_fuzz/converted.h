// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// What came of writing many models in standard operators.
struct ConvertCounts {
  int64_t converted = 0, left = 0;
  std::map<std::string, int64_t> reasons;  // why not, without names
};

// Says of the model, a SequenceMap alone, what these elements look like: sequences of one shape are declared so, others
// cut from a tensor along the axis in which elements differ, or along `cut`, if it is one of theirs. Then has
// BatchSequenceMaps rewrite it and holds what it gives against the map's outputs, `plain`. Returns what is wrong.
std::vector<std::string> CheckConverted(const ModelProto& model, const ValueMap& feeds, const ValueMap& plain, int cut,
                                        ConvertCounts& counts);

}  // namespace ONNX_LIGHT_NAMESPACE
