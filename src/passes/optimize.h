// SPDX-License-Identifier: Apache-2.0
// All passes over a model, its bodies included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "passes/type_knowledge.h"

namespace ONNX_LIGHT_NAMESPACE {

// From how many elements on values do not stay in the caches from one node to the next: as many floats as half of the
// last-level cache holds, 2^18 to 2^22. The number in the environment as ONNXSEQ_FUSE_FROM where there is one.
int64_t LeastFused();

// From how many multiply-adds on recurrent nodes are worth a thread each. The number in the environment as
// ONNXSEQ_GROUP_FROM where there is one.
int64_t LeastGrouped();

struct OptimizeOptions {
  // Nothing but what ONNX files may hold: no operators of kInternalDomain.
  bool standard_only = false;
  // Initializers that are graph inputs are constants: for runs that feed nothing in their place.
  bool defaults_are_constant = false;
  bool flush_denormals = true;
  // Elementwise nodes are fused for values that may have so many elements; those that turn out to have fewer are
  // computed node by node.
  int64_t least_fused = 1;
  // Threads of a run. Recurrent nodes that may run at the same time do where that pays, and from so many multiply-adds
  // on; with 0 always.
  int threads = 1;
  int64_t least_grouped = 0;
};

// What one pass did in all graphs together: see passes.h for what is counted.
struct PassReport {
  std::string_view pass;
  int64_t count = 0;
};

struct OptimizeReport {
  int64_t nodes_before = 0, nodes_after = 0;  // bodies' included, fused ones counted once
  std::vector<PassReport> passes;
  std::vector<std::string> notes;  // a line each, on single nodes
};

// Rewrites the model into one with the same inputs and outputs that gives the same: to the bit, but where
// BatchNormalization went into weights, where a recurrent operator took the place of its formulas, and where sums of
// quantised numbers are no floats any more (passes.h). `types` knows the graphs of this very model. Functions of the
// model are left alone. What is wrong with the model is left as it is, for planning to say; where that shows before all
// passes are through, this throws (InvalidArgument), and the model is to be thrown away.
OptimizeReport OptimizeGraphs(ModelProto& model, const TypeKnowledge& types, const OptimizeOptions& options = {});

// As OptimizeGraphs, but SequenceMaps alone are rewritten, in standard operators (passes.h, BatchSequenceMaps). What is
// left over, and what is not as short as can be, is for OptimizeGraphs with types inferred anew. A note for each.
OptimizeReport BatchAllSequenceMaps(ModelProto& model, const TypeKnowledge& types);

}  // namespace ONNX_LIGHT_NAMESPACE
