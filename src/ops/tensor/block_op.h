// SPDX-License-Identifier: Apache-2.0
// What DepthToSpace and SpaceToDepth share: an image [N,C,H,W], and whether a channel's number holds the place in the
// block before the channel (mode DCR) or after it (CRD).
#pragma once

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// Attribute 'blocksize', > 0.
int64_t ReadBlockSize(const NodeAttributes& attrs);
// Attribute 'mode': CRD.
bool IsChannelFirst(const NodeAttributes& attrs);
// InvalidArgument for another rank than 4.
void CheckImage(const RunContext& ctx);
// The shape of input 0, checked alike; nothing when it is unknown, and then output 0 is an image of unknown dims.
std::optional<OptimShape> ImageShape(InferScope& scope);

// Version 1, and the one from which on there is a mode.
std::vector<OpDef> BlockOps(std::string_view type, int mode_since, void (*shape)(InferScope&),
                            void (*run)(RunContext&));

}  // namespace ONNX_LIGHT_NAMESPACE
