// SPDX-License-Identifier: Apache-2.0
// Fourier transforms. The last axis of complex values has their two parts, and is none that is counted.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The axes that are transformed, as DFT counts them (before the axis of parts, or from there to the front), and to
// which sizes; -1 for as it is. Sizes that are not constant are the value `computed`, a vector.
struct Axes {
  std::vector<int64_t> axes, sizes;
  std::string computed;
  explicit Axes(IrLowering& l) {
    const auto given = l.ConstantInts(1);
    if (!given) l.Refuse("input 1 'axes' must be constant integers");
    for (const int64_t axis : *given) axes.push_back(axis < 0 ? axis - 1 : axis);
    constexpr size_t kMostAxes = 64;
    if (axes.empty() || axes.size() > kMostAxes)
      l.layer().Fail("input 1 'axes'", fmt::format("must name 1 to {} axes, got {}", kMostAxes, axes.size()));
    sizes.assign(axes.size(), -1);
    if (l.input_size() < 3) return;
    const auto lengths = l.ConstantInts(2);
    if (!lengths) {
      computed = l.Int64(2, true);
      return;
    }
    if (lengths->size() != axes.size())
      l.layer().Fail("input 2 'signal_size'", fmt::format("has {} elements for {} axes", lengths->size(), axes.size()));
    sizes = *lengths;
  }
};

struct Ways {
  bool inverse = false, onesided = false;
};

// The size that axis i is transformed to, of rank 0; empty for as it is.
std::string Length(IrLowering& l, const Axes& given, size_t i, const std::string& value, Ways ways) {
  const auto number = [&](const char* hint, int64_t n) {
    return l.ScalarConstant(hint, TensorType::kInt64, static_cast<double>(n));
  };
  if (given.computed.empty()) return given.sizes[i] < 0 ? "" : number("length", given.sizes[i]);
  const std::string size = l.Apply("Gather", {given.computed, number("place", static_cast<int64_t>(i))});
  std::string own = l.Apply("Squeeze", {l.AxisSize(value, given.axes[i])});
  // Half of the numbers, and the one in the middle.
  if (ways.inverse && ways.onesided) own = l.Apply("Mul", {l.Apply("Sub", {own, number("one", 1)}), number("two", 2)});
  return l.Apply("Where", {l.Apply("Less", {size, number("zero", 0)}), own, size});
}

// Axis i of `value`; the result is `output`, or a new value when that is empty.
std::string Transform(IrLowering& l, const std::string& value, const Axes& given, size_t i, Ways ways,
                      std::string output = {}) {
  if (output.empty()) output = l.Temporary("dft");
  const std::string length = Length(l, given, i, value, ways);
  const std::string along = l.ScalarConstant("axis", TensorType::kInt64, static_cast<double>(given.axes[i]));
  NodeProto& node = l.Node("DFT", {value, length, along}, {output});
  if (ways.inverse) SetInt(node, "inverse", 1);
  if (ways.onesided) SetInt(node, "onesided", 1);
  return output;
}

void LowerComplex(IrLowering& l, bool inverse) {
  const Axes given(l);
  std::string value = l.Use(0);
  for (size_t i = 0; i < given.axes.size(); ++i) {
    const std::string output = i + 1 == given.axes.size() ? l.output(0).name : "";
    value = Transform(l, value, given, i, {.inverse = inverse}, output);
  }
  l.SameAs(0);
}

// The window in the middle of `frame` elements, zeros beside it.
std::string FrameWindow(IrLowering& l, const std::string& frame) {
  const auto size = l.ConstantInts(2);
  const std::vector<int64_t> dims = l.DimsOf(1);
  if (size && size->size() == 1 && dims.size() == 1 && dims[0] == size->front()) return l.Use(1);
  const std::string window = l.Use(1), two = l.Int64Constant("two", {2});
  const std::string missing = l.Apply("Sub", {frame, l.AxisSize(window, 0)});
  const std::string before = l.Apply("Div", {missing, two});
  return l.Apply("Pad", {window, l.Along("Concat", {before, l.Apply("Sub", {missing, before})}, 0)});
}

// Axes -3 and -2, frames and bins, change places in a value of this rank.
std::vector<int64_t> FramesSwapped(int rank) {
  return rank == 4 ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{1, 0, 2};
}

}  // namespace

void LowerDft(IrLowering& l) { LowerComplex(l, false); }
void LowerIdft(IrLowering& l) { LowerComplex(l, true); }

// The last of the axes is that of the real numbers, of which one half says all.
void LowerRdft(IrLowering& l) {
  const Axes given(l);
  std::string value = l.Apply("Unsqueeze", {l.Use(0), l.Int64Constant("parts", {-1})});
  for (size_t i = given.axes.size(); i-- > 0;) {
    const bool real = i + 1 == given.axes.size();
    value = Transform(l, value, given, i, {.onesided = real}, i == 0 ? l.output(0).name : "");
  }
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank + 1;
}

void LowerIrdft(IrLowering& l) {
  const Axes given(l);
  std::string value = l.Use(0);
  for (size_t i = 0; i < given.axes.size(); ++i) {
    const bool real = i + 1 == given.axes.size();
    value = Transform(l, value, given, i, {.inverse = true, .onesided = real});
  }
  l.Finish("Squeeze", {value, l.Int64Constant("parts", {-1})});
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank - 1;
}

// Frames of a signal [N, L] or [L]: [.., frames, bins, 2].
void LowerStft(IrLowering& l) {
  const int rank = l.KnownRank(0, "to know whether it is a batch");
  if (rank != 1 && rank != 2) l.layer().Fail("input 0 'signal'", fmt::format("must have rank 1 or 2, got {}", rank));
  const bool swapped = l.attrs().Bool("transpose_frames", false);
  const std::string frame = l.Int64(2, true), step = l.Int64(3, true);
  const std::string window = FrameWindow(l, frame), scalar = l.Int64Constant("axis", {0});
  std::string signal = l.Use(0);
  signal = l.Apply("Unsqueeze", {signal, rank == 1 ? l.Int64Constant("axes", {0, -1}) : l.Int64Constant("axes", {-1})});
  std::string value =
      l.Apply("STFT", {signal, l.Apply("Squeeze", {step, scalar}), window, l.Apply("Squeeze", {frame, scalar})});
  if (rank == 1) value = l.Apply("Squeeze", {value, scalar});
  if (swapped) value = l.Transposed(value, FramesSwapped(rank + 2));
  l.Finish("Identity", {value});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = rank + 2;
}

// Bins of frames [.., bins, frames, 2] back to the signal: the frames, times the window, added up where they lie, over
// the sum of the window's squares there.
void LowerIstft(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const int rank = l.KnownRank(0, "to know whether it is a batch");
  if (rank != 3 && rank != 4) l.layer().Fail("input 0 'data'", fmt::format("must have rank 3 or 4, got {}", rank));
  const int64_t step = l.ConstantInt(3, "input 3 'frame_step'");
  const bool center = l.attrs().Bool("center", false);
  const std::string frame = l.Int64(2, true), window = FrameWindow(l, frame), zero = l.Int64Constant("axis", {0});
  std::string data = l.Use(0);
  if (rank == 3) data = l.Apply("Unsqueeze", {data, zero});
  std::string frames = l.Temporary("frames");  // [N, frame, frames, 1]
  const std::string along = l.ScalarConstant("bins", TensorType::kInt64, 1);
  NodeProto& inverse = l.Node("DFT", {data, l.Apply("Squeeze", {frame, zero}), along}, {frames});
  SetInt(inverse, "inverse", 1);
  SetInt(inverse, "onesided", 1);
  frames = l.Apply("Squeeze", {frames, l.Int64Constant("parts", {-1})});
  if (l.attrs().Bool("normalized", false)) frames = l.Apply("Mul", {frames, l.Apply("Sqrt", {l.CastTo(frame, type)})});
  const std::string column = l.Apply("Unsqueeze", {window, l.Int64Constant("axes", {1})});
  const std::string count = l.AxisSize(frames, 2), one = l.Int64Constant("one", {1});
  const std::string covered = l.Apply("Mul", {l.Apply("Sub", {count, one}), l.Int64Constant("step", {step})});
  const std::string size = l.Apply("Add", {covered, frame});
  const auto overlapped = [&](const std::string& columns) {
    const std::string image = l.Temporary("overlapped");
    SetInts(l.Node("Col2Im", {columns, l.Along("Concat", {one, size}, 0), l.Along("Concat", {one, frame}, 0)}, {image}),
            "strides", std::vector<int64_t>{1, step});
    return l.Apply("Squeeze", {image, l.Int64Constant("axes", {1, 2})});
  };
  const std::string squares = l.Apply("Expand", {l.Apply("Mul", {column, column}), l.Apply("Shape", {frames})});
  const std::string sum = overlapped(l.Apply("Mul", {frames, column})), weight = overlapped(squares);
  const std::string none = l.Apply("Equal", {weight, l.ScalarConstant("zero", type, 0)});
  std::string signal = l.Apply("Div", {sum, l.Apply("Where", {none, l.ScalarConstant("one", type, 1), weight})});
  // Centered, half a frame on each side is none of the signal's.
  const std::string half = l.Apply("Div", {frame, l.Int64Constant("two", {2})});
  const std::string axes = l.Int64Constant("axes", {-1});
  const std::string from = center ? half : zero;
  if (l.input_size() > 4) {
    const std::string length = l.Int64(4, true), end = l.Apply("Add", {from, length});
    signal = l.Apply("Slice", {signal, from, end, axes});
    const std::string missing = l.Apply("Sub", {length, l.AxisSize(signal, -1)});
    const std::string pads = l.Along("Concat", {l.Int64Constant("before", {0, 0, 0}), missing}, 0);
    signal = l.Apply("Pad", {signal, pads});
  } else if (center) {
    signal = l.Apply("Slice", {signal, from, l.Apply("Sub", {size, half}), axes});
  }
  if (rank == 3) {
    l.Finish("Squeeze", {signal, zero});
  } else {
    l.Finish("Identity", {signal});
  }
  l.output(0).type = type;
  l.output(0).rank = rank - 2;
}

}  // namespace ONNX_LIGHT_NAMESPACE
