// SPDX-License-Identifier: Apache-2.0
// Fourier transforms. IR has layers of their own for complex values, for real ones of which one half says all, and
// back.
#include <fmt/format.h>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// What IR names beside the values: the axis and, where one is given, its size.
std::vector<IrRef> Along(IrNodeWriter& w, const IrRef& value) {
  const IrType x = w.Type(0);
  const int64_t last = x.rank() - 1;
  std::optional<int64_t> axis;
  if (w.opset() < 20) {
    axis = w.Int("axis", 1);
  } else if (w.Has(2)) {
    const auto given = w.ConstantInts(2);
    if (!given || given->size() != 1) w.Refuse("input 2 'axis'", "must be constant");
    w.MarkUsed(2);
    axis = given->front();
  } else {
    axis = -2;
  }
  const int64_t at = w.Axis(*axis, x);
  if (at >= last) w.Refuse("", fmt::format("{} is no axis of rank {} before the parts", *axis, x.rank()));
  std::vector<IrRef> inputs{value, w.Int64s("axis", {at})};
  if (!w.Has(1)) return inputs;
  const auto length = w.ConstantInts(1);
  if (length && (length->size() != 1 || length->front() < 1))
    w.Refuse("input 1 'dft_length'", "must be one number above 0");  // -1 is the axis's size in IR
  w.MarkUsed(1);
  inputs.push_back(length ? w.Int64s("length", *length) : w.Converted(w.Reshaped(w.In(1), {1}), TensorType::kInt64));
  return inputs;
}

// The parts of real values are one: without that axis.
IrRef WithoutParts(IrNodeWriter& w, const IrRef& value) {
  IrType type = *value.type;
  type.dims.pop_back();
  return w.Step("real", "Squeeze", "opset1", {value, w.Int64s("parts", {-1})}, {}, type);
}

int64_t Parts(IrNodeWriter& w, int i) {
  if (w.Rank(i) < 2) w.Refuse(fmt::format("input {}", i), "must have rank 2 or more");
  const int64_t parts = w.Type(i).dims.back();
  if (parts != 1 && parts != 2) w.Refuse(fmt::format("input {}", i), "its last dim must be known");
  return parts;
}

}  // namespace

void WriteDft(IrNodeWriter& w) {
  const bool inverse = w.Int("inverse", 0) != 0, onesided = w.Int("onesided", 0) != 0;
  const bool real = Parts(w, 0) == 1;
  IrRef x = w.In(0);
  if (onesided && inverse) {
    IrType signal = w.OutputType(0);
    signal.dims.pop_back();
    const IrRef values = w.Step("signal", "IRDFT", "opset9", Along(w, x), {}, signal);
    return w.Finish("Unsqueeze", "opset1", {values, w.Int64s("parts", {-1})});
  }
  if (onesided) {
    if (!real) w.RefuseAttribute("onesided", "is for real values");
    return w.Finish("RDFT", "opset9", Along(w, WithoutParts(w, x)));
  }
  if (real) {
    std::vector<int64_t> none(static_cast<size_t>(w.Rank(0)), 0), end = none;
    end.back() = 1;
    IrType both = *x.type;
    both.dims.back() = 2;
    x = w.Step("complex", "Pad", "opset1", {x, w.Int64s("begin", none), w.Int64s("end", end)},
               {{"pad_mode", "constant"}}, both);
  }
  w.Finish(inverse ? "IDFT" : "DFT", "opset7", Along(w, x));
}

// Frames of real signals, one half of each transform.
void WriteStft(IrNodeWriter& w) {
  if (w.Int("onesided", 1) == 0) w.RefuseAttribute("onesided", "STFT gives one half");
  if (w.Rank(0) != 3 || Parts(w, 0) != 1) w.Refuse("input 0 'signal'", "must be real, of rank 3");
  const auto number = [&](int i) {
    return w.Converted(w.Reshaped(w.In(i), std::span<const int64_t>()), TensorType::kInt64);
  };
  const IrRef step = number(1);
  const IrType type = w.Type(0);
  if (w.Has(2)) {
    const IrRef window = w.In(2);
    const IrRef shape = w.ShapeOf(window);
    w.MarkUsed(3);  // as long as the window
    return w.Finish("STFT", "opset15", {WithoutParts(w, w.In(0)), window, w.AsScalar(shape), step},
                    {{"transpose_frames", "false"}});
  }
  const IrRef size = number(3);
  const IrRef window =
      w.Step("window", "Broadcast", "opset3", {w.Scalar("one", type.element, 1), w.Reshaped(size, {1})},
             {{"mode", "numpy"}}, IrType::Tensor(type.element, {-1}));
  w.Finish("STFT", "opset15", {WithoutParts(w, w.In(0)), window, size, step}, {{"transpose_frames", "false"}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
