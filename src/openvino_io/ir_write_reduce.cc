// SPDX-License-Identifier: Apache-2.0
// Products of matrices, reductions, and the normalizations made of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "openvino_io/ir_layer_functions.h"
#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

const IrData kNumpy{{"auto_broadcast", "numpy"}};

std::vector<int64_t> AxesFrom(int64_t first, int64_t end) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// What MVN gives, times a scale, plus a shift, which are broadcast.
void FinishScaled(IrNodeWriter& w, const IrRef& normalized, const IrRef& scale, const std::optional<IrRef>& shift) {
  if (!shift) return w.Finish("Multiply", "opset1", {normalized, scale}, kNumpy);
  w.Finish("Add", "opset1", {w.Binary("Multiply", normalized, scale, *normalized.type), *shift}, kNumpy);
}

IrRef Mvn(IrNodeWriter& w, const IrRef& x, const std::vector<int64_t>& axes, float epsilon) {
  return w.Step("mvn", "MVN", "opset6", {x, w.Int64s("axes", axes)},
                {{"normalize_variance", "true"}, {"eps", IrText(epsilon)}, {"eps_mode", "inside_sqrt"}}, *x.type);
}

// What a reduction of x that keeps its axes gives.
IrType Kept(const IrRef& x) {
  return {.element = x.type->element, .ranked = x.type->ranked, .dims = std::vector<int64_t>(x.type->dims.size(), -1)};
}

// The root of the mean of squares along axes, epsilon added to it before.
IrRef RootOfMeanSquare(IrNodeWriter& w, const IrRef& x, const std::vector<int64_t>& axes) {
  const IrType kept = Kept(x);
  const IrRef square = w.Binary("Multiply", x, x, *x.type);
  const IrRef mean =
      w.Step("mean_square", "ReduceMean", "opset1", {square, w.Int64s("axes", axes)}, {{"keep_dims", "true"}}, kept);
  const IrRef epsilon = w.Scalar("epsilon", x.type->element, static_cast<double>(w.Float("epsilon", 1e-5F)));
  return w.Step("root", "Sqrt", "opset1", {w.Binary("Add", mean, epsilon, kept)}, {}, kept);
}

// A vector with one element for each channel, to be broadcast over [N,C,...].
IrRef PerChannel(IrNodeWriter& w, int i, int64_t rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank - 1), 1);
  shape.front() = -1;
  return w.Reshaped(w.In(i), shape);
}

// The axes of a reduction; nothing when it reduces none.
std::optional<IrRef> ReductionAxes(IrNodeWriter& w) {
  const bool none = w.Int("noop_with_empty_axes", 0) != 0;
  if (w.HasList(1, "axes")) {
    const auto axes = w.ListInts(1, "axes");
    const IrType type = axes ? IrType::Tensor(TensorType::kInt64, {static_cast<int64_t>(axes->size())}) : w.Type(1);
    if (type.rank() != 1 || type.dims[0] < 0)
      w.Refuse("input 1 'axes'", "their number must be known: none may mean all");
    if (type.dims[0] > 0) return w.List(1, "axes");
    w.MarkUsed(1);
  }
  if (none) return std::nullopt;
  return w.Int64s("axes", AxesFrom(0, w.Rank(0)));
}

}  // namespace

void WriteReduce(IrNodeWriter& w) {
  std::string_view type = w.node().op_type();
  const bool logical = w.Element(0) == TensorType::kBool;
  if (logical) type = type == "ReduceMax" ? "ReduceLogicalOr" : "ReduceLogicalAnd";
  const IrLayerDef* def = FindIrLayer(type);
  const std::optional<IrRef> axes = ReductionAxes(w);
  const bool keep = w.Int("keepdims", 1) != 0;
  if (!axes && (type == "ReduceL1" || type == "ReduceL2")) return w.Finish("Abs", "opset1", {w.In(0)});
  if (!axes) return w.Alias(0, w.In(0));
  w.Finish(type, fmt::format("opset{}", def->since), {w.In(0), *axes}, {{"keep_dims", IrText(keep)}});
}

// Without axes they square or take the logarithm all the same.
void WriteReduceSumSquare(IrNodeWriter& w) {
  const IrRef x = w.In(0), square = w.Binary("Multiply", x, x, *x.type);
  const std::optional<IrRef> axes = ReductionAxes(w);
  const bool keep = w.Int("keepdims", 1) != 0;
  if (!axes) return w.Alias(0, square);
  w.Finish("ReduceSum", "opset1", {square, *axes}, {{"keep_dims", IrText(keep)}});
}
void WriteReduceLogSum(IrNodeWriter& w) {
  if (!onnx_optim::IsFloatTensorType(w.Element(0)))
    w.Refuse("input 0 'data'", fmt::format("Log is for floats, it is {}", onnx_optim::ToTypeString(w.Element(0))));
  const std::optional<IrRef> axes = ReductionAxes(w);
  const bool keep = w.Int("keepdims", 1) != 0;
  if (!axes) return w.Finish("Log", "opset1", {w.In(0)});
  const IrRef sum =
      w.Step("sum", "ReduceSum", "opset1", {w.In(0), *axes}, {{"keep_dims", IrText(keep)}}, w.OutputType(0));
  w.Finish("Log", "opset1", {sum});
}

// log sum e^x = m + log sum e^(x - m), m the greatest: no sum is too large. Where m is no finite number, 0 serves.
void WriteReduceLogSumExp(IrNodeWriter& w) {
  if (!onnx_optim::IsFloatTensorType(w.Element(0)))
    w.Refuse("input 0 'data'", fmt::format("Log is for floats, it is {}", onnx_optim::ToTypeString(w.Element(0))));
  const std::optional<IrRef> axes = ReductionAxes(w);
  const bool keep = w.Int("keepdims", 1) != 0;
  const IrRef x = w.In(0);
  if (!axes) return w.Alias(0, x);
  const IrType kept = Kept(x);
  const IrData keeps{{"keep_dims", "true"}};
  const IrRef greatest = w.Step("greatest", "ReduceMax", "opset1", {x, *axes}, keeps, kept);
  IrType flags = kept;
  flags.element = TensorType::kBool;
  const IrRef finite = w.Step("finite", "IsFinite", "opset10", {greatest}, {}, flags);
  const IrRef shift =
      w.Step("shift", "Select", "opset1", {finite, greatest, w.Scalar("zero", w.Element(0), 0)}, kNumpy, kept);
  const IrRef power = w.Step("power", "Exp", "opset1", {w.Binary("Subtract", x, shift, *x.type)}, {}, *x.type);
  const IrRef sum = w.Step("sum", "ReduceSum", "opset1", {power, *axes}, keeps, kept);
  const IrRef log = w.Step("log", "Log", "opset1", {sum}, {}, kept);
  if (keep) return w.Finish("Add", "opset1", {log, shift}, kNumpy);
  w.Finish("Squeeze", "opset1", {w.Binary("Add", log, shift, kept), *axes});
}

void WriteMatMul(IrNodeWriter& w) {
  w.Finish("MatMul", "opset1", {w.In(0), w.In(1)}, {{"transpose_a", "false"}, {"transpose_b", "false"}});
}

void WriteGemm(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  const auto factor_of = [&](const char* name) {
    const float factor = w.Float(name, 1);
    if (!onnx_optim::IsFloatTensorType(type) && factor != std::trunc(factor))
      w.RefuseAttribute(name, fmt::format("{} is no {}", factor, onnx_optim::TensorTypeName(type)));
    return factor;
  };
  const float alpha = factor_of("alpha"), beta = factor_of("beta");
  const bool adds = w.Has(2) && beta != 0;  // 0 times NaN would be NaN
  if (!adds) w.MarkUsed(2);
  const IrData data{{"transpose_a", IrText(w.Int("transA", 0) != 0)}, {"transpose_b", IrText(w.Int("transB", 0) != 0)}};
  if (alpha == 1 && !adds) return w.Finish("MatMul", "opset1", {w.In(0), w.In(1)}, data);
  const IrType result = w.OutputType(0);
  const IrRef product = w.Step("product", "MatMul", "opset1", {w.In(0), w.In(1)}, data, result);
  const auto times = [&](const IrRef& value, const char* hint, float factor) {
    return factor == 1 ? value
                       : w.Binary("Multiply", value, w.Scalar(hint, type, static_cast<double>(factor)), *value.type);
  };
  if (!adds)
    return w.Finish("Multiply", "opset1", {product, w.Scalar("alpha", type, static_cast<double>(alpha))}, kNumpy);
  w.Finish("Add", "opset1", {times(product, "alpha", alpha), times(w.In(2), "beta", beta)}, kNumpy);
}

void WriteEinsum(IrNodeWriter& w) {
  std::string equation = w.String("equation", "");
  std::erase(equation, ' ');
  std::vector<IrRef> inputs;
  for (int i = 0; i < w.input_size(); ++i) inputs.push_back(w.In(i));
  w.Finish("Einsum", "opset7", inputs, {{"equation", equation}});
}

namespace {

// The further outputs of LayerNormalization: the mean and one over the root of the variance.
void WriteMoments(IrNodeWriter& w, const std::vector<int64_t>& axes) {
  const IrData keeps{{"keep_dims", "true"}};
  const TensorType type = w.OutputType(w.Gives(1) ? 1 : 2).element;
  const IrRef x = w.Converted(w.In(0), type), along = w.Int64s("axes", axes);
  if (w.Gives(1)) w.FinishOutput(1, "ReduceMean", "opset1", {x, along}, keeps);
  if (!w.Gives(2)) return;
  const IrRef mean = w.Step("mean", "ReduceMean", "opset1", {x, along}, keeps, Kept(x));
  const IrRef centered = w.Binary("Subtract", x, mean, *x.type);
  w.FinishOutput(2, "Divide", "opset1", {w.Scalar("one", type, 1), RootOfMeanSquare(w, centered, axes)}, kNumpy);
}

}  // namespace

void WriteLayerNormalization(IrNodeWriter& w) {
  const int64_t axis = w.Int("axis", -1);
  w.Ignore("stash_type");  // how precise the sums are
  const IrRef x = w.In(0);
  const std::vector<int64_t> axes = axis < 0 ? AxesFrom(axis, 0) : AxesFrom(axis, w.Rank(0));
  const IrRef normalized = Mvn(w, x, axes, w.Float("epsilon", 1e-5F));
  const IrRef scale = w.In(1);
  FinishScaled(w, normalized, scale, w.Has(2) ? std::optional(w.In(2)) : std::nullopt);
  if (w.Gives(1) || w.Gives(2)) WriteMoments(w, axes);
}

// x over the root of the mean of squares, in float where x is narrower.
void WriteRmsNormalization(IrNodeWriter& w) {
  w.Ignore("stash_type");
  const int64_t axis = w.Int("axis", -1);
  const std::vector<int64_t> axes = axis < 0 ? AxesFrom(axis, 0) : AxesFrom(axis, w.Rank(0));
  const TensorType type = w.Element(0), wide = type == TensorType::kDouble ? type : TensorType::kFloat;
  const IrRef x = w.Converted(w.In(0), wide), root = RootOfMeanSquare(w, x, axes);
  const IrRef normalized = w.Converted(w.Binary("Divide", x, root, *x.type), w.OutputType(0).element);
  w.Finish("Multiply", "opset1", {normalized, w.In(1)}, kNumpy);
}

void WriteInstanceNormalization(IrNodeWriter& w) {
  const int64_t rank = w.Rank(0);
  if (rank < 3) w.Refuse("input 0 'input'", "must have rank 3 or more");
  const IrRef normalized = Mvn(w, w.In(0), AxesFrom(2, rank), w.Float("epsilon", 1e-5F));
  const IrRef scale = PerChannel(w, 1, rank);
  FinishScaled(w, normalized, scale, PerChannel(w, 2, rank));
}

void WriteGroupNormalization(IrNodeWriter& w) {
  w.Ignore("stash_type");
  w.Finish("GroupNormalization", "opset12", {w.In(0), w.In(1), w.In(2)},
           {{"num_groups", std::to_string(w.Int("num_groups", 1))}, {"epsilon", IrText(w.Float("epsilon", 1e-5F))}});
}

void WriteBatchNormalization(IrNodeWriter& w) {
  w.Ignore("momentum");  // of training
  w.Ignore("consumed_inputs");
  if (w.Int("training_mode", 0) != 0) w.RefuseAttribute("training_mode", "must be 0");
  if (w.Int("spatial", 1) != 1) w.RefuseAttribute("spatial", "must be 1");
  if (w.opset() < 7 && w.Int("is_test", 0) != 1) w.RefuseAttribute("is_test", "must be 1");
  w.Finish("BatchNormInference", "opset5", {w.In(0), w.In(1), w.In(2), w.In(3), w.In(4)},
           {{"epsilon", IrText(w.Float("epsilon", 1e-5F))}});
}

void WriteLrn(IrNodeWriter& w) {
  const int64_t size = w.Int("size", 1);
  if (size % 2 == 0) w.RefuseAttribute("size", "must be odd: the windows of even ones are others in IR");
  w.Finish("LRN", "opset1", {w.In(0), w.Int64s("axes", {1})},
           {{"alpha", IrText(w.Float("alpha", 1e-4F))},
            {"beta", IrText(w.Float("beta", 0.75F))},
            {"bias", IrText(w.Float("bias", 1))},
            {"size", std::to_string(size)}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
