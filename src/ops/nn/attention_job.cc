// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/attention_job.h"

#include <utility>

namespace ONNX_LIGHT_NAMESPACE {

HeadsOf SideBySide(Tensor data, int64_t heads, int64_t dim, int64_t first) {
  const int64_t batch = data.dim(0), length = data.dim(1), width = data.dim(2);
  return {std::move(data), batch, heads, length, dim, length * width, dim, width, first};
}

HeadsOf AsAxis(Tensor data) {
  const int64_t batch = data.dim(0), heads = data.dim(1), length = data.dim(2), dim = data.dim(3);
  return {std::move(data), batch, heads, length, dim, heads * length * dim, length * dim, dim, 0};
}

}  // namespace ONNX_LIGHT_NAMESPACE
