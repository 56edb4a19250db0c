// SPDX-License-Identifier: Apache-2.0
// A short loop inferred run by run: exact where no formula holds for all runs, or where the runs tell when they end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

struct Unrolled {
  std::vector<std::vector<ShapeValue>> runs;  // of each run, all outputs of the body
  std::vector<ShapeValue> last;               // the carried values after them
};

struct UnrollOptions {
  // All inputs of the body in run `number`, from the carried values at its head.
  std::function<std::vector<ShapeValue>(int64_t number, std::span<const ShapeValue> head)> bind;
  // From the outputs of a run, whether another follows; nothing when that is not known.
  std::function<std::optional<bool>(std::span<const ShapeValue> outputs)> goes_on;
  // Body outputs first_output, first_output + 1, ... are the next carried values.
  size_t first_output = 0;
  int64_t limit = 0;  // of runs
};

// Nothing when it cannot be told where the loop ends, when that is far away, or when a run cannot be.
std::optional<Unrolled> Unroll(InferScope& scope, const GraphProto& body, std::vector<ShapeValue> initial,
                               const UnrollOptions& options);
// Body output i of all runs, of which there is one at least, stacked along a new axis; Fails as Stacked does.
ShapeValue StackedRuns(InferScope& scope, const GraphProto& body, const Unrolled& unrolled, size_t i, int64_t axis);

}  // namespace ONNX_LIGHT_NAMESPACE
