// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// What came of the batched graphs of many bodies.
struct RewriteCounts {
  int64_t made = 0, refused = 0, checked_values = 0;
  std::map<std::string, int64_t> batched, per_element;  // nodes, by operator
  std::map<std::string, int64_t> reasons;               // why not, without names
};

// Has the body of the model's only node, a SequenceMap, said over all elements at once, infers that graph anew, runs it
// and holds what comes out against what is inferred of it and against the map's outputs, `plain`. Where elements have
// one shape, `pack` says along which axis they are packed all the same, if it is one of theirs. Returns what is wrong.
std::vector<std::string> CheckRewritten(const ModelProto& model, const ValueMap& feeds, const ValueMap& plain, int pack,
                                        RewriteCounts& counts);

}  // namespace ONNX_LIGHT_NAMESPACE
