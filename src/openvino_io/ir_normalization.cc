// SPDX-License-Identifier: Apache-2.0
// Reductions, and the normalizations made of them.
#include <fmt/format.h>

#include <numeric>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Reduces over `axes`, keeping them; no axes leave the value as it is.
std::string ReduceKept(IrLowering& l, std::string_view op_type, const std::string& value, const std::string& axes) {
  std::string output = l.Temporary("reduced");
  SetInt(l.Node(op_type, {value, axes}, {output}), "noop_with_empty_axes", 1);
  return output;
}

// MVN of opset1 names no axes, or has them as an attribute.
std::string MvnAxes(IrLowering& l) {
  if (l.input_size() > 1) return l.Int64(1, true);
  std::vector<int64_t> axes = l.attrs().Ints("reduction_axes");
  if (axes.empty()) {
    const int rank = l.KnownRank(0, "to know what is normalized");
    const int first = l.attrs().Bool("across_channels", false) ? 1 : 2;
    for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  }
  return l.Int64Constant("axes", axes);
}

}  // namespace

void LowerReduce(IrLowering& l) {
  const auto axes = l.ConstantInts(1);
  const bool keep = l.attrs().Bool("keep_dims", false);
  NodeProto& node = l.Finish(FindIrLayer(l.layer().type)->onnx, {l.Use(0), l.Int64(1, true)});
  SetInt(node, "keepdims", keep ? 1 : 0);
  if (!axes || axes->empty()) SetInt(node, "noop_with_empty_axes", 1);
  l.output(0).type = l.input(0).type;
  if (keep) {
    l.output(0).rank = l.input(0).rank;
  } else if (axes && l.input(0).rank >= 0) {
    l.output(0).rank = l.input(0).rank - static_cast<int>(axes->size());
  }
}

void LowerMvn(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const std::string mode = l.attrs().String("eps_mode", "inside_sqrt");
  const bool inside = mode == "inside_sqrt" || mode == "INSIDE_SQRT";
  if (!inside && mode != "outside_sqrt" && mode != "OUTSIDE_SQRT")
    l.layer().Fail("attribute 'eps_mode'",
                   fmt::format("must be inside_sqrt or outside_sqrt, got {}", QuoteForMessage(mode)));
  const std::string x = l.Use(0), axes = MvnAxes(l);
  const std::string mean = ReduceKept(l, "ReduceMean", x, axes);
  if (!l.attrs().Bool("normalize_variance", true)) {
    l.Finish("Sub", {x, mean});
  } else {
    const std::string centered = l.Apply("Sub", {x, mean});
    const std::string variance = ReduceKept(l, "ReduceMean", l.Apply("Mul", {centered, centered}), axes);
    const std::string eps = l.ScalarConstant("eps", type, static_cast<double>(l.attrs().Float("eps", 1e-6F)));
    const std::string scale = inside ? l.Apply("Sqrt", {l.Apply("Add", {variance, eps})})
                                     : l.Apply("Add", {l.Apply("Sqrt", {variance}), eps});
    l.Finish("Div", {centered, scale});
  }
  l.SameAs(0);
}

void LowerNormalizeL2(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const std::string mode = l.attrs().String("eps_mode", "add");
  if (mode != "add" && mode != "max")
    l.layer().Fail("attribute 'eps_mode'", fmt::format("must be add or max, got {}", QuoteForMessage(mode)));
  const std::string x = l.Use(0), axes = l.Int64(1, true);
  const std::string sum = ReduceKept(l, "ReduceSum", l.Apply("Mul", {x, x}), axes);
  const std::string eps = l.ScalarConstant("eps", type, static_cast<double>(l.attrs().Float("eps", 0)));
  l.Finish("Div", {x, l.Apply("Sqrt", {l.Apply(mode == "add" ? "Add" : "Max", {sum, eps})})});
  l.SameAs(0);
}

// x / sqrt(sum of its squares over axis 1 + bias)
void LowerGrn(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const std::string x = l.Use(0), axes = l.Int64Constant("axes", {1});
  const std::string sum = ReduceKept(l, "ReduceSum", l.Apply("Mul", {x, x}), axes);
  const std::string bias = l.ScalarConstant("bias", type, static_cast<double>(l.attrs().Float("bias", 1e-6F)));
  l.Finish("Div", {x, l.Apply("Sqrt", {l.Apply("Add", {sum, bias})})});
  l.SameAs(0);
}

// Before opset5 the data stood behind gamma and beta.
void LowerBatchNorm(IrLowering& l) {
  const bool old = l.layer().opset < 5;
  const int data = old ? 2 : 0;
  NodeProto& node =
      l.Finish("BatchNormalization", {l.Use(data), l.Use(old ? 0 : 1), l.Use(old ? 1 : 2), l.Use(3), l.Use(4)});
  SetFloat(node, "epsilon", l.attrs().Float(l.attrs().Has("eps") ? "eps" : "epsilon", 0));
  l.SameAs(data);
}

void LowerGroupNormalization(IrLowering& l) {
  NodeProto& node = l.DirectNode("GroupNormalization");
  SetInt(node, "num_groups", l.attrs().Int("num_groups"));
  SetFloat(node, "epsilon", l.attrs().Float("epsilon", 0));
  l.SameAs(0);
}

void LowerLrn(IrLowering& l) {
  const auto axes = l.ConstantInts(1);
  if (!axes || axes->size() != 1 || axes->front() != 1)
    l.Refuse("axes other than the constant 1 have no ONNX operator");
  const int64_t size = l.attrs().Int("size");
  if (size % 2 == 0) l.Refuse(fmt::format("size {} is even: its windows are not those of ONNX", size));
  NodeProto& node = l.Finish("LRN", {l.Use(0)});
  SetFloat(node, "alpha", l.attrs().Float("alpha", 0));
  SetFloat(node, "beta", l.attrs().Float("beta", 0));
  SetFloat(node, "bias", l.attrs().Float("bias", 0));
  SetInt(node, "size", size);
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
