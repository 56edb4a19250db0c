// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/checked.h"
#include "base/stop_token.h"
#include "kernels/gemm/panel.h"
#include "kernels/strided/transpose.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Numbers of a tile, in and out: half of an L2, where the weights stand too.
constexpr int64_t kTileNumbers = 1 << 17;
// Multiply-adds of a piece of work: below, the fixed cost of one, some microseconds, shows.
constexpr double kPieceWork = 1 << 23;
// Multiply-adds of a convolution below which oneDNN, whose first use costs milliseconds, is not worth it. Where
// channels are many, ours are as fast; for groups and few channels our products are mostly padding.
constexpr double kDnnWork = 1 << 25;
constexpr double kDnnWorkNarrow = 1 << 18;
constexpr int64_t kNarrow = 32;
// Numbers of padding that need no input or output to justify them.
constexpr int64_t kFreePadding = 1 << 20;
constexpr int64_t kScratchKept = 1 << 20;

int64_t Product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

int64_t Extent(const Window& window, size_t axis) { return (window.kernel[axis] - 1) * window.dilation[axis] + 1; }

// Offsets of all index tuples below `dims` in row-major order, a step along axis d counting steps[d].
std::vector<int64_t> Offsets(std::span<const int64_t> dims, std::span<const int64_t> steps) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * static_cast<size_t>(dims[d]));
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < dims[d]; ++i) longer.push_back(offset + i * steps[d]);
    offsets = std::move(longer);
  }
  return offsets;
}

// Memory of the calling thread for one tile, kept for the next one unless it is large.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t size) {
    if (held_size < size) {
      held = MakeAlignedArray<T>(size);
      held_size = size;
    }
  }
  ~Scratch() {
    if (held_size <= kScratchKept) return;
    held.reset();
    held_size = 0;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return held.get(); }

 private:
  static thread_local AlignedArray<T> held;
  static thread_local int64_t held_size;
};
template <class T>
thread_local AlignedArray<T> Scratch<T>::held;
template <class T>
thread_local int64_t Scratch<T>::held_size = 0;

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

// How the work is cut: tiles of `length` outputs along the first axis, whole along the others; or several images where
// one tile holds all of one. Everything follows from the sizes.
template <class T>
struct PackedConv<T>::Tiles {
  Window window;
  int64_t in_channels, out_channels;  // of all groups
  int64_t length, tiles, images;
  std::vector<int64_t> padded;   // dims of a tile's input, padding included
  std::vector<int64_t> outputs;  // dims of its output
  int64_t padded_size, output_size;
  bool justified;  // the padding is not out of proportion
  double work;     // multiply-adds of all

  Tiles(const PackedConv& conv, int64_t batch, const Window& given)
      : window(given), in_channels(conv.groups_ * conv.in_channels_), out_channels(conv.groups_ * conv.out_channels_) {
    Flatten();
    const size_t axes = window.in.size();
    const auto per_output =
        static_cast<double>(conv.in_channels_ * window.KernelSize()) * static_cast<double>(out_channels);
    work = per_output * static_cast<double>(window.OutSize()) * static_cast<double>(batch);
    padded = window.out;
    for (size_t d = 0; d < axes; ++d) padded[d] = (window.out[d] - 1) * window.stride[d] + Extent(window, d);
    outputs = window.out;
    const std::optional<int64_t> all_padded = CheckedProduct(padded);
    const std::optional<int64_t> numbers = all_padded ? CheckedMul(*all_padded, in_channels) : std::nullopt;
    const int64_t in_and_out = window.InSize() * in_channels + window.OutSize() * out_channels;
    justified = numbers && *numbers / 8 <= std::max(in_and_out, kFreePadding);
    if (!justified) return;
    const int64_t row_out = Product(std::span(outputs).subspan(1)), row_in = Product(std::span(padded).subspan(1));
    const int64_t stride = window.stride[0], halo = std::max<int64_t>(0, Extent(window, 0) - stride);
    int64_t most = kTileNumbers / std::max<int64_t>(1, row_in * in_channels * stride + row_out * out_channels);
    most = std::min(most, static_cast<int64_t>(kPieceWork / std::max(1.0, per_output * static_cast<double>(row_out))));
    most = std::max({most, int64_t{1}, 4 * halo / stride});
    const int64_t out = window.out[0];
    length = (out - 1) / ((out - 1) / most + 1) + 1;
    // Rounded up, so that lengths that vary from run to run come to few sizes of tiles.
    int64_t step = 1;
    while (step * 16 <= length) step *= 2;
    length = std::min(out, (length + step - 1) / step * step);
    tiles = (out - 1) / length + 1;
    outputs[0] = length;
    padded[0] = (length - 1) * stride + Extent(window, 0);
    padded_size = row_in * padded[0] * in_channels;
    output_size = row_out * length * out_channels;
    images = 1;
    if (tiles > 1) return;
    const double one = per_output * static_cast<double>(row_out * length);
    most = std::min(kTileNumbers / (padded_size + output_size), static_cast<int64_t>(kPieceWork / std::max(1.0, one)));
    most = std::clamp<int64_t>(most, 1, batch);
    images = (batch - 1) / ((batch - 1) / most + 1) + 1;
  }

  // A convolution of single places has no axes worth telling apart.
  void Flatten() {
    for (size_t d = 0; d < window.in.size(); ++d)
      if (window.kernel[d] != 1 || window.stride[d] != 1 || window.begin[d] != 0 || window.in[d] != window.out[d])
        return;
    const int64_t size = window.InSize();
    window = {{size}, {size}, {1}, {1}, {1}, {0}, {0}};
  }

  // The input of outputs from `first` on of one image: x[in_channels, in..] to [padded.., in_channels].
  void CopyIn(const T* x, int64_t first, T* to) const {
    const size_t last = padded.size() - 1;
    const int64_t in_size = window.InSize(), columns = padded[last], row = columns * in_channels;
    const int64_t rows = Product(std::span(padded).first(last));
    for (int64_t r = 0; r < rows; ++r, to += row) {
      int64_t rest = r, offset = 0, step = window.in[last];
      bool inside = true;
      for (size_t d = last; d-- > 0;) {
        const int64_t i = rest % padded[d] + (d == 0 ? first * window.stride[0] : 0) - window.begin[d];
        rest /= padded[d];
        inside = inside && i >= 0 && i < window.in[d];
        offset += i * step;
        step *= window.in[d];
      }
      const int64_t begin = (last == 0 ? first * window.stride[0] : 0) - window.begin[last];
      const int64_t from = inside ? std::clamp<int64_t>(-begin, 0, columns) : columns;
      const int64_t until = std::clamp<int64_t>(window.in[last] - begin, from, columns);
      std::fill_n(to, from * in_channels, T(0));
      if (until > from)
        TransposeInto(x + offset + begin + from, in_size, to + from * in_channels, in_channels, in_channels,
                      until - from);
      std::fill_n(to + until * in_channels, (columns - until) * in_channels, T(0));
    }
  }

  // [outputs.., out_channels] to y[out_channels, out..] from output `first` of the first axis on, as far as y goes.
  void CopyOut(const T* from, int64_t first, T* y) const {
    const int64_t row = Product(std::span(outputs).subspan(1)), count = std::min(length, window.out[0] - first) * row;
    TransposeInto(from, out_channels, y + first * row, window.OutSize(), count, out_channels);
  }
};

template <class T>
PackedConv<T>::PackedConv(int64_t groups, int64_t in_channels, int64_t out_channels, std::span<const int64_t> kernel,
                          std::span<const int64_t> dilation, const T* w, const T* bias, bool flush_denormals)
    : groups_(groups),
      in_channels_(in_channels),
      out_channels_(out_channels),
      kernel_(kernel.begin(), kernel.end()),
      run_(groups == 1 && dilation.back() == 1 && in_channels * out_channels > 1 ? kernel.back() : 1),
      w_(w),
      bias_(bias),
      flush_denormals_(flush_denormals) {}

template <class T>
void PackedConv<T>::PackOwn() const {
  const int64_t places = Product(kernel_);
  if (in_channels_ == 1 && out_channels_ == 1) {
    depthwise_ = MakeAlignedArray<T>(places * groups_);
    for (int64_t g = 0; g < groups_; ++g)
      for (int64_t k = 0; k < places; ++k)
        depthwise_[k * groups_ + g] = flush_denormals_ ? FlushDenormal(w_[g * places + k]) : w_[g * places + k];
    return;
  }
  runs_.clear();
  std::vector<T> run(static_cast<size_t>(run_ * in_channels_ * out_channels_));
  for (int64_t g = 0; g < groups_; ++g) {
    for (int64_t first = 0; first < places; first += run_) {
      for (int64_t k = 0; k < run_; ++k)
        for (int64_t c = 0; c < in_channels_; ++c)
          for (int64_t o = 0; o < out_channels_; ++o)
            run[static_cast<size_t>((k * in_channels_ + c) * out_channels_ + o)] =
                w_[((g * out_channels_ + o) * in_channels_ + c) * places + first + k];
      runs_.emplace_back(run_ * in_channels_, out_channels_, MatrixView<T>{run.data(), out_channels_, 1},
                         flush_denormals_);
    }
  }
}

template <class T>
void PackedConv<T>::RunOwn(const Tiles& tiles, int64_t images, const T* x, T* y) const {
  std::call_once(own_once_, [&] { PackOwn(); });
  const Window& window = tiles.window;
  const size_t axes = tiles.padded.size(), last = axes - 1;
  const int64_t columns = tiles.outputs[last], x_step = window.stride[last] * tiles.in_channels;
  std::vector<int64_t> strides(axes, tiles.in_channels);
  for (size_t d = last; d-- > 0;) strides[d] = strides[d + 1] * tiles.padded[d + 1];
  std::vector<int64_t> out_steps = strides, place_steps = strides;
  for (size_t d = 0; d < axes; ++d) {
    out_steps[d] *= window.stride[d];
    place_steps[d] *= window.dilation[d];
  }
  const std::vector<int64_t> rows = Offsets(std::span(tiles.outputs).first(last), out_steps);
  std::vector<int64_t> place_dims = window.kernel;
  place_dims[last] /= run_;
  const std::vector<int64_t> places = Offsets(place_dims, place_steps);
  for (int64_t image = 0; image < images; ++image, x += tiles.padded_size) {
    for (const int64_t row : rows) {
      if (depthwise_ != nullptr) {
        for (int64_t column = 0; column < columns; ++column, y += groups_) {
          const T* const from = x + row + column * x_step;
          if (bias_ != nullptr)
            std::copy_n(bias_, groups_, y);
          else
            std::fill_n(y, groups_, T(0));
          for (size_t k = 0; k < places.size(); ++k) {
            const T* const seen = from + places[k];
            const T* const w = depthwise_.get() + static_cast<int64_t>(k) * groups_;
            for (int64_t g = 0; g < groups_; ++g) y[g] += seen[g] * w[g];
          }
        }
        continue;
      }
      for (int64_t g = 0; g < groups_; ++g) {
        const T* const bias = bias_ != nullptr ? bias_ + g * out_channels_ : nullptr;
        for (size_t k = 0; k < places.size(); ++k)
          runs_[static_cast<size_t>(g) * places.size() + k].Multiply(columns, x + row + places[k] + g * in_channels_,
                                                                     x_step, bias, k > 0, y + g * out_channels_,
                                                                     tiles.out_channels);
      }
      y += columns * tiles.out_channels;
    }
  }
}

template <class T>
bool PackedConv<T>::RunDnn(const OnnxseqDnn& dnn, const Tiles& tiles, int64_t images, const T* x, T* y) const {
  if constexpr (!std::is_same_v<T, float>) {
    return false;
  } else {
    OnnxseqDnnConv conv{};
    conv.batch = images;
    conv.groups = groups_;
    conv.in_channels = in_channels_;
    conv.out_channels = out_channels_;
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

template <class T>
ConvMethod PackedConv<T>::Run(int64_t batch, const Window& window, const T* x, T* y, ThreadTeam* team, int threads,
                              ConvMethod method) const {
  const Tiles tiles(*this, batch, window);
  if (!tiles.justified) {
    ConvReference(batch, groups_, in_channels_, out_channels_, window, x, w_, bias_, y);
    return ConvMethod::kOwn;
  }
  const bool narrow = groups_ > 1 || std::min(in_channels_, out_channels_) < kNarrow;
  const bool large = tiles.work >= (narrow ? kDnnWorkNarrow : kDnnWork);
  const bool fits = std::is_same_v<T, float> && tiles.padded.size() <= ONNXSEQ_DNN_MAX_AXES;
  const OnnxseqDnn* const dnn =
      fits && (method == ConvMethod::kDnn || (method == ConvMethod::kBySize && large)) ? Dnn() : nullptr;
  const int64_t image_in = tiles.window.InSize() * tiles.in_channels;
  const int64_t image_out = tiles.window.OutSize() * tiles.out_channels;
  std::atomic<bool> own = false;
  const auto piece = [&](int64_t index) {
    const int64_t image = index / tiles.tiles * tiles.images, first = index % tiles.tiles * tiles.length;
    const int64_t images = std::min(tiles.images, batch - image);
    const Scratch<T> scratch(images * (tiles.padded_size + tiles.output_size));
    T* const padded = scratch.data();
    T* const outputs = padded + images * tiles.padded_size;
    for (int64_t i = 0; i < images; ++i)
      tiles.CopyIn(x + (image + i) * image_in, first, padded + i * tiles.padded_size);
    if (dnn == nullptr || !RunDnn(*dnn, tiles, images, padded, outputs)) {
      RunOwn(tiles, images, padded, outputs);
      own = true;
    }
    for (int64_t i = 0; i < images; ++i)
      tiles.CopyOut(outputs + i * tiles.output_size, first, y + (image + i) * image_out);
  };
  const int64_t pieces = ((batch - 1) / tiles.images + 1) * tiles.tiles;
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i);
  };
  if (team == nullptr || threads == 1 || pieces == 1)
    range(0, pieces);
  else
    team->ParallelFor(pieces, 1, range, threads);
  return own ? ConvMethod::kOwn : ConvMethod::kDnn;
}

template void ConvReference(int64_t, int64_t, int64_t, int64_t, const Window&, const float*, const float*, const float*,
                            float*);
template void ConvReference(int64_t, int64_t, int64_t, int64_t, const Window&, const double*, const double*,
                            const double*, double*);
template class PackedConv<float>;
template class PackedConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
