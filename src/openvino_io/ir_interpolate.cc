// SPDX-License-Identifier: Apache-2.0
// Interpolate as Resize; what ONNX has not of the nearest elements is gathered.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// What the versions of the layer say in different ways.
struct Interpolation {
  std::string mode, coordinates, nearest;
  bool sizes = true, antialias = false;
  int by = 1;                 // the input with sizes or scales
  std::vector<int64_t> axes;  // none: all
  float cube = -0.75F;
};

void CheckOneOf(const IrLowering& l, const char* name, const std::string& value,
                std::initializer_list<std::string_view> allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  std::string list;
  for (size_t i = 0; i < allowed.size(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == allowed.size() ? " or " : ", ", allowed.begin()[i]);
  l.layer().Fail(fmt::format("attribute '{}'", name), fmt::format("must be {}, got {}", list, QuoteForMessage(value)));
}

// opset1: sizes of the axes that an attribute names.
Interpolation ReadFirst(const IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  Interpolation read;
  read.mode = attrs.String("mode");
  CheckOneOf(l, "mode", read.mode, {"nearest", "linear", "cubic", "area"});
  read.coordinates = attrs.Bool("align_corners", true) ? "align_corners" : "asymmetric";
  read.nearest = "simple";
  read.antialias = attrs.Bool("antialias", false);
  read.axes = attrs.Ints("axes");
  return read;
}

// From opset4 on; up to opset10 both sizes and scales are inputs, of which one counts.
Interpolation Read(const IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  Interpolation read;
  const bool both = l.layer().opset < 11;
  const std::string calculation = attrs.String("shape_calculation_mode");
  CheckOneOf(l, "shape_calculation_mode", calculation, {"sizes", "scales"});
  read.sizes = calculation == "sizes";
  read.mode = attrs.String("mode");
  CheckOneOf(l, "mode", read.mode, {"nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"});
  read.coordinates = attrs.String("coordinate_transformation_mode", "half_pixel");
  CheckOneOf(l, "coordinate_transformation_mode", read.coordinates,
             {"half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"});
  read.nearest = attrs.String("nearest_mode", "round_prefer_floor");
  CheckOneOf(l, "nearest_mode", read.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"});
  read.antialias = attrs.Bool("antialias", false);
  read.by = both && !read.sizes ? 2 : 1;
  read.cube = attrs.Float("cube_coeff", -0.75F);
  if (const int axes_input = both ? 3 : 2; l.input_size() > axes_input) {
    const auto given = l.ConstantInts(axes_input);
    if (!given) l.Refuse("the axes must be constant");
    read.axes = *given;
  }
  return read;
}

// The input with zeros around it, as the attributes say.
std::string Padded(IrLowering& l) {
  std::vector<int64_t> begin = l.attrs().Ints("pads_begin"), end = l.attrs().Ints("pads_end");
  const auto is_none = [](const std::vector<int64_t>& pads) {
    return std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
  };
  if (is_none(begin) && is_none(end)) return l.Use(0);
  const auto rank = static_cast<size_t>(l.KnownRank(0, "to pad it"));
  begin.resize(rank, 0);
  end.resize(rank, 0);
  begin.insert(begin.end(), end.begin(), end.end());
  return l.Apply("Pad", {l.Use(0), l.Int64Constant("pads", begin)});
}

// Scales that are a little less than what gives whole sizes count as that.
constexpr float kScaleEpsilon = 1e-6F;

// Whether that makes a size larger than ONNX has it, as far as scales and sizes are known.
bool RoundsUp(const IrLowering& l, const Interpolation& read) {
  const IrConstant* const constant = l.input(read.by).constant;
  const std::vector<int64_t> dims = l.DimsOf(0);
  if (constant == nullptr || l.input(read.by).type != TensorType::kFloat) return false;
  const std::string_view bytes = constant->tensor.raw_data().view();
  const std::vector<int64_t> begin = l.attrs().Ints("pads_begin"), end = l.attrs().Ints("pads_end");
  for (size_t i = 0; i < bytes.size() / sizeof(float) && (read.axes.empty() || i < read.axes.size()); ++i) {
    int64_t axis = read.axes.empty() ? static_cast<int64_t>(i) : read.axes[i];
    if (axis < 0) axis += static_cast<int64_t>(dims.size());
    const auto at = static_cast<size_t>(axis);
    if (axis < 0 || at >= dims.size() || dims[at] < 0) continue;
    float scale;
    std::memcpy(&scale, bytes.data() + i * sizeof(float), sizeof(float));
    const auto in =
        static_cast<float>(dims[at] + (at < begin.size() ? begin[at] : 0) + (at < end.size() ? end[at] : 0));
    if (std::floor(in * scale) != std::floor(in * (scale + kScaleEpsilon))) return true;
  }
  return false;
}

// The sizes that scales give.
std::string SizesOfScales(IrLowering& l, const Interpolation& read, const std::string& value) {
  std::string in = l.Apply("Shape", {value});
  if (!read.axes.empty()) in = l.Along("Gather", {in, l.Int64Constant("axes", read.axes)}, 0);
  const std::string scales = l.Apply("Add", {l.CastTo(l.Use(read.by), TensorType::kFloat),
                                             l.ScalarConstant("epsilon", TensorType::kFloat, double{kScaleEpsilon})});
  const std::string sizes = l.Apply("Mul", {l.CastTo(in, TensorType::kFloat), scales});
  return l.CastTo(l.Apply("Floor", {sizes}), TensorType::kInt64);
}

// Where each of `out` elements (a scalar float) along an axis of `in` lies between those of the input.
std::string Coordinates(IrLowering& l, const std::string& mode, const std::string& in, const std::string& out,
                        const std::string& scale) {
  const auto number = [&](const char* hint, double value) { return l.ScalarConstant(hint, TensorType::kFloat, value); };
  const std::string zero = number("zero", 0), one = number("one", 1), half = number("half", 0.5);
  const std::string place = l.Apply("Range", {zero, out, one});
  if (mode == "asymmetric") return l.Apply("Div", {place, scale});
  if (mode == "align_corners") {
    const std::string steps = l.Apply("Max", {l.Apply("Sub", {out, one}), one});
    return l.Apply("Div", {l.Apply("Mul", {place, l.Apply("Sub", {in, one})}), steps});
  }
  const std::string middle = l.Apply("Div", {l.Apply("Add", {place, half}), scale});
  if (mode == "tf_half_pixel_for_nn") return middle;
  const std::string shifted = l.Apply("Sub", {middle, half});
  if (mode == "half_pixel") return shifted;
  return l.Apply("Where", {l.Apply("Greater", {out, one}), shifted, zero});
}

std::string Rounded(IrLowering& l, const std::string& mode, const std::string& coordinate, const std::string& scale) {
  const std::string half = l.ScalarConstant("half", TensorType::kFloat, 0.5);
  if (mode == "round_prefer_floor") return l.Apply("Ceil", {l.Apply("Sub", {coordinate, half})});
  if (mode == "round_prefer_ceil") return l.Apply("Floor", {l.Apply("Add", {coordinate, half})});
  if (mode != "simple") return l.Apply(mode == "floor" ? "Floor" : "Ceil", {coordinate});
  const std::string shrinks = l.Apply("Less", {scale, l.ScalarConstant("one", TensorType::kFloat, 1)});
  return l.Apply("Where", {shrinks, l.Apply("Ceil", {coordinate}), l.Apply("Floor", {coordinate})});
}

// Axis by axis the elements at the places that Resize would not choose.
void GatherNearest(IrLowering& l, Interpolation read) {
  std::string value = Padded(l);
  if (read.axes.empty())
    for (int axis = 0; axis < l.KnownRank(0, "to count its axes"); ++axis) read.axes.push_back(axis);
  const std::string scalar = l.Int64Constant("scalar", std::vector<int64_t>());
  const auto as_float = [&](const std::string& size) {
    return l.Apply("Reshape", {l.CastTo(size, TensorType::kFloat), scalar});
  };
  const std::string sizes = read.sizes ? l.Int64(read.by, true) : SizesOfScales(l, read, value);
  const std::string scales = read.sizes ? "" : l.CastTo(l.Use(read.by), TensorType::kFloat);
  for (size_t i = 0; i < read.axes.size(); ++i) {
    const std::string at = l.Int64Constant("place", {static_cast<int64_t>(i)});
    const std::string in = as_float(l.AxisSize(value, read.axes[i])), out = as_float(l.Along("Gather", {sizes, at}, 0));
    const std::string scale =
        read.sizes ? l.Apply("Div", {out, in}) : l.Apply("Reshape", {l.Along("Gather", {scales, at}, 0), scalar});
    const std::string place = Rounded(l, read.nearest, Coordinates(l, read.coordinates, in, out, scale), scale);
    const std::string last = l.Apply("Sub", {in, l.ScalarConstant("one", TensorType::kFloat, 1)});
    const std::string inside = l.Apply("Clip", {place, l.ScalarConstant("zero", TensorType::kFloat, 0), last});
    value = l.Along("Gather", {value, l.CastTo(inside, TensorType::kInt64)}, read.axes[i]);
  }
  l.Finish("Identity", {value});
}

}  // namespace

// "linear" counts the elements in reach only, which without antialiasing is what "linear_onnx" has; pillow's modes
// antialias always.
void LowerInterpolate(IrLowering& l) {
  if (l.layer().opset < 4 && l.input_size() != 2)
    l.layer().Fail("", fmt::format("must have 2 inputs in {}, got {}", l.layer().version, l.input_size()));
  const Interpolation read = l.layer().opset < 4 ? ReadFirst(l) : Read(l);
  constexpr size_t kMostAxes = 64;
  if (read.axes.size() > kMostAxes)
    l.layer().Fail("", fmt::format("has {} axes, at most {} are possible", read.axes.size(), kMostAxes));
  if (l.layer().opset >= 4 && l.layer().opset < 11 && l.input_size() < 3)
    l.layer().Fail("", fmt::format("must have 3 to 4 inputs in {}, got {}", l.layer().version, l.input_size()));
  if (read.mode == "area") l.Refuse("mode \"area\" has no ONNX operator");
  const bool pillow = read.mode.ends_with("_pillow"), linear = read.mode == "linear";
  if (read.antialias && !pillow && !linear)
    l.Refuse(fmt::format("antialias of mode {} has no ONNX operator", QuoteForMessage(read.mode)));
  l.SameAs(0);
  const bool nearest = read.mode == "nearest", for_nearest = read.coordinates == "tf_half_pixel_for_nn";
  if (nearest && (for_nearest || read.nearest == "simple")) return GatherNearest(l, read);
  if (for_nearest) l.Refuse("coordinate_transformation_mode \"tf_half_pixel_for_nn\" has no ONNX operator");
  std::vector<std::string> inputs{Padded(l), "", ""};
  if (read.sizes) {
    inputs.push_back(l.Int64(read.by, true));
  } else if (read.coordinates == "align_corners" || RoundsUp(l, read)) {
    // Corners are those of whole sizes; in ONNX of what the scales give, whole or not.
    inputs.push_back(SizesOfScales(l, read, inputs[0]));
  } else {
    inputs[2] =
        l.KnownType(read.by) == TensorType::kFloat ? l.Use(read.by) : l.CastTo(l.Use(read.by), TensorType::kFloat);
  }
  const bool cubic = read.mode.find("cubic") != std::string::npos;
  NodeProto& node = l.Finish("Resize", inputs);
  SetString(node, "mode", nearest ? "nearest" : cubic ? "cubic" : "linear");
  SetString(node, "coordinate_transformation_mode", pillow ? "half_pixel" : read.coordinates);
  if (nearest) SetString(node, "nearest_mode", read.nearest);
  if (cubic) SetFloat(node, "cubic_coeff_a", read.cube);
  if (pillow || read.antialias) {
    SetInt(node, "antialias", 1);
    SetInt(node, "exclude_outside", 1);
  }
  if (!read.axes.empty()) SetInts(node, "axes", read.axes);
}

}  // namespace ONNX_LIGHT_NAMESPACE
