// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling, resizing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Strides, dilations and padding of `axes` axes.
struct Window {
  std::vector<int64_t> strides, dilations, begin, end;
  std::string auto_pad;
};

Window ReadWindow(IrNodeWriter& w, size_t axes) {
  Window window;
  window.strides = w.IntsOr("strides", axes, 1);
  window.dilations = w.IntsOr("dilations", axes, 1);
  const std::vector<int64_t> pads = w.IntsOr("pads", 2 * axes, 0);
  window.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  window.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  const std::string auto_pad = w.String("auto_pad", "NOTSET");
  window.auto_pad = auto_pad == "SAME_UPPER"   ? "same_upper"
                    : auto_pad == "SAME_LOWER" ? "same_lower"
                    : auto_pad == "VALID"      ? "valid"
                                               : "explicit";
  return window;
}

IrData DataOf(const Window& window) {
  return {{"strides", IrText(window.strides)},
          {"dilations", IrText(window.dilations)},
          {"pads_begin", IrText(window.begin)},
          {"pads_end", IrText(window.end)},
          {"auto_pad", window.auto_pad}};
}

// Weights with the groups as an axis of their own.
IrRef Grouped(IrNodeWriter& w, int64_t groups) {
  const IrType type = w.Type(1);
  if (type.dims[0] > 0 && type.dims[0] % groups != 0)
    w.RefuseAttribute("group", fmt::format("{} groups do not divide {}", groups, type.dims[0]));
  std::vector<int64_t> dims{groups, type.dims[0] < 0 ? -1 : type.dims[0] / groups};
  dims.insert(dims.end(), type.dims.begin() + 1, type.dims.end());
  if (const auto tensor = w.Constant(1)) return w.Const("weights", type.element, dims, tensor->raw_data());
  if (std::ranges::count(dims, -1) > 1) w.Refuse("input 1 'W'", "its dims must be known");
  return w.Reshaped(w.In(1), dims);
}

// `sizes` of the output, when it is them that are given.
void Convolve(IrNodeWriter& w, std::string_view name, IrData data, const std::vector<int64_t>& sizes = {}) {
  const int64_t rank = w.Rank(1), groups = w.Int("group", 1);
  if (groups < 1) w.RefuseAttribute("group", "must be 1 or more");
  w.Ignore("kernel_shape");  // as the weights have it
  const bool grouped = groups != 1;
  const std::string type = fmt::format("{}{}", grouped ? "Group" : "", name);
  std::vector<IrRef> inputs{w.In(0), grouped ? Grouped(w, groups) : w.In(1)};
  if (!sizes.empty()) inputs.push_back(w.Int64s("sizes", sizes));
  if (!w.Has(2)) return w.Finish(type, "opset1", std::move(inputs), std::move(data));
  const IrRef result = w.Step("convolution", type, "opset1", std::move(inputs), std::move(data), w.OutputType(0));
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[1] = -1;
  w.Finish("Add", "opset1", {result, w.Reshaped(w.In(2), shape)}, {{"auto_broadcast", "numpy"}});
}

size_t SpatialAxes(IrNodeWriter& w, int input) {
  const int rank = w.Rank(input);
  if (rank < 3) w.Refuse(fmt::format("input {}", input), fmt::format("must have rank 3 or more, has {}", rank));
  return static_cast<size_t>(rank) - 2;
}

// Over all spatial axes.
void ReduceSpatial(IrNodeWriter& w, std::string_view type) {
  std::vector<int64_t> axes(SpatialAxes(w, 0));
  std::iota(axes.begin(), axes.end(), int64_t{2});
  w.Finish(type, "opset1", {w.In(0), w.Int64s("axes", axes)}, {{"keep_dims", "true"}});
}

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [value](int64_t v) { return v == value; });
}

// Pads that make the output of a transposed convolution as large as the strides make its input, which IR says only
// beside an output shape.
void CutToStrides(IrNodeWriter& w, Window& window, const std::vector<int64_t>& output_padding) {
  const std::vector<int64_t> weights = w.Type(1).dims;
  for (size_t i = 0; i < window.strides.size(); ++i) {
    const int64_t kernel = weights[i + 2];
    if (kernel < 0) w.Refuse("input 1 'W'", "its dims must be known where auto_pad is SAME");
    const int64_t cut = (kernel - 1) * window.dilations[i] + 1 + output_padding[i] - window.strides[i];
    if (cut < 0) w.RefuseAttribute("auto_pad", fmt::format("stride {} is beyond the kernel", window.strides[i]));
    window.begin[i] = window.auto_pad == "same_upper" ? cut / 2 : cut - cut / 2;
    window.end[i] = cut - window.begin[i];
  }
  window.auto_pad = "explicit";
}

// Every size that constant scales give is whole before it is rounded.
bool ScalesGiveWholeSizes(IrNodeWriter& w, const std::vector<int64_t>& axes) {
  const auto scales = w.Constant(2);
  if (!scales || scales->data_type() != TensorProto::FLOAT) return false;
  const IrType x = w.Type(0);
  for (size_t i = 0; i < scales->raw_data().size() / sizeof(float); ++i) {
    float scale;
    std::memcpy(&scale, scales->raw_data().view().data() + i * sizeof(float), sizeof(float));
    const auto axis = static_cast<size_t>(i < axes.size() ? w.Axis(axes[i], x) : static_cast<int64_t>(i));
    const int64_t size = axis < x.dims.size() ? x.dims[axis] : -1;
    const float scaled = size < 0 ? scale : scale * static_cast<float>(size);
    if (scaled != std::floor(scaled)) return false;
  }
  return true;
}

}  // namespace

void WriteConv(IrNodeWriter& w) { Convolve(w, "Convolution", DataOf(ReadWindow(w, SpatialAxes(w, 1)))); }

void WriteConvTranspose(IrNodeWriter& w) {
  const size_t axes = SpatialAxes(w, 1);
  Window window = ReadWindow(w, axes);
  const std::vector<int64_t> padding = w.IntsOr("output_padding", axes, 0);
  std::vector<int64_t> sizes;
  if (w.Attribute("output_shape") != nullptr) {
    sizes = w.IntsOr("output_shape", axes, 0);
    // What is cut on both sides follows from the sizes; of an odd number IR has one more in front for "same_upper".
    window.auto_pad = window.auto_pad == "same_upper" ? "same_lower" : "same_upper";
  } else if (window.auto_pad.starts_with("same")) {
    CutToStrides(w, window, padding);
  }
  IrData data = DataOf(window);
  data.emplace_back("output_padding", IrText(padding));
  Convolve(w, "ConvolutionBackpropData", std::move(data), sizes);
}

// Windows that begin behind the data are none, which is "ceil_torch" in IR.
void WriteMaxPool(IrNodeWriter& w) {
  const std::vector<int64_t> kernel = w.Ints("kernel_shape");
  IrData data = DataOf(ReadWindow(w, kernel.size()));
  const bool up = w.Int("ceil_mode", 0) != 0, indices = w.Gives(1);
  if (w.Int("storage_order", 0) != 0 && indices) w.RefuseAttribute("storage_order", "indices count rows first");
  data.emplace_back("kernel", IrText(kernel));
  data.emplace_back("rounding_type", up ? "ceil_torch" : "floor");
  data.emplace_back("index_element_type", "i64");
  data.emplace_back("axis", "0");
  w.Finish("MaxPool", up ? "opset14" : "opset8", {w.In(0)}, data, 2);
}

void WriteAveragePool(IrNodeWriter& w) {
  const std::vector<int64_t> kernel = w.Ints("kernel_shape");
  const Window window = ReadWindow(w, kernel.size());
  const bool up = w.Int("ceil_mode", 0) != 0, padding_counts = w.Int("count_include_pad", 0) != 0;
  if (up && padding_counts) w.RefuseAttribute("ceil_mode", "with count_include_pad it is not what AvgPool does");
  IrData data = DataOf(window);
  const bool dilated = !AllAre(window.dilations, 1);
  if (!dilated) std::erase_if(data, [](const auto& entry) { return entry.first == "dilations"; });
  data.emplace_back("kernel", IrText(kernel));
  data.emplace_back("exclude-pad", IrText(!padding_counts));
  data.emplace_back("rounding_type", up ? "ceil_torch" : "floor");
  w.Finish("AvgPool", dilated ? "opset16" : up ? "opset14" : "opset1", {w.In(0)}, data);
}

void WriteGlobalAveragePool(IrNodeWriter& w) { ReduceSpatial(w, "ReduceMean"); }
void WriteGlobalMaxPool(IrNodeWriter& w) { ReduceSpatial(w, "ReduceMax"); }

void WriteResize(IrNodeWriter& w) {
  if (w.opset() < 11) w.Refuse("", fmt::format("Resize of operator set {} is not Interpolate", w.opset()));
  const std::string mode = w.String("mode", "nearest"),
                    coordinates = w.String("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = w.String("nearest_mode", "round_prefer_floor"),
                    policy = w.String("keep_aspect_ratio_policy", "stretch");
  if (coordinates != "half_pixel" && coordinates != "asymmetric" && coordinates != "align_corners" &&
      coordinates != "pytorch_half_pixel")
    w.RefuseAttribute("coordinate_transformation_mode", fmt::format("Interpolate has no \"{}\"", coordinates));
  if (policy != "stretch")
    w.RefuseAttribute("keep_aspect_ratio_policy", fmt::format("Interpolate has no \"{}\"", policy));
  const bool antialias = w.Int("antialias", 0) != 0, excludes = w.Int("exclude_outside", 0) != 0;
  // The modes named after pillow leave out what lies outside.
  if (antialias && (!excludes || mode == "nearest" || coordinates != "half_pixel"))
    w.RefuseAttribute("antialias", "Interpolate has it with half_pixel and exclude_outside alone");
  if (excludes && !antialias) w.RefuseAttribute("exclude_outside", "Interpolate does not");
  const std::string layer_mode = antialias          ? mode == "linear" ? "bilinear_pillow" : "bicubic_pillow"
                                 : mode == "linear" ? "linear_onnx"
                                                    : mode;
  w.Ignore("extrapolation_value");  // of crops
  w.MarkUsed(1);                    // the region, of crops too
  const auto is_empty = [&](int i) { return !w.Has(i) || (w.Type(i).rank() == 1 && w.Type(i).dims[0] == 0); };
  const bool sizes = !is_empty(3);
  if (!sizes && is_empty(2)) w.Refuse("", "neither scales nor sizes are given");
  w.MarkUsed(2);
  std::vector<IrRef> inputs{w.In(0), w.In(sizes ? 3 : 2)};
  if (w.Attribute("axes") != nullptr) inputs.push_back(w.Int64s("axes", w.Ints("axes")));
  const int64_t rank = w.Rank(0);
  if (coordinates == "align_corners" && !sizes && !ScalesGiveWholeSizes(w, w.Ints("axes")))
    w.RefuseAttribute("coordinate_transformation_mode",
                      "align_corners of scales is Interpolate only where the sizes they give are known to be whole");
  const std::vector<int64_t> none(static_cast<size_t>(rank), 0);
  w.Finish("Interpolate", "opset11", inputs,
           {{"mode", layer_mode},
            {"shape_calculation_mode", sizes ? "sizes" : "scales"},
            {"coordinate_transformation_mode", coordinates},
            {"nearest_mode", nearest},
            {"antialias", "false"},
            {"pads_begin", IrText(none)},
            {"pads_end", IrText(none)},
            {"cube_coeff", IrText(w.Float("cubic_coeff_a", -0.75F))}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
