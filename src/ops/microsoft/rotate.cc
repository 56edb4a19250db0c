// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/rotate.h"

#include <fmt/format.h>

#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {

Rotation ReadRotation(const RunContext& ctx, int cos, int sin, int64_t dim, bool interleaved) {
  Rotation rotation{AsType(ctx.tensor(cos), TensorType::kFloat), AsType(ctx.tensor(sin), TensorType::kFloat),
                    interleaved};
  if (rotation.cos.rank() != 2 || 2 * rotation.cos.dim(1) > dim)
    ctx.FailInput(cos,
                  fmt::format("must be [positions, at most {}], got {}", dim / 2, rotation.cos.shape().ToString()));
  if (rotation.sin.shape() != rotation.cos.shape())
    ctx.FailInput(sin,
                  fmt::format("must be {}, got {}", rotation.cos.shape().ToString(), rotation.sin.shape().ToString()));
  return rotation;
}

void Rotate(const RunContext& ctx, const Rotation& rotation, std::span<const int64_t> positions,
            const std::string& subject, HeadsOf& heads) {
  const int64_t half = rotation.cos.dim(1), step = rotation.interleaved ? 2 : 1,
                apart = rotation.interleaved ? 1 : half;
  float* const data = heads.data.MutableView<float>().data() + heads.offset;
  for (int64_t b = 0; b < heads.batch; ++b) {
    for (int64_t i = 0; i < heads.length; ++i) {
      const int64_t position = positions[static_cast<size_t>(b * heads.length + i)];
      if (position < 0 || position >= rotation.cos.dim(0))
        ctx.Fail(subject, fmt::format("position {} is not in [0, {}]", position, rotation.cos.dim(0) - 1));
      const float* const cos = rotation.cos.View<float>().data() + position * half;
      const float* const sin = rotation.sin.View<float>().data() + position * half;
      for (int64_t h = 0; h < heads.heads; ++h) {
        float* const x = data + b * heads.batch_stride + h * heads.head_stride + i * heads.row_stride;
        for (int64_t p = 0; p < half; ++p) {
          float &real = x[p * step], &imaginary = x[p * step + apart];
          const float turned = real * cos[p] - imaginary * sin[p];
          imaginary = real * sin[p] + imaginary * cos[p];
          real = turned;
        }
      }
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
