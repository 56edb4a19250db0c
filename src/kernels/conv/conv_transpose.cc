// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv_transpose.h"

#include <atomic>

#include "base/stop_token.h"
#include "kernels/aligned_array.h"
#include "kernels/pieces.h"
#include "kernels/strided/transpose.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Multiply-adds below which oneDNN, whose first use costs milliseconds, is not worth it.
constexpr double kDnnWork = 1 << 20;

}  // namespace

bool DnnConvTranspose(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, const Window& window,
                      const float* x, const float* w, const float* bias, float* y, DnnWeights& weights,
                      ThreadTeam* team, int threads, ConvMethod method) {
  const int64_t x_size = window.OutSize(), y_size = window.InSize();
  const int64_t x_channels = groups * in_channels, y_channels = groups * out_channels;
  const double work = static_cast<double>(batch) * static_cast<double>(x_channels) * static_cast<double>(out_channels) *
                      static_cast<double>(window.KernelSize()) * static_cast<double>(x_size);
  if (window.in.size() > ONNXSEQ_DNN_MAX_AXES || method == ConvMethod::kOwn) return false;
  if (method == ConvMethod::kBySize && work < kDnnWork) return false;
  const OnnxseqDnn* const dnn = Dnn();
  if (dnn == nullptr) return false;
  OnnxseqDnnConv conv{};
  conv.batch = 1;
  conv.groups = groups;
  conv.in_channels = in_channels;
  conv.out_channels = out_channels;
  conv.axes = static_cast<int32_t>(window.in.size());
  conv.has_bias = bias != nullptr ? 1 : 0;
  conv.transposed = 1;
  for (size_t d = 0; d < window.in.size(); ++d) {
    conv.in[d] = window.out[d];
    conv.out[d] = window.in[d];
    conv.kernel[d] = window.kernel[d];
    conv.stride[d] = window.stride[d];
    conv.dilation[d] = window.dilation[d];
    conv.begin[d] = window.begin[d];
  }
  const auto image = [&](int64_t n) {
    const AlignedArray<float> last = MakeAlignedArray<float>(x_channels * x_size + y_channels * y_size);
    float* const outputs = last.get() + x_channels * x_size;
    TransposeInto(x + n * x_channels * x_size, x_size, last.get(), x_channels, x_channels, x_size);
    if (dnn->conv(&conv, weights.Get(*dnn), w, bias, last.get(), outputs) != kDnnDone) return false;
    TransposeInto(outputs, y_channels, y + n * y_channels * y_size, y_size, y_size, y_channels);
    return true;
  };
  // The first image tells whether all are served.
  if (!image(0)) return false;
  std::atomic<bool> served = true;
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end && !StopRequested(); ++n)
      if (!image(n + 1)) served = false;
  };
  RunPieces(batch - 1, 1, team, threads, range);
  return served;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
