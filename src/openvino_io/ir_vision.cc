// SPDX-License-Identifier: Apache-2.0
// Images read at given places.
#include <fmt/format.h>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

void LowerGridSample(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  const std::string mode = attrs.String("mode", "bilinear"), padding = attrs.String("padding_mode", "zeros");
  if (mode != "bilinear" && mode != "bicubic" && mode != "nearest")
    l.layer().Fail("attribute 'mode'",
                   fmt::format("must be bilinear, bicubic or nearest, got {}", QuoteForMessage(mode)));
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    l.layer().Fail("attribute 'padding_mode'",
                   fmt::format("must be zeros, border or reflection, got {}", QuoteForMessage(padding)));
  NodeProto& node = l.DirectNode("GridSample");
  SetInt(node, "align_corners", attrs.Bool("align_corners", false) ? 1 : 0);
  SetString(node, "mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  SetString(node, "padding_mode", padding);
  l.SameAs(0);
}

// The greatest of a bin is that of the samples here, in ONNX that of their weighted corners. Box and element lie half
// an element further in "half_pixel", the element alone in "half_pixel_for_nn".
void LowerRoiAlign(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  const std::string mode = attrs.String("mode", "avg"), aligned = attrs.String("aligned_mode", "asymmetric");
  if (mode != "avg" && mode != "max")
    l.layer().Fail("attribute 'mode'", fmt::format("must be avg or max, got {}", QuoteForMessage(mode)));
  if (mode == "max") l.Refuse("mode \"max\" has no ONNX operator");
  if (aligned != "asymmetric" && aligned != "half_pixel_for_nn" && aligned != "half_pixel")
    l.layer().Fail(
        "attribute 'aligned_mode'",
        fmt::format("must be asymmetric, half_pixel_for_nn or half_pixel, got {}", QuoteForMessage(aligned)));
  std::string boxes = l.Use(1);
  if (aligned == "half_pixel") boxes = l.Apply("Add", {boxes, l.ScalarConstant("half", l.KnownType(1), 0.5)});
  NodeProto& node = l.Finish("RoiAlign", {l.Use(0), boxes, l.Int64(2, true)});
  SetString(node, "coordinate_transformation_mode", aligned == "asymmetric" ? "output_half_pixel" : "half_pixel");
  SetInt(node, "output_height", attrs.Int("pooled_h"));
  SetInt(node, "output_width", attrs.Int("pooled_w"));
  SetInt(node, "sampling_ratio", attrs.Int("sampling_ratio"));
  SetFloat(node, "spatial_scale", attrs.Float("spatial_scale", 1));
  l.output(0).type = l.input(0).type;
  l.output(0).rank = 4;
}

}  // namespace ONNX_LIGHT_NAMESPACE
