// SPDX-License-Identifier: Apache-2.0
// STFT: the Fourier transforms of frames [batch, frames, bins, 2] of a signal [batch, length, 1 or 2], which begin
// frame_step apart, times a window. A frame is as long as frame_length says, or the window, or the signal; onesided
// (the default, of real signals) gives the first half of the bins. Computed in double.
// https://onnx.ai/onnx/operators/onnx__STFT.html
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/dft/dft.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool IsOneSided(const NodeAttributes& attrs) { return attrs.Int("onesided", 1) != 0; }

// How many elements a frame has.
int64_t FrameLength(const RunContext& ctx, int64_t signal) {
  const bool windowed = ctx.HasInput(2);
  if (windowed && ctx.tensor(2).rank() != 1)
    ctx.FailInput(2, fmt::format("must be a vector, got {}", ctx.tensor(2).TypeString()));
  const int64_t length = ctx.HasInput(3) ? ReadInt(ctx, 3) : windowed ? ctx.tensor(2).dim(0) : signal;
  if (windowed && ctx.tensor(2).dim(0) != length)
    ctx.FailInput(2, fmt::format("has {} elements for frames of {}", ctx.tensor(2).dim(0), length));
  if (length < 1 || length > signal)
    ctx.Fail(ctx.HasInput(3) ? ctx.InputSubject(3)
             : windowed      ? ctx.InputSubject(2)
                             : ctx.InputSubject(0),
             fmt::format("makes frames of {} from a signal of {}", length, signal));
  return length;
}

void Run(RunContext& ctx) {
  const Tensor x = AsType(ctx.tensor(0), TensorType::kDouble);
  if (x.rank() != 3 || (x.dim(2) != 1 && x.dim(2) != 2))
    ctx.FailInput(0, fmt::format("must be [batch,length,1] or [batch,length,2], got {}", ctx.tensor(0).TypeString()));
  const int64_t signal = x.dim(1), parts = x.dim(2), step = ReadInt(ctx, 1);
  if (step < 1) ctx.FailInput(1, fmt::format("is {}, must be 1 or more", step));
  const bool onesided = IsOneSided(ctx.attrs());
  if (onesided && parts == 2) ctx.FailInput(0, "is complex: onesided takes real numbers");
  const int64_t length = FrameLength(ctx, signal), frames = (signal - length) / step + 1;
  const int64_t bins = onesided ? length / 2 + 1 : length;
  Tensor y(TensorType::kDouble, Shape{x.dim(0), frames, bins, 2});
  // Frames of no signal may be of any length.
  if (y.NumElements() == 0) return ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
  std::vector<double> window(static_cast<size_t>(length), 1);
  if (ctx.HasInput(2)) std::ranges::copy(AsType(ctx.tensor(2), TensorType::kDouble).View<double>(), window.begin());
  const double* const from = x.View<double>().data();
  double* const to = y.MutableView<double>().data();
  const kernels::Dft dft(length);
  const int64_t all = x.dim(0) * frames, lanes = dft.LanesFor(all), groups = (all - 1) / lanes + 1;
  ctx.ParallelFor(groups, std::max<int64_t>(1, kElementGrain / (length * lanes * 16)), [&](int64_t begin, int64_t end) {
    std::vector<double> in(static_cast<size_t>(2 * length * lanes)), out(in.size());
    for (int64_t first = begin * lanes; first < end * lanes; first += lanes) {
      const int64_t count = std::min(lanes, all - first);
      for (int64_t lane = 0; lane < count; ++lane) {
        const int64_t i = first + lane;
        const double* element = from + (i / frames * signal + i % frames * step) * parts;
        double* at = in.data() + lane;
        for (int64_t k = 0; k < length; ++k, element += parts, at += 2 * lanes) {
          at[0] = element[0] * window[static_cast<size_t>(k)];
          if (parts == 2) at[lanes] = element[1] * window[static_cast<size_t>(k)];
        }
      }
      dft.Run(lanes, in.data(), out.data(), false);
      for (int64_t lane = 0; lane < count; ++lane) {
        const double* at = out.data() + lane;
        double* element = to + (first + lane) * bins * 2;
        for (int64_t k = 0; k < bins; ++k, at += 2 * lanes) {
          *element++ = at[0];
          *element++ = at[lanes];
        }
      }
    }
  });
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& window = scope.InputShape(2);
  if (!x.IsUnknown() && x.Rank() != 3)
    scope.Fail(scope.InputSubject(0), fmt::format("must be [batch,length,1] or [batch,length,2], got {}",
                                                  InferScope::Describe(scope.Input(0))));
  if (!window.IsUnknown() && window.Rank() != 1)
    scope.Fail(scope.InputSubject(2), fmt::format("must be a vector, got {}", InferScope::Describe(scope.Input(2))));
  const std::optional<OptimDim> step = scope.Input(1).ScalarValue();
  if (step && step->IsInt() && step->AsInt() < 1)
    scope.Fail(scope.InputSubject(1), fmt::format("is {}, must be 1 or more", step->AsInt()));
  std::optional<OptimDim> length = scope.Input(3).ScalarValue();
  if (!window.IsUnknown() && (length || !scope.HasInput(3)))
    length = length ? scope.Unify(window[0], *length, "the length of " + scope.InputSubject(2), scope.InputSubject(3))
                    : window[0];
  if (!length && !scope.HasInput(2) && !scope.HasInput(3) && !x.IsUnknown()) length = x[1];
  OptimDim frames = scope.Fresh(), bins = scope.Fresh();
  // Frames as long as the signal are one.
  if (length && !x.IsUnknown() && scope.context().Equal(*length, x[1])) {
    frames = OptimDim(1);
  } else if (length && step && step->IsInt() && !x.IsUnknown()) {
    frames = FloorDiv(x[1] - *length, step->AsInt()) + 1;
  }
  if (length) bins = IsOneSided(scope.attrs()) ? FloorDiv(*length, 2) + 1 : *length;
  SetLikeInput(scope, 0, OptimShape{x.IsUnknown() ? scope.Fresh() : x[0], frames, bins, OptimDim(2)});
}

}  // namespace

std::span<const OpDef> stft_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "STFT",
       .since_version = 17,
       .inputs = {{"signal", kFloatTypes, "T1"},
                  {"frame_step", kIndexTypes, "T2"},
                  {.name = "window", .types = kFloatTypes, .type_var = "T1", .count = FormalCount::kOptional},
                  {.name = "frame_length", .types = kIndexTypes, .type_var = "T2", .count = FormalCount::kOptional}},
       .outputs = {{"output", kFloatTypes, "T1"}},
       .attributes = {{"onesided", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
