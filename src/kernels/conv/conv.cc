// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/stop_token.h"
#include "kernels/conv/conv_tiles.h"
#include "kernels/conv/scratch.h"
#include "kernels/gemm/panel.h"
#include "kernels/pieces.h"
#include "kernels/window/max_rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Multiply-adds of a convolution below which oneDNN, whose first use costs milliseconds, is not worth it. Where
// channels are many, ours are as fast; for groups and few channels our products are mostly padding.
constexpr double kDnnWork = 1 << 25;
constexpr double kDnnWorkNarrow = 1 << 18;
constexpr int64_t kNarrow = 32;
// Pairs of outputs of a tile below which Winograd's products, of more weights, are not worth it.
constexpr int64_t kWinogradPairs = 24;
// Weights of a group up to which vectors of outputs beat products, whose vectors are channels.
constexpr int64_t kPlaneWeights = 16;
// Windows of single places: so many fill vectors, and up to so many channels turning them last and back takes longer.
constexpr int64_t kPoints = 64, kPointChannels = 128;
// Numbers of a tile of planes, in and out: they stay in the first-level cache.
constexpr int64_t kPlaneNumbers = 1 << 14;

}  // namespace

template <class T>
void ConvReference(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, const Window& window,
                   const T* x, const T* w, const T* bias, T* y) {
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  for (int64_t o = 0; o < out && !StopRequested(); ++o) {
    const std::vector<int64_t> seen = WindowTable(window, o, o + 1);
    for (int64_t channel = 0; channel < batch * groups * out_channels && !StopRequested(); ++channel) {
      const int64_t own = channel % (groups * out_channels);
      const T* const from = x + channel / out_channels * in_channels * in;
      double sum = bias != nullptr ? static_cast<double>(bias[own]) : 0;
      for (int64_t c = 0; c < in_channels; ++c)
        for (int64_t k = 0; k < places; ++k)
          if (seen[static_cast<size_t>(k)] >= 0)
            sum += static_cast<double>(from[c * in + seen[static_cast<size_t>(k)]]) *
                   static_cast<double>(w[(own * in_channels + c) * places + k]);
      y[channel * out + o] = static_cast<T>(sum);
    }
  }
}

// One run: its tiles, and where the numbers of one stand.
template <class T>
struct PackedConv<T>::Plan {
  ConvTiles tiles;
  // Of our plain products: where an output's window begins, and the runs of its places.
  std::vector<int64_t> outputs, places;
  // Of Winograd's: the same in lines.
  std::vector<int64_t> output_lines, place_lines;
  std::vector<int64_t> pool_outputs, pool_places;
  bool winograd = false;  // possible

  Plan(const PackedConv& conv, int64_t batch, const Window& window, const ConvPool& pool)
      : tiles(conv.sizes_, batch, window, pool) {
    if (!tiles.justified) return;
    winograd = conv.sizes_.groups == 1 && tiles.window.kernel.back() == 3 && tiles.window.stride.back() == 1 &&
               tiles.window.dilation.back() == 1;
    if (pool.kernel.empty()) return;
    std::vector<int64_t> steps = tiles.OutputSteps();
    pool_places = Offsets(pool.kernel, steps);
    for (size_t d = 0; d < steps.size(); ++d) steps[d] *= pool.stride[d];
    pool_outputs = Offsets(tiles.pooled, steps);
  }

  void Locate(int64_t run) {
    std::vector<int64_t> out_steps = tiles.PaddedSteps(), place_steps = out_steps, place_dims = tiles.window.kernel;
    Stride(out_steps, place_steps);
    place_dims.back() /= run;
    place_steps.back() *= run;
    outputs = Offsets(tiles.outputs, out_steps);
    places = Offsets(place_dims, place_steps);
  }
  void LocateLines() {
    const size_t last = tiles.padded.size() - 1;
    const int64_t line = tiles.padded[last] * tiles.in_channels;
    std::vector<int64_t> out_steps = tiles.PaddedSteps();
    out_steps.pop_back();
    for (int64_t& step : out_steps) step /= line;
    std::vector<int64_t> place_steps = out_steps;
    Stride(out_steps, place_steps);
    output_lines = Offsets(std::span(tiles.outputs).first(last), out_steps);
    place_lines = Offsets(std::span(tiles.window.kernel).first(last), place_steps);
  }
  typename WinogradConv<T>::Lines Lines() const {
    return {tiles.padded_size / (tiles.padded.back() * tiles.in_channels), tiles.outputs.back(), output_lines,
            place_lines};
  }

 private:
  void Stride(std::vector<int64_t>& out_steps, std::vector<int64_t>& place_steps) const {
    for (size_t d = 0; d < out_steps.size(); ++d) {
      out_steps[d] *= tiles.window.stride[d];
      place_steps[d] *= tiles.window.dilation[d];
    }
  }
};

template <class T>
PackedConv<T>::PackedConv(const ConvSizes& sizes, std::span<const int64_t> kernel, std::span<const int64_t> dilation,
                          const T* w, const T* bias, bool flush_denormals)
    : sizes_(sizes),
      kernel_(kernel.begin(), kernel.end()),
      run_(sizes.groups == 1 && dilation.back() == 1 && sizes.in_channels * sizes.out_channels > 1 ? kernel.back() : 1),
      w_(w),
      bias_(bias),
      flush_denormals_(flush_denormals) {}

template <class T>
void PackedConv<T>::PackOwn() const {
  const auto [groups, in_channels, out_channels] = sizes_;
  int64_t places = 1;
  for (const int64_t k : kernel_) places *= k;
  groups_.clear();
  std::vector<T> matrix(static_cast<size_t>(places * in_channels * out_channels));
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t k = 0; k < places; ++k)
      for (int64_t c = 0; c < in_channels; ++c)
        for (int64_t o = 0; o < out_channels; ++o)
          matrix[static_cast<size_t>((k * in_channels + c) * out_channels + o)] =
              w_[((g * out_channels + o) * in_channels + c) * places + k];
    groups_.emplace_back(places * in_channels, out_channels, MatrixView<T>{matrix.data(), out_channels, 1},
                         flush_denormals_);
  }
}

template <class T>
void PackedConv<T>::RunOwn(const Plan& plan, const T* x, T* y) const {
  std::call_once(own_once_, [&] { PackOwn(); });
  const auto [groups, in_channels, out_channels] = sizes_;
  for (int64_t g = 0; g < groups; ++g)
    groups_[static_cast<size_t>(g)].Multiply({x + g * in_channels, plan.outputs, plan.places, run_ * in_channels},
                                             bias_ != nullptr ? bias_ + g * out_channels : nullptr,
                                             y + g * out_channels, plan.tiles.out_channels);
}

template <class T>
bool PackedConv<T>::RunDnn(const OnnxseqDnn& dnn, const Plan& plan, int64_t images, const T* x, T* y) const {
  if constexpr (!std::is_same_v<T, float>) {
    return false;
  } else {
    const ConvTiles& tiles = plan.tiles;
    OnnxseqDnnConv conv{};
    conv.batch = images;
    conv.groups = sizes_.groups;
    conv.in_channels = sizes_.in_channels;
    conv.out_channels = sizes_.out_channels;
    conv.axes = static_cast<int32_t>(tiles.padded.size());
    conv.has_bias = bias_ != nullptr ? 1 : 0;
    for (size_t d = 0; d < tiles.padded.size(); ++d) {
      conv.in[d] = tiles.padded[d];
      conv.out[d] = tiles.outputs[d];
      conv.kernel[d] = tiles.window.kernel[d];
      conv.stride[d] = tiles.window.stride[d];
      conv.dilation[d] = tiles.window.dilation[d];
    }
    return dnn.conv(&conv, dnn_weights_.Get(dnn), w_, bias_, x, y) == kDnnDone;
  }
}

// By channels or by planes, or where padding is out of all proportion, and not written out, by the definition; the pool
// last.
template <class T>
ConvMethod PackedConv<T>::RunWhole(int64_t batch, const Window& window, const ConvEpilogue& epilogue, const T* x, T* y,
                                   ThreadTeam* team, int threads, ConvMethod wish) const {
  const auto [groups, in_channels, out_channels] = sizes_;
  const int64_t planes = batch * groups * out_channels, out = window.OutSize();
  const bool pools = !epilogue.pool.kernel.empty();
  const AlignedArray<T> unpooled = MakeAlignedArray<T>(pools ? planes * out : 0);
  T* const to = pools ? unpooled.get() : y;
  ConvMethod method = ConvMethod::kOwn;
  if (wish != ConvMethod::kPlanes && in_channels * out_channels == 1 && DepthwiseConv<T>::Fits(window)) {
    method = ConvMethod::kDepthwise;
    std::call_once(depthwise_once_, [&] {
      depthwise_ = DepthwiseConv<T>(groups, window.kernel[0], window.kernel[1], w_, bias_, flush_denormals_);
    });
    depthwise_.Run(batch, window, epilogue.activation, x, to, team, threads);
  } else if (const PlaneTiles tiles(window, kPlaneNumbers / (in_channels + out_channels)); tiles.justified) {
    method = ConvMethod::kPlanes;
    std::call_once(planes_once_, [&] {
      planes_ = PlaneConv<T>(groups, in_channels, out_channels, window.KernelSize(), w_, flush_denormals_);
    });
    planes_.Run(batch, tiles, bias_, epilogue.activation, x, to, team, threads);
  } else {
    ConvReference(batch, groups, in_channels, out_channels, window, x, w_, bias_, to);
    if (epilogue.activation) ApplyActivation(*epilogue.activation, planes * out, to, to);
  }
  if (!pools || StopRequested()) return method;
  Window pool{window.out, window.out, epilogue.pool.kernel, epilogue.pool.stride, {}, {}, {}};
  pool.dilation.assign(window.out.size(), 1);
  pool.begin = pool.end = std::vector<int64_t>(window.out.size(), 0);
  for (size_t d = 0; d < pool.in.size(); ++d) pool.out[d] = (pool.in[d] - pool.kernel[d]) / pool.stride[d] + 1;
  const auto range = [&](int64_t begin, int64_t end) {
    MaxPool(std::is_same_v<T, float> ? TensorType::kFloat : TensorType::kDouble, to + begin * out,
            y + begin * pool.OutSize(), nullptr, end - begin, pool);
  };
  RunPieces(planes, kPlaneNumbers / out + 1, team, threads, range);
  return method;
}

template <class T>
ConvMethod PackedConv<T>::Choose(const Plan& plan, ConvMethod wish) const {
  const int64_t pairs = plan.tiles.output_size / plan.tiles.out_channels / 2;
  const bool dnn_fits = std::is_same_v<T, float> && plan.tiles.padded.size() <= ONNXSEQ_DNN_MAX_AXES;
  switch (wish) {
    case ConvMethod::kOwn:
    case ConvMethod::kPlanes:
    case ConvMethod::kDepthwise:
      return ConvMethod::kOwn;
    case ConvMethod::kWinograd:
      return plan.winograd ? wish : ConvMethod::kOwn;
    case ConvMethod::kDnn:
      return dnn_fits && Dnn() != nullptr ? wish : ConvMethod::kOwn;
    case ConvMethod::kBySize:
      break;
  }
  const int64_t depth = sizes_.in_channels * plan.tiles.window.KernelSize();
  if (plan.winograd && std::min(depth / 3, sizes_.out_channels) >= kNarrow && pairs >= kWinogradPairs)
    return ConvMethod::kWinograd;
  const bool narrow = sizes_.groups > 1 || std::min(sizes_.in_channels, sizes_.out_channels) < kNarrow;
  if (plan.tiles.work < (narrow ? kDnnWorkNarrow : kDnnWork)) return ConvMethod::kOwn;
  return dnn_fits && Dnn() != nullptr ? ConvMethod::kDnn : ConvMethod::kOwn;
}

template <class T>
ConvMethod PackedConv<T>::Run(int64_t batch, const Window& window, const ConvEpilogue& epilogue, const T* x, T* y,
                              ThreadTeam* team, int threads, ConvMethod wish) const {
  const auto [groups, in_channels, out_channels] = sizes_;
  const bool few = groups > 1 && in_channels * out_channels <= kPlaneWeights;
  const bool points =
      std::min(in_channels, out_channels) <= kPointChannels && IsPoints(window) && window.OutSize() >= kPoints;
  if (wish == ConvMethod::kPlanes || wish == ConvMethod::kDepthwise || (wish == ConvMethod::kBySize && (few || points)))
    return RunWhole(batch, window, epilogue, x, y, team, threads, wish);
  Plan plan(*this, batch, window, epilogue.pool);
  const ConvTiles& tiles = plan.tiles;
  if (!tiles.justified) return RunWhole(batch, window, epilogue, x, y, team, threads, wish);
  const ConvMethod method = Choose(plan, wish);
  const OnnxseqDnn* const dnn = method == ConvMethod::kDnn ? Dnn() : nullptr;
  if (method == ConvMethod::kWinograd) {
    plan.LocateLines();
    std::call_once(winograd_once_, [&] {
      int64_t places = 1;
      for (const int64_t k : kernel_) places *= k;
      winograd_ = WinogradConv<T>(sizes_.in_channels, sizes_.out_channels, places / 3, w_, flush_denormals_);
    });
  } else {
    plan.Locate(run_);
  }
  const bool pools = !epilogue.pool.kernel.empty();
  const int64_t own_size = method == ConvMethod::kWinograd ? winograd_.ScratchSize(plan.Lines()) : 0;
  const int64_t image_in = tiles.window.InSize() * tiles.in_channels;
  int64_t image_out = tiles.out_channels;
  for (const int64_t d : tiles.all_pooled) image_out *= d;
  std::atomic<bool> served = true;
  const auto piece = [&](int64_t index) {
    const int64_t image = index / tiles.tiles * tiles.images, first = index % tiles.tiles * tiles.length;
    const int64_t images = std::min(tiles.images, batch - image);
    const Scratch<T> scratch(images * (tiles.padded_size + tiles.output_size) + (pools ? tiles.pooled_size : 0) +
                             own_size);
    T* const padded = scratch.data();
    T* const outputs = padded + images * tiles.padded_size;
    T* const pooled = outputs + images * tiles.output_size;
    T* const own = pooled + (pools ? tiles.pooled_size : 0);
    for (int64_t i = 0; i < images; ++i)
      tiles.CopyIn(x + (image + i) * image_in, first, padded + i * tiles.padded_size);
    const bool by_dnn = dnn != nullptr && RunDnn(*dnn, plan, images, padded, outputs);
    if (dnn != nullptr && !by_dnn) served = false;
    for (int64_t i = 0; i < images; ++i) {
      T* const from = padded + i * tiles.padded_size;
      T* const to = outputs + i * tiles.output_size;
      if (method == ConvMethod::kWinograd)
        winograd_.Run(plan.Lines(), from, bias_, to, own);
      else if (!by_dnn)
        RunOwn(plan, from, to);
      if (epilogue.activation) ApplyActivation(*epilogue.activation, tiles.output_size, to, to);
      if (pools) MaxRows(plan.pool_outputs, plan.pool_places, tiles.out_channels, to, pooled);
      tiles.CopyOut(pools ? pooled : to, first, y + (image + i) * image_out);
    }
  };
  const int64_t pieces = ((batch - 1) / tiles.images + 1) * tiles.tiles;
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i);
  };
  RunPieces(pieces, 1, team, threads, range);
  return served ? method : ConvMethod::kOwn;
}

template void ConvReference(int64_t, int64_t, int64_t, int64_t, const Window&, const float*, const float*, const float*,
                            float*);
template void ConvReference(int64_t, int64_t, int64_t, int64_t, const Window&, const double*, const double*,
                            const double*, double*);
template class PackedConv<float>;
template class PackedConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
