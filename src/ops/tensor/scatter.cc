// SPDX-License-Identifier: Apache-2.0
// Scatter: the former name of ScatterElements, without reductions; deprecated from version 11 on.
// https://onnx.ai/onnx/operators/onnx__Scatter.html
#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunScatterElements(ctx, kernels::ScatterReduction::kNone); }

}  // namespace

std::span<const OpDef> scatter_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Scatter",
       .since_version = 9,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ScatterElementsShape,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
