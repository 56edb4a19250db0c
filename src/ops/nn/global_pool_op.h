// SPDX-License-Identifier: Apache-2.0
// What the pools over a whole plane share: one number for each [instance, channel], the other axes of one element.
#pragma once

#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

OpDef GlobalPoolOp(std::string_view type, int since, void (*run)(RunContext&), std::vector<AttrDef> attributes = {});
// Input 0, of rank 2 or more, as planes of `inner` elements; `pooled` is the shape of one element each.
struct Planes {
  int64_t planes, inner;
  Shape pooled;
};
Planes PlanesOf(const RunContext& ctx);

}  // namespace ONNX_LIGHT_NAMESPACE
