// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnxseq/session.h"
#include "onnxseq/weight_storage.h"
#include "runtime/custom_ops.h"

namespace ONNX_LIGHT_NAMESPACE {

struct PlanOptions {
  // Initializers of graph inputs are defaults only: the inputs are read from the frame.
  bool defaults_are_inputs = false;
  // Constants are folded as runs compute: denormal numbers flushed to zero, or kept.
  bool flush_denormals = true;
  // Of recurrent operators.
  WeightStorage weight_storage = WeightStorage::kFull;
  // Every output with a name is computed, used or not.
  bool keep_values = false;
  // May be null; must outlive the plan.
  const CustomOps* custom_ops = nullptr;
  SequenceMapStrategy sequence_map = SequenceMapStrategy::kElements;
};

}  // namespace ONNX_LIGHT_NAMESPACE
