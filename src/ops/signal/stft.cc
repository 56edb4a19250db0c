// SPDX-License-Identifier: Apache-2.0
// STFT: the Fourier transforms of frames [batch, frames, bins, 2] of a signal [batch, length, 1 or 2], which begin
// frame_step apart, times a window. A frame is as long as frame_length says, or the window, or the signal; onesided
// (the default, of real signals) gives the first half of the bins. Computed in double.
// https://onnx.ai/onnx/operators/onnx__STFT.html
#include <fmt/format.h>

#include <algorithm>
#include <complex>

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
  double* to = y.MutableView<double>().data();
  kernels::Dft dft(length, [&] { ctx.CheckCancelled(); });
  std::vector<std::complex<double>> frame(window.size()), spectrum(window.size());
  for (int64_t i = 0; i < x.dim(0) * frames; ++i) {
    ctx.CheckCancelled();
    const double* from = x.View<double>().data() + (i / frames * signal + i % frames * step) * parts;
    for (size_t k = 0; k < frame.size(); ++k, from += parts)
      frame[k] = std::complex(from[0], parts == 2 ? from[1] : 0) * window[k];
    dft.Run(frame.data(), spectrum.data(), false);
    for (size_t k = 0; k < static_cast<size_t>(bins); ++k) {
      *to++ = spectrum[k].real();
      *to++ = spectrum[k].imag();
    }
  }
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
