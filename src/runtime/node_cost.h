// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

class TypeKnowledge;

// What one run of the node may cost, in nanoseconds on one thread, without its bodies: a fixed part, elements moved,
// and products for matrix multiplications and recurrent nodes. Rough, and a function of the sizes inference knows only.
double NodeNanoseconds(const NodeProto& node, const GraphProto& graph, const TypeKnowledge& types);

}  // namespace ONNX_LIGHT_NAMESPACE
