// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding as RotaryEmbedding and GroupQueryAttention of com.microsoft have it.
#pragma once

#include <span>
#include <vector>

#include "ops/microsoft/attention_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// cos and sin [positions, turned / 2] in float, `turned` <= dim the elements of a head that are turned.
struct Rotation {
  Tensor cos, sin;
  bool interleaved = false;  // element i with its neighbour rather than with that turned / 2 on
};
// From inputs `cos` and `sin`. InvalidArgument where their shapes differ or turn more than `dim` elements.
Rotation ReadRotation(const RunContext& ctx, int cos, int sin, int64_t dim, bool interleaved);
// Turns every vector of the heads, in place, by the angle of its position: position[b * length + i].
// InvalidArgument about `subject` for one past the tables.
void Rotate(const RunContext& ctx, const Rotation& rotation, std::span<const int64_t> positions,
            const std::string& subject, HeadsOf& heads);

}  // namespace ONNX_LIGHT_NAMESPACE
