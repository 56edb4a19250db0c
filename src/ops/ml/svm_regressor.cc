// SPDX-License-Identifier: Apache-2.0
// SVMRegressor: for each row the sum of the kernel with each support vector times its coefficient, plus rho; without
// support vectors the row times the coefficients. With one_class the result is 1 where that is above 0, -1 elsewhere.
// https://onnx.ai/onnx/operators/onnx_aionnxml_SVMRegressor.html
#include <fmt/format.h>

#include "ops/ml/svm.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Machine : OpState {
  SvmKernel kernel;
  SvmVectors vectors;  // none: linear
  std::vector<float> coefficients;
  double rho = 0;
  bool one_class = false;
  PostTransform transform;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto machine = std::make_unique<Machine>();
  machine->coefficients = attrs.Floats("coefficients");
  machine->transform = ReadPostTransform(attrs);
  machine->one_class = attrs.Int("one_class", 0) != 0;
  const std::vector<float> rho = attrs.Floats("rho");
  if (rho.size() != 1) FailAttribute("rho", fmt::format("has {} elements, expected 1", rho.size()));
  machine->rho = static_cast<double>(rho[0]);
  const int64_t supports = attrs.Int("n_supports", 0);
  if (supports < 0) FailAttribute("n_supports", fmt::format("is {}, must not be negative", supports));
  if (supports == 0) return machine;
  machine->kernel = SvmKernel(attrs);
  machine->vectors = ReadSvmVectors(attrs, supports);
  if (static_cast<int64_t>(machine->coefficients.size()) != supports)
    FailAttribute("coefficients",
                  fmt::format("has {} elements, 'n_supports' is {}", machine->coefficients.size(), supports));
  return machine;
}

void Run(RunContext& ctx) {
  const Machine& machine = ctx.state<Machine>();
  const MlRows rows = ReadRows(ctx, TensorType::kFloat);
  const bool linear = machine.vectors.count == 0;
  const int64_t features = linear ? static_cast<int64_t>(machine.coefficients.size()) : machine.vectors.features;
  if (rows.features != features)
    ctx.FailInput(0, fmt::format("must be rows of {}, got {}", features, ctx.tensor(0).TypeString()));
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, Shape{rows.count, 1});
  const std::span<float> out = y.MutableView<float>();
  for (int64_t r = 0; r < rows.count; ++r) {
    const std::span<const float> row(rows.x.View<float>().data() + r * features, static_cast<size_t>(features));
    double sum = machine.rho;
    if (linear) sum += machine.kernel(row, machine.coefficients);
    for (int64_t i = 0; i < machine.vectors.count; ++i)
      sum +=
          static_cast<double>(machine.coefficients[static_cast<size_t>(i)]) * machine.kernel(row, machine.vectors[i]);
    if (machine.one_class) sum = sum > 0 ? 1 : -1;
    Transform(machine.transform, std::span<double>(&sum, 1));
    out[static_cast<size_t>(r)] = static_cast<float>(sum);
  }
}

void ShapeRule(InferScope& scope) { scope.SetTensor(0, TensorType::kFloat, OptimShape{RowsDim(scope), OptimDim(1)}); }

}  // namespace

std::span<const OpDef> svm_regressor_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "SVMRegressor",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"coefficients", AttrKind::kFloats},
                      {"kernel_params", AttrKind::kFloats},
                      {"kernel_type", AttrKind::kString},
                      {"n_supports", AttrKind::kInt},
                      {"one_class", AttrKind::kInt},
                      {"post_transform", AttrKind::kString},
                      {"rho", AttrKind::kFloats},
                      {"support_vectors", AttrKind::kFloats}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
