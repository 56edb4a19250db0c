// SPDX-License-Identifier: Apache-2.0
// ScatterElements: the data with each update stored at its index along the axis, at its own place along the other axes,
// in order; with a reduction (version 16 add and mul, 18 min and max) combined with what is there.
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html
#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kReduces, bool kExtremes>
void Run(RunContext& ctx) {
  RunScatterElements(
      ctx, kReduces ? ReadReduction(ctx, ctx.tensor(0).dtype(), kExtremes) : kernels::ScatterReduction::kNone);
}

}  // namespace

std::span<const OpDef> scatter_elements_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 11,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ScatterElementsShape,
       .run = Run<false, false>},
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 16,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .shape = ScatterElementsShape,
       .run = Run<true, false>},
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 18,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .shape = ScatterElementsShape,
       .run = Run<true, true>},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
