// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: the transpose of a convolution: each input spread over the outputs its window covers, times the
// weights, plus a bias. The length is stride * (in - 1) + output_padding + the window - the padding, or what
// output_shape or auto_pad say, which the padding then follows. https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
#include "kernels/conv/conv_transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "kernels/gemm/gemm.h"
#include "ops/as_type.h"
#include "ops/nn/conv_op.h"
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The attributes beside those of a window; nothing that depends on the input.
struct Transposed {
  WindowAttributes window;
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;  // empty when not given
  int64_t groups;
};

Transposed ReadTransposed(const NodeAttributes& attrs, int axes, const std::vector<int64_t>& kernel) {
  Transposed t{.window = ReadWindow(attrs, axes, kernel),
               .output_padding = attrs.Ints("output_padding"),
               .output_shape = attrs.Ints("output_shape"),
               .groups = attrs.Int("group", 1)};
  const auto count = static_cast<size_t>(axes);
  if (!attrs.Has("output_padding")) t.output_padding.assign(count, 0);
  if (t.output_padding.size() != count)
    FailAttribute("output_padding", fmt::format("has {} entries, needs {}", t.output_padding.size(), count));
  for (const int64_t entry : t.output_padding)
    if (entry < 0 || entry > 0x7fffffff)
      FailAttribute("output_padding", fmt::format("{} is not in [0, {}]", entry, 0x7fffffff));
  // The batch and channels may be given along.
  if (t.output_shape.size() == count + 2) t.output_shape.erase(t.output_shape.begin(), t.output_shape.begin() + 2);
  if (attrs.Has("output_shape") && t.output_shape.size() != count)
    FailAttribute("output_shape", fmt::format("has {} entries, needs {}", t.output_shape.size(), count));
  if (t.groups < 1) FailAttribute("group", fmt::format("is {}, must be 1 or more", t.groups));
  return t;
}

bool IsSame(const Transposed& t) {
  return t.window.auto_pad == AutoPad::kSameUpper || t.window.auto_pad == AutoPad::kSameLower;
}

// The outputs that `in` inputs reach, padding included.
OptimDim Reach(const Transposed& t, int axis, const OptimDim& in) {
  const auto d = static_cast<size_t>(axis);
  return (in - 1) * t.window.strides[d] + (t.output_padding[d] + t.window.Extent(axis));
}

OptimDim Length(const Transposed& t, int axis, const OptimDim& in) {
  const auto d = static_cast<size_t>(axis);
  if (!t.output_shape.empty()) return t.output_shape[d];
  if (IsSame(t)) return in * t.window.strides[d];
  return Reach(t, axis, in) - (t.window.begin[d] + t.window.end[d]);
}

// The convolution this is the transpose of: from the output here to the input here.
kernels::Window WindowFrom(const RunContext& ctx, const Transposed& t, const Shape& x) {
  kernels::Window window{.in = {},
                         .out = {},
                         .kernel = t.window.kernel,
                         .stride = t.window.strides,
                         .dilation = t.window.dilations,
                         .begin = t.window.begin,
                         .end = t.window.end};
  for (int axis = 0; axis < t.window.axes(); ++axis) {
    const auto d = static_cast<size_t>(axis);
    const OptimDim length = Length(t, axis, x[axis + 2]), reach = Reach(t, axis, x[axis + 2]);
    if (!length.IsInt() || !reach.IsInt() || length.AsInt() < 0)
      ctx.FailInput(0,
                    fmt::format("axis {} of {} elements comes out with {}", axis + 2, x[axis + 2], length.ToString()));
    if (!t.output_shape.empty() || IsSame(t)) {
      const int64_t pad = std::max<int64_t>(0, reach.AsInt() - length.AsInt());
      window.begin[d] = t.window.auto_pad == AutoPad::kSameUpper ? pad / 2 : pad - pad / 2;
    }
    window.in.push_back(length.AsInt());
    window.out.push_back(x[axis + 2]);
    window.end[d] = reach.AsInt() + window.begin[d];  // nothing is beyond
  }
  return window;
}

template <class T>
void Spread(RunContext& ctx, int64_t groups, const kernels::Window& window, const Tensor& x, const Tensor& w,
            const Tensor& bias, Tensor& y) {
  // As seen from the convolution: `out` are inputs here.
  const int64_t in = window.InSize(), out = window.OutSize(), places = window.KernelSize();
  const int64_t from_channels = x.dim(1) / groups, to_channels = w.dim(1), depth = to_channels * places;
  const std::span<T> to = y.MutableView<T>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] =
        bias.defined() ? bias.View<T>()[i / static_cast<size_t>(in) % static_cast<size_t>(to_channels * groups)] : T(0);
  if (from_channels == 0) return;
  const int64_t block = ColumnBlock(depth);
  std::vector<T> columns(static_cast<size_t>(depth * std::min(block, out)));
  for (int64_t first = 0; first < out; first += block) {
    ctx.CheckCancelled();
    const int64_t count = std::min(block, out - first);
    const std::vector<int64_t> table = kernels::WindowTable(window, first, first + count);
    for (int64_t n = 0; n < x.dim(0); ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        kernels::MatMulArgs<T> args;
        args.m = depth;
        args.n = count;
        args.k = from_channels;
        args.a = {w.View<T>().data() + g * from_channels * depth, 1, depth};
        args.b = {x.View<T>().data() + (n * groups + g) * from_channels * out + first, out, 1};
        args.c = columns.data();
        args.c_row = count;
        kernels::MatMul(args, &ctx.team(), ctx.threads());
        kernels::AddColumns(columns.data(), to.data() + (n * groups + g) * to_channels * in, to_channels, in, places,
                            table);
      }
    }
  }
}

// Weights that are the same in each run, with what oneDNN makes of them.
struct TransposedState : OpState {
  Tensor w;
  mutable kernels::DnnWeights weights;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<TransposedState>();
  const Tensor* const w = ctx.ConstantInput(1);
  if (w != nullptr && TypeSet(kFloatTypes).Has(w->dtype())) state->w = Widened(*w);
  return state;
}

bool RunDnn(RunContext& ctx, int64_t groups, const kernels::Window& window, const Tensor& x, const Tensor& w,
            const Tensor& bias, Tensor& y) {
  if (x.dtype() != TensorType::kFloat || x.NumElements() == 0) return false;
  const auto& state = ctx.state<TransposedState>();
  kernels::DnnWeights once;
  return kernels::DnnConvTranspose(x.dim(0), groups, x.dim(1) / groups, w.dim(1), window, x.View<float>().data(),
                                   w.View<float>().data(), bias.defined() ? bias.View<float>().data() : nullptr,
                                   y.MutableView<float>().data(), state.w.defined() ? state.weights : once, &ctx.team(),
                                   ctx.threads());
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0));
  const Tensor constant = ctx.state<TransposedState>().w, w = constant.defined() ? constant : Widened(ctx.tensor(1));
  CheckConvRanks(ctx, x, w);
  const std::span<const int64_t> kernel = w.shape().dims().subspan(2);
  const Transposed t = ReadTransposed(ctx.attrs(), x.rank() - 2, {kernel.begin(), kernel.end()});
  if (w.dim(0) != x.dim(1) || x.dim(1) % t.groups != 0)
    ctx.FailInput(1, fmt::format("takes {} channels in {} groups, the input has {}", w.dim(0), t.groups, x.dim(1)));
  const std::optional<int64_t> all_channels = CheckedMul(w.dim(1), t.groups);
  if (!all_channels) ctx.FailInput(1, fmt::format("gives too many channels in {} groups", t.groups));
  const int64_t channels = *all_channels;
  const Tensor bias = ReadConvBias(ctx, 2, channels);
  const kernels::Window window = WindowFrom(ctx, t, x.shape());
  Shape shape{x.dim(0), channels};
  for (const int64_t d : window.in) shape.push_back(d);
  Tensor y(x.dtype(), std::move(shape));
  if (y.NumElements() > 0 && !RunDnn(ctx, t.groups, window, x, w, bias, y)) {
    x.dtype() == TensorType::kDouble ? Spread<double>(ctx, t.groups, window, x, w, bias, y)
                                     : Spread<float>(ctx, t.groups, window, x, w, bias, y);
  }
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& w = scope.InputShape(1);
  const OptimShape& either = x.IsUnknown() ? w : x;
  if (either.IsUnknown()) return SetLikeInput(scope, 0, either);
  if (either.Rank() < 3)
    scope.Fail(scope.InputSubject(x.IsUnknown() ? 1 : 0),
               fmt::format("must have rank 3 or more, has {}", either.Rank()));
  const auto axes = static_cast<int>(either.Rank()) - 2;
  OptimShape y = scope.FreshShape(axes + 2);
  if (!w.IsUnknown()) {
    if (!x.IsUnknown() && w.Rank() != x.Rank())
      scope.Fail(scope.InputSubject(1),
                 fmt::format("must have rank {} as the input, got {}", x.Rank(), InferScope::Describe(scope.Input(1))));
    if (!x.IsUnknown())
      scope.Unify(x[1], w[0], "the channels of " + scope.InputSubject(0), "the channels of " + scope.InputSubject(1));
    y[1] = w[1] * scope.attrs().Int("group", 1);
  }
  if (!x.IsUnknown()) y[0] = x[0];
  const std::optional<std::vector<int64_t>> kernel = KnownKernel(scope, w, axes);
  if (kernel || scope.attrs().Has("output_shape")) {
    const Transposed t = ReadTransposed(scope.attrs(), axes, kernel.value_or(std::vector<int64_t>()));
    for (int axis = 0; axis < axes; ++axis) {
      const auto d = static_cast<size_t>(axis) + 2;
      if (!t.output_shape.empty()) {
        y[d] = Length(t, axis, 0);
      } else if (!x.IsUnknown()) {
        y[d] = Length(t, axis, x[d]);
      }
    }
  }
  SetLikeInput(scope, 0, std::move(y));
}

}  // namespace

std::span<const OpDef> conv_transpose_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ConvTranspose",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"W", kFloatTypes, "T"},
                  {.name = "B", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = ConvAttributes({{"output_padding", AttrKind::kInts}, {"output_shape", AttrKind::kInts}}),
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
