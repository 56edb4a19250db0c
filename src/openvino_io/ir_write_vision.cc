// SPDX-License-Identifier: Apache-2.0
// Images read at given places, boxes, and columns put together to images.
#include <fmt/format.h>

#include <limits>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {

void WriteGridSample(IrNodeWriter& w) {
  if (w.Rank(0) != 4) w.Refuse("input 0 'X'", fmt::format("GridSample is for images, rank 4, it has {}", w.Rank(0)));
  const std::string mode = w.String("mode", "linear");
  w.Finish("GridSample", "opset9", {w.In(0), w.In(1)},
           {{"align_corners", IrText(w.Int("align_corners", 0) != 0)},
            {"mode", mode == "linear"  ? "bilinear"
                     : mode == "cubic" ? "bicubic"
                                       : mode},
            {"padding_mode", w.String("padding_mode", "zeros")}});
}

// The greatest of a bin is that of weighted corners, in IR of the samples.
void WriteRoiAlign(IrNodeWriter& w) {
  if (w.String("mode", "avg") != "avg") w.RefuseAttribute("mode", "the greatest of ROIAlign is another one");
  const std::string coordinates =
      w.String("coordinate_transformation_mode", w.opset() < 16 ? "output_half_pixel" : "half_pixel");
  w.Finish("ROIAlign", "opset9", {w.In(0), w.In(1), w.In(2)},
           {{"pooled_h", std::to_string(w.Int("output_height", 1))},
            {"pooled_w", std::to_string(w.Int("output_width", 1))},
            {"sampling_ratio", std::to_string(w.Int("sampling_ratio", 0))},
            {"spatial_scale", IrText(w.Float("spatial_scale", 1))},
            {"mode", "avg"},
            {"aligned_mode", coordinates == "half_pixel" ? "half_pixel_for_nn" : "asymmetric"}});
}

// Boxes of each batch and class by score, in this order. Without a threshold every score is above it.
void WriteNonMaxSuppression(IrNodeWriter& w) {
  const bool center = w.Int("center_point_box", 0) != 0;
  const auto number = [&](int i, TensorType type, double absent) {
    return w.Has(i) ? w.AsScalar(w.In(i)) : w.Scalar("absent", type, absent);
  };
  const IrRef most = number(2, TensorType::kInt64, 0), overlap = number(3, TensorType::kFloat, 0),
              threshold = number(4, TensorType::kFloat, -std::numeric_limits<double>::infinity());
  const IrType indices = w.OutputType(0), scores = IrType::Tensor(TensorType::kFloat, indices.dims);
  const auto found = w.Steps(
      "found", "NonMaxSuppression", "opset9", {w.In(0), w.In(1), most, overlap, threshold},
      {{"box_encoding", center ? "center" : "corner"}, {"sort_result_descending", "false"}, {"output_type", "i64"}},
      {indices, scores, IrType::Tensor(TensorType::kInt64, {1})});
  w.Alias(0, found[0]);
}

void WriteCol2Im(IrNodeWriter& w) {
  const IrType size = w.Type(1);
  if (size.rank() != 1 || size.dims[0] != 2)
    w.Refuse("input 1 'image_shape'", "must have 2 elements: Col2Im is for images");
  std::vector<int64_t> pads = w.IntsOr("pads", 4, 0);
  const std::vector<int64_t> strides = w.IntsOr("strides", 2, 1), dilations = w.IntsOr("dilations", 2, 1);
  const std::vector<int64_t> end(pads.begin() + 2, pads.end());
  pads.resize(2);
  w.Finish("Col2Im", "opset15", {w.In(0), w.In(1), w.In(2)},
           {{"strides", IrText(strides)},
            {"dilations", IrText(dilations)},
            {"pads_begin", IrText(pads)},
            {"pads_end", IrText(end)}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
