// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string AutoPad(const IrLowering& l) {
  const std::string text = l.attrs().String("auto_pad", "explicit");
  if (text == "explicit" || text == "notset" || text == "EXPLICIT") return "NOTSET";
  if (text == "same_upper" || text == "SAME_UPPER") return "SAME_UPPER";
  if (text == "same_lower" || text == "SAME_LOWER") return "SAME_LOWER";
  if (text == "valid" || text == "VALID") return "VALID";
  l.layer().Fail("attribute 'auto_pad'",
                 fmt::format("must be explicit, same_upper, same_lower or valid, got {}", QuoteForMessage(text)));
}

std::vector<int64_t> Pads(const IrLowering& l) {
  std::vector<int64_t> pads = l.attrs().Ints("pads_begin");
  const std::vector<int64_t> end = l.attrs().Ints("pads_end");
  pads.insert(pads.end(), end.begin(), end.end());
  return pads;
}

// Strides, dilations and padding, which mean the same in both.
void SetWindow(IrLowering& l, NodeProto& node, const std::string& auto_pad) {
  if (auto_pad != "NOTSET") {
    SetString(node, "auto_pad", auto_pad);
  } else if (const auto pads = Pads(l); !pads.empty()) {
    SetInts(node, "pads", pads);
  }
  if (const auto strides = l.attrs().Ints("strides"); !strides.empty()) SetInts(node, "strides", strides);
  if (const auto dilations = l.attrs().Ints("dilations"); !dilations.empty()) SetInts(node, "dilations", dilations);
}

bool IsGrouped(const IrLowering& l) { return l.layer().type.starts_with("Group"); }

// Weights that have the groups as an axis of their own, which ONNX joins with the next one.
std::string JoinGroups(IrLowering& l, int64_t& groups) {
  const std::vector<int64_t> dims = l.DimsOf(1);
  if (dims.size() < 4 || std::find(dims.begin(), dims.end(), -1) != dims.end())
    l.Refuse("the dims of the weights must be known, at least 4 of them");
  groups = dims[0];
  std::vector<int64_t> joined(dims.begin() + 1, dims.end());
  joined.front() = -1;
  return l.Apply("Reshape", {l.Use(1), l.Int64Constant("shape", joined)});
}

void Convolve(IrLowering& l, std::string_view op_type, const std::string& auto_pad,
              const std::vector<int64_t>& output_padding) {
  int64_t groups = 1;
  const std::string weights = IsGrouped(l) ? JoinGroups(l, groups) : l.Use(1);
  NodeProto& node = l.Finish(op_type, {l.Use(0), weights});
  SetWindow(l, node, auto_pad);
  if (groups != 1) SetInt(node, "group", groups);
  if (!output_padding.empty()) SetInts(node, "output_padding", output_padding);
  l.SameAs(0);
}

// The spatial sizes of the output are given. Explicit pads say where it begins: it is cut, or filled with zeros,
// behind. Else the pads follow from the sizes: of an odd number "same_upper" has one more in front, which ONNX calls
// the lower.
void ConvolveBackTo(IrLowering& l) {
  const auto sizes = l.ConstantInts(2);
  if (!sizes) l.Refuse("input 2 'output_shape' must be constant integers");
  int64_t groups = 1;
  const std::string weights = IsGrouped(l) ? JoinGroups(l, groups) : l.Use(1), auto_pad = AutoPad(l);
  const bool is_explicit = !auto_pad.starts_with("SAME");
  const std::string full = is_explicit ? l.Temporary("full") : l.output(0).name;
  NodeProto& node = l.Node("ConvTranspose", {l.Use(0), weights}, {full});
  for (const char* name : {"strides", "dilations"})
    if (const auto values = l.attrs().Ints(name); !values.empty()) SetInts(node, name, values);
  if (groups != 1) SetInt(node, "group", groups);
  if (is_explicit) {
    std::vector<int64_t> pads = l.attrs().Ints("pads_begin");
    if (auto_pad == "VALID") pads.clear();
    pads.resize(sizes->size(), 0);
    pads.resize(2 * sizes->size(), 0);
    SetInts(node, "pads", pads);
    const std::string size = l.Temporary("size"),
                      first = l.Int64Constant("first", std::vector<int64_t>(sizes->size(), 0));
    SetInt(l.Node("Shape", {full}, {size}), "start", 2);
    const std::string missing = l.Apply("Sub", {l.Int64Constant("sizes", *sizes), size});
    std::vector<int64_t> axes;
    for (size_t i = 0; i < sizes->size(); ++i) axes.push_back(static_cast<int64_t>(i) + 2);
    l.Finish("Pad", {full, l.Along("Concat", {first, missing}, 0), "", l.Int64Constant("axes", axes)});
  } else {
    SetString(node, "auto_pad", auto_pad == "SAME_UPPER" ? "SAME_LOWER" : "SAME_UPPER");
    SetInts(node, "output_shape", *sizes);
    if (const auto values = l.attrs().Ints("output_padding"); !values.empty()) SetInts(node, "output_padding", values);
  }
  l.SameAs(0);
}

// The windows of a pool: kernel and rounding. A window that begins behind the data is none in ONNX; of those of
// "ceil" it must be certain that there is none such.
void SetPool(IrLowering& l, NodeProto& node) {
  const IrAttributes attrs = l.attrs();
  const std::vector<int64_t> kernel = attrs.Ints("kernel");
  const std::string rounding = attrs.String("rounding_type", "floor");
  if (rounding != "floor" && rounding != "ceil" && rounding != "ceil_torch")
    l.layer().Fail("attribute 'rounding_type'",
                   fmt::format("must be floor, ceil or ceil_torch, got {}", QuoteForMessage(rounding)));
  if (rounding == "ceil" && AutoPad(l) == "NOTSET") {
    const std::vector<int64_t> end = attrs.Ints("pads_end"), strides = attrs.Ints("strides"),
                               dilations = attrs.Ints("dilations");
    for (size_t i = 0; i < kernel.size(); ++i) {
      const auto number = [i](const std::vector<int64_t>& values, int64_t absent) {
        return static_cast<double>(i < values.size() ? values[i] : absent);
      };
      const double reach = (number(kernel, 1) - 1) * number(dilations, 1) + 1;
      if (number(end, 0) + number(strides, 1) > reach)
        l.Refuse("rounding_type \"ceil\" where a window may begin behind the data has no ONNX operator");
    }
  }
  SetInts(node, "kernel_shape", kernel);
  SetWindow(l, node, AutoPad(l));
  if (rounding != "floor" && !AutoPad(l).starts_with("SAME")) SetInt(node, "ceil_mode", 1);
}

}  // namespace

void LowerConvolution(IrLowering& l) { Convolve(l, "Conv", AutoPad(l), {}); }

// Without an output shape "same_upper" and "same_lower" cut nothing.
void LowerConvolutionBackprop(IrLowering& l) {
  if (l.input_size() > 2) return ConvolveBackTo(l);
  const std::string auto_pad = AutoPad(l);
  Convolve(l, "ConvTranspose", auto_pad.starts_with("SAME") ? "VALID" : auto_pad, l.attrs().Ints("output_padding"));
}

void LowerAvgPool(IrLowering& l) {
  const bool exclude = l.attrs().Bool("exclude-pad", false);
  const std::vector<int64_t> pads = Pads(l);
  const bool padded = AutoPad(l) != "NOTSET" || std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
  // Of same pads the rounding says nothing.
  if (!exclude && l.attrs().String("rounding_type", "floor") != "floor" && !AutoPad(l).starts_with("SAME"))
    l.Refuse("rounding up with exclude-pad \"false\" has no ONNX operator");
  NodeProto& node = l.DirectNode("AveragePool");
  SetPool(l, node);
  if (!exclude && padded) SetInt(node, "count_include_pad", 1);
  l.SameAs(0);
}

// From opset8 on it gives the indices too, counted from `axis` on.
// Indices count from the axis on, in ONNX over all axes: what is left over the elements from there on.
void LowerMaxPool(IrLowering& l) {
  if (l.layer().outputs.size() > 2)
    l.layer().Fail("", fmt::format("must have 1 or 2 outputs, got {}", l.layer().outputs.size()));
  const std::string x = l.Use(0);
  std::vector<std::string> outputs{l.output(0).name};
  if (l.layer().outputs.size() == 1) {
    SetPool(l, l.Node("MaxPool", {x}, outputs));
    return l.SameAs(0);
  }
  const int64_t axis = l.attrs().Int("axis", 0);
  const std::string indices = l.IndicesName(1, "index_element_type", TensorType::kInt64);
  outputs.push_back(axis == 0 ? indices : l.Temporary("place"));
  SetPool(l, l.Node("MaxPool", {x}, outputs));
  if (axis != 0) {
    constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
    const std::string dims =
        l.Apply("Slice", {l.Apply("Shape", {x}), l.Int64Constant("from", {axis}), l.Int64Constant("to", {kEnd})});
    const std::string count = l.Apply("ReduceProd", {dims});
    l.Node("Mod", {outputs[1], count}, {indices});
  }
  l.FinishIndices(indices, 1);
  l.output(1).rank = l.input(0).rank;
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
