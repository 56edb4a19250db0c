// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "kernels/conv/conv.h"
#include "kernels/dnn/dnn.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// y = the transpose of a convolution through oneDNN. x[batch, groups * in_channels, window.out..],
// w[groups * in_channels, out_channels, kernel..], bias [groups * out_channels] or null, y[batch, groups *
// out_channels, window.in..]; `window` is that of the convolution from y to x, all sizes are at least 1. `weights` go
// with w. False, nothing done, where oneDNN is not there, does not serve it, or is not worth it by the sizes (kBySize).
// Thread safe; the same whatever the number of threads; y is unfinished once the run is to end. Throws std::bad_alloc.
[[nodiscard]] bool DnnConvTranspose(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels,
                                    const Window& window, const float* x, const float* w, const float* bias, float* y,
                                    DnnWeights& weights, ThreadTeam* team = nullptr, int threads = 0,
                                    ConvMethod method = ConvMethod::kBySize);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
