// SPDX-License-Identifier: Apache-2.0
// DeformConv: a convolution each of whose places is moved by an offset of its own, which another input gives, and read
// linearly between the elements there, outside 0; then times a mask. Channels of one offset group move together. Halves
// as floats. https://onnx.ai/onnx/operators/onnx__DeformConv.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/gemm/gemm.h"
#include "ops/as_type.h"
#include "ops/nn/conv_op.h"
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// An element between others is read from 2^axes of them.
constexpr int kMaxAxes = 8;

struct Deformation {
  kernels::Window window;
  int64_t offset_groups;
  Tensor offset, mask;  // [N, groups * places * axes, out..], [N, groups * places, out..] or undefined
};

// What one output sees at one place: elements of a plane and their weights.
template <class T>
struct Corners {
  int count = 0;
  int64_t at[1 << kMaxAxes];
  T weight[1 << kMaxAxes];
};

template <class T>
void CornersAt(const double* place, const kernels::Window& window, T factor, Corners<T>* corners) {
  const auto axes = static_cast<int>(window.in.size());
  int64_t base[kMaxAxes];
  double part[kMaxAxes];
  corners->count = 0;
  for (int d = 0; d < axes; ++d) {
    // Written so that no number, which is nowhere, ends here, too.
    if (!(place[d] > -1 && place[d] < static_cast<double>(window.in[static_cast<size_t>(d)]))) return;
    const double below = std::floor(place[d]);
    base[d] = static_cast<int64_t>(below);
    part[d] = place[d] - below;
  }
  for (int corner = 0; corner < 1 << axes; ++corner) {
    double weight = static_cast<double>(factor);
    int64_t at = 0;
    for (int d = 0; d < axes && at >= 0; ++d) {
      const bool upper = ((corner >> d) & 1) != 0;
      const int64_t i = base[d] + static_cast<int64_t>(upper), size = window.in[static_cast<size_t>(d)];
      weight *= upper ? part[d] : 1 - part[d];
      at = i < 0 || i >= size || weight == 0 ? -1 : at * size + i;
    }
    if (at < 0) continue;
    corners->at[corners->count] = at;
    corners->weight[corners->count++] = static_cast<T>(weight);
  }
}

// columns[c, k, o - first] of instance n, for outputs [first, first + count).
template <class T>
void Gather(const Deformation& deformation, const Tensor& x, int64_t n, int64_t first, int64_t count, T* columns) {
  const kernels::Window& window = deformation.window;
  const size_t axes = window.in.size();
  const int64_t places = window.KernelSize(), out = window.OutSize(), in = window.InSize();
  const int64_t groups = deformation.offset_groups, channels = x.dim(1) / groups;
  const T* const offsets = deformation.offset.View<T>().data() + n * groups * places * static_cast<int64_t>(axes) * out;
  const T* const mask =
      deformation.mask.defined() ? deformation.mask.View<T>().data() + n * groups * places * out : nullptr;
  const T* const planes = x.View<T>().data() + n * x.dim(1) * in;
  Corners<T> corners;
  double place[kMaxAxes];
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t k = 0; k < places; ++k) {
      for (int64_t o = first; o < first + count; ++o) {
        int64_t o_rest = o, k_rest = k;
        for (size_t d = axes; d-- > 0;) {
          const int64_t i = o_rest % window.out[d] * window.stride[d] - window.begin[d] +
                            k_rest % window.kernel[d] * window.dilation[d];
          const int64_t moved = (g * places + k) * static_cast<int64_t>(axes) + static_cast<int64_t>(d);
          place[d] = static_cast<double>(i) + static_cast<double>(offsets[moved * out + o]);
          o_rest /= window.out[d];
          k_rest /= window.kernel[d];
        }
        CornersAt(place, window, mask == nullptr ? T(1) : mask[(g * places + k) * out + o], &corners);
        for (int64_t c = g * channels; c < (g + 1) * channels; ++c) {
          T sum = 0;
          for (int i = 0; i < corners.count; ++i) sum += corners.weight[i] * planes[c * in + corners.at[i]];
          columns[(c * places + k) * count + o - first] = sum;
        }
      }
    }
  }
}

template <class T>
void Convolve(RunContext& ctx, const Deformation& deformation, const ConvGroups& groups, const Tensor& x,
              const Tensor& w, Tensor& y) {
  const int64_t out = deformation.window.OutSize(), places = deformation.window.KernelSize();
  const int64_t depth = groups.in * places;
  const int64_t block = std::min(out, ColumnBlock(x.dim(1) * places));
  std::vector<T> columns(static_cast<size_t>(x.dim(1) * places * block));
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t first = 0; first < out; first += block) {
      ctx.CheckCancelled();
      const int64_t count = std::min(block, out - first);
      Gather(deformation, x, n, first, count, columns.data());
      for (int64_t g = 0; g < groups.groups; ++g) {
        kernels::MatMulArgs<T> args;
        args.m = groups.out;
        args.n = count;
        args.k = depth;
        args.a = {w.View<T>().data() + g * groups.out * depth, depth, 1};
        args.b = {columns.data() + g * depth * count, count, 1};
        args.c = y.MutableView<T>().data() + (n * groups.groups + g) * groups.out * out + first;
        args.c_row = out;
        kernels::MatMul(args, &ctx.team(), ctx.threads());
      }
    }
  }
}

Tensor ReadByPlace(const RunContext& ctx, int i, int64_t instances, int64_t channels, const std::vector<int64_t>& out) {
  Shape shape{instances, channels};
  for (const int64_t d : out) shape.push_back(d);
  if (ctx.tensor(i).shape() != shape)
    ctx.FailInput(i, fmt::format("must have shape {}, got {}", shape.ToString(), ctx.tensor(i).TypeString()));
  return Widened(ctx.tensor(i));
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0)), w = Widened(ctx.tensor(1));
  const ConvGroups groups = ReadConvGroups(ctx, x, w);
  const int axes = x.rank() - 2;
  if (axes > kMaxAxes) ctx.FailInput(0, fmt::format("has {} axes to slide over, more than {}", axes, kMaxAxes));
  const int64_t offset_groups = ctx.attrs().Int("offset_group", 1);
  if (offset_groups < 1 || x.dim(1) % offset_groups != 0)
    ctx.Fail("attribute 'offset_group'", fmt::format("{} does not divide {} channels", offset_groups, x.dim(1)));
  const std::span<const int64_t> kernel = w.shape().dims().subspan(2);
  Deformation deformation{
      WindowOver(ctx, ReadWindow(ctx.attrs(), axes, {kernel.begin(), kernel.end()}), x.shape()), offset_groups, {}, {}};
  const kernels::Window& window = deformation.window;
  const int64_t moved = offset_groups * window.KernelSize();
  deformation.offset = ReadByPlace(ctx, 2, x.dim(0), moved * axes, window.out);
  if (ctx.HasInput(4)) deformation.mask = ReadByPlace(ctx, 4, x.dim(0), moved, window.out);
  const Tensor bias = ReadConvBias(ctx, 3, w.dim(0));
  Shape shape{x.dim(0), w.dim(0)};
  for (const int64_t d : window.out) shape.push_back(d);
  Tensor y(x.dtype(), std::move(shape));
  const bool wide = x.dtype() == TensorType::kDouble;
  if (y.NumElements() > 0) {
    wide ? Convolve<double>(ctx, deformation, groups, x, w, y) : Convolve<float>(ctx, deformation, groups, x, w, y);
    if (bias.defined()) wide ? AddConvBias<double>(bias, y) : AddConvBias<float>(bias, y);
  }
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  OptimShape y = ConvShape(scope);
  const OptimShape& offset = scope.InputShape(2);
  if (y.IsUnknown() && !offset.IsUnknown()) y = scope.FreshShape(static_cast<int>(offset.Rank()));
  if (!y.IsUnknown() && !offset.IsUnknown()) {
    if (offset.Rank() != y.Rank())
      scope.Fail(scope.InputSubject(2),
                 fmt::format("must have rank {} as the input, got {}", y.Rank(), InferScope::Describe(scope.Input(2))));
    for (size_t d = 0; d < y.Rank(); ++d)
      if (d != 1)
        y[d] = scope.Unify(y[d], offset[d], fmt::format("axis {} of the output", d),
                           fmt::format("that of {}", scope.InputSubject(2)));
  }
  SetLikeInput(scope, 0, std::move(y));
}

Formal Optional(std::string_view name) {
  return {.name = name, .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional};
}

}  // namespace

std::span<const OpDef> deform_conv_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "DeformConv",
       .since_version = 19,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"W", kFloatTypes, "T"},
                  {"offset", kFloatTypes, "T"},
                  Optional("B"),
                  Optional("mask")},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"dilations", AttrKind::kInts},
                      {"group", AttrKind::kInt},
                      {"kernel_shape", AttrKind::kInts},
                      {"offset_group", AttrKind::kInt},
                      {"pads", AttrKind::kInts},
                      {"strides", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
