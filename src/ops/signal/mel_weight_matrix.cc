// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: the weights [bins of a one-sided transform, mel bands] that gather a spectrum into triangular bands,
// whose corners are spaced evenly on the mel scale from the lower edge on, (upper - lower) / (bands + 2) apart as in
// the standard's reference. Computed in double. https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

double MelOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double HertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

double ReadEdge(const RunContext& ctx, int i) {
  const Tensor edge = AsType(ctx.tensor(i), TensorType::kDouble);
  if (edge.NumElements() != 1)
    ctx.FailInput(i, fmt::format("must have one element, got {}", ctx.tensor(i).TypeString()));
  const double hertz = edge.View<double>()[0];
  if (!(hertz >= 0)) ctx.FailInput(i, fmt::format("is {}, must not be negative", hertz));
  return hertz;
}

int64_t ReadAtLeast(const RunContext& ctx, int i, int64_t least) {
  const int64_t value = ReadInt(ctx, i);
  if (value < least) ctx.FailInput(i, fmt::format("is {}, must be {} or more", value, least));
  return value;
}

TensorType OutputType(const NodeAttributes& attrs) {
  const int64_t number = attrs.Int("output_datatype", 1);
  const TensorType type = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(number));
  if (!kNumericTypes.Has(type))
    FailAttribute("output_datatype", fmt::format("is {}, which is no type of numbers", number));
  return type;
}

void Run(RunContext& ctx) {
  const int64_t bands = ReadAtLeast(ctx, 0, 0), length = ReadAtLeast(ctx, 1, 0), rate = ReadAtLeast(ctx, 2, 1);
  const double lower = ReadEdge(ctx, 3), upper = ReadEdge(ctx, 4);
  if (upper < lower) ctx.FailInput(4, fmt::format("is {}, below the lower edge, {}", upper, lower));
  const double low = MelOf(lower), high = MelOf(upper);
  const int64_t bins = length / 2 + 1;
  Tensor y(TensorType::kDouble, Shape{bins, bands});
  double* const weights = y.MutableView<double>().data();
  std::fill_n(weights, y.NumElements(), 0.0);
  const double step = (high - low) / static_cast<double>(bands + 2);
  // The bin of a corner; triangles stand on three in a row.
  const auto corner = [&](int64_t i) {
    const double hertz = HertzOf(low + static_cast<double>(i) * step);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(bin < static_cast<double>(bins)))
      ctx.Fail(ctx.InputSubject(4), fmt::format("leads to bin {} of {}", bin, bins));
    return static_cast<int64_t>(bin);
  };
  for (int64_t band = 0; band < bands; ++band) {
    ctx.CheckCancelled();
    const int64_t left = corner(band), center = corner(band + 1), right = corner(band + 2);
    const auto part = [](int64_t of, int64_t in) { return static_cast<double>(of) / static_cast<double>(in); };
    for (int64_t j = left; j < center; ++j) weights[j * bands + band] = part(j - left, center - left);
    weights[center * bands + band] = 1;
    for (int64_t j = center + 1; j < right; ++j) weights[j * bands + band] = part(right - j, right - center);
  }
  ctx.SetOutput(0, AsType(y, OutputType(ctx.attrs())));
}

void ShapeRule(InferScope& scope) {
  const std::optional<OptimDim> bands = scope.Input(0).ScalarValue(), length = scope.Input(1).ScalarValue();
  for (int i = 0; i < 2; ++i) {
    const std::optional<OptimDim> value = scope.Input(i).ScalarValue();
    if (value && value->IsInt() && value->AsInt() < 0)
      scope.Fail(scope.InputSubject(i), fmt::format("is {}, must be 0 or more", value->AsInt()));
    if (value) scope.RequireSize(*value);
  }
  scope.SetTensor(0, OutputType(scope.attrs()),
                  OptimShape{length ? FloorDiv(*length, 2) + 1 : scope.Fresh(), bands ? *bands : scope.Fresh()});
}

}  // namespace

std::span<const OpDef> mel_weight_matrix_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MelWeightMatrix",
       .since_version = 17,
       .inputs = {{"num_mel_bins", kIndexTypes, "T1"},
                  {"dft_length", kIndexTypes, "T1"},
                  {"sample_rate", kIndexTypes, "T1"},
                  {"lower_edge_hertz", kFloatTypes, "T2"},
                  {"upper_edge_hertz", kFloatTypes, "T2"}},
       .outputs = {{"output", kNumericTypes}},
       .attributes = {{"output_datatype", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
