// SPDX-License-Identifier: Apache-2.0
// QGemm: alpha op(A) op(B) + C of quantised matrices, where C counts in steps of alpha a_scale b_scale; as floats, or
// quantised by y_scale and y_zero_point. B has one scale and zero point, or one for each column.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QGemm
#include <fmt/format.h>

#include <algorithm>

#include "kernels/strided/transpose.h"
#include "ops/math/elementwise_op.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kQGemmResults = kByteTypes | kFloat32;

struct Turns {
  bool a, b;
};
Turns TurnsOf(const NodeAttributes& attrs) { return {attrs.Int("transA", 0) != 0, attrs.Int("transB", 0) != 0}; }

Tensor Turned(const Tensor& matrix) {
  Tensor turned(matrix.dtype(), Shape{matrix.dim(1), matrix.dim(0)});
  kernels::TransposeInto(static_cast<const uint8_t*>(matrix.data()), matrix.dim(1),
                         static_cast<uint8_t*>(turned.mutable_data()), matrix.dim(0), matrix.dim(0), matrix.dim(1));
  return turned;
}

// What is added to row i of [m,n].
std::vector<int32_t> AddedRow(const Tensor& c, int64_t i, int64_t n) {
  const bool by_row = c.rank() == 2 && c.dim(0) != 1, by_column = c.rank() >= 1 && c.dim(c.rank() - 1) != 1;
  const int32_t* const from = c.View<int32_t>().data() + (by_row ? i * c.dim(1) : 0);
  return by_column ? std::vector<int32_t>(from, from + n) : std::vector<int32_t>(static_cast<size_t>(n), from[0]);
}

void Run(RunContext& ctx) {
  const Turns turns = TurnsOf(ctx.attrs());
  for (const int i : {0, 3})
    if (ctx.tensor(i).rank() != 2)
      ctx.FailInput(i, fmt::format("must be a matrix, got {}", ctx.tensor(i).TypeString()));
  for (const int i : {1, 2, 7, 8}) CheckOneElement(ctx, i);
  const PlannedProduct plan =
      PlanProduct(ctx, {0, ctx.tensor(0).shape(), turns.a}, {3, ctx.tensor(3).shape(), turns.b});
  const int64_t m = plan.product.m, n = plan.product.n;
  const Tensor a = turns.a ? Turned(ctx.tensor(0)) : ctx.tensor(0), c = ctx.HasInput(6) ? ctx.tensor(6) : Tensor();
  if (c.defined()) CheckAddend(ctx, 6, m, n);
  static_cast<void>(Granularity(ctx, 4, Shape{plan.product.k, n}, false));
  const bool floats = !ctx.HasInput(7);
  const TensorType type = floats ? TensorType::kFloat : ctx.tensor(ctx.HasInput(8) ? 8 : 0).dtype();
  const kernels::ByteScale to = floats ? kernels::ByteScale() : ReadByteScale(ctx, 7, 8, type);
  const std::vector<float> factors =
      LineScales(ctx.tensor(4).View<float>(), n,
                 ctx.tensor(1).View<float>()[0] * ctx.attrs().Float("alpha", 1) / (floats ? 1 : to.scale));
  Tensor& y = ctx.AllocateOutput(0, type, plan.shape);
  auto* const bytes = static_cast<uint8_t*>(y.mutable_data());
  // What is the same for each row is added with what zero points ask for.
  const bool c_by_row = c.defined() && c.rank() == 2 && c.dim(0) != 1;
  std::vector<int32_t> added;
  if (c.defined() && !c_by_row) added = AddedRow(c, 0, n);
  IntegerProduct(ctx, plan, a, 2, 3, 5, added, [&](const ByteSums& s) {
    std::vector<int32_t> row;
    for (int64_t i = 0; i < s.rows; ++i) {
      const int32_t* sums = s.sums + i * s.step;
      const int32_t* rest = s.added;
      if (c_by_row || floats) {
        row = c_by_row ? AddedRow(c, s.row + i, n) : std::vector<int32_t>(static_cast<size_t>(n));
        row.erase(row.begin(), row.begin() + s.column);
        for (int64_t j = 0; j < s.columns; ++j) {
          int32_t& sum = row[static_cast<size_t>(j)];
          sum = WrapAdd(WrapAdd(sums[j], sum), rest != nullptr ? rest[j] : 0);
        }
        sums = row.data();
        rest = nullptr;
      }
      const float* const steps = factors.data() + s.column;
      const int64_t at = (s.row + i) * n + s.column;
      if (!floats)
        kernels::ActiveByteRowKernels().requantize(sums, rest, steps, 1, s.columns, to, bytes + at);
      else
        for (int64_t j = 0; j < s.columns; ++j)
          y.MutableView<float>()[static_cast<size_t>(at + j)] = static_cast<float>(sums[j]) * steps[j];
    }
  });
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  return PackConstantBytes(ctx, 3, TurnsOf(ctx.attrs()).b);
}

void ShapeRule(InferScope& scope) {
  const TensorType type = !scope.HasInput(7)  ? TensorType::kFloat
                          : scope.HasInput(8) ? scope.InputType(8)
                                              : scope.InputType(0);
  scope.SetTensor(0, type, GemmShape(scope, 0, 3));
}

}  // namespace

std::span<const OpDef> qgemm_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QGemm",
       .since_version = 1,
       .inputs = {{"A", kByteTypes, "TA"},
                  {"a_scale", kFloat32, "T"},
                  {"a_zero_point", kByteTypes, "TA"},
                  {"B", kByteTypes, "TB"},
                  {"b_scale", kFloat32, "T"},
                  {"b_zero_point", kByteTypes, "TB"},
                  Optional("C", kInt32, "TC"),
                  Optional("y_scale", kFloat32, "T"),
                  Optional("y_zero_point", kByteTypes, "TYZ")},
       .outputs = {{"Y", kQGemmResults, "TY"}},
       .attributes = {{"alpha", AttrKind::kFloat}, {"transA", AttrKind::kInt}, {"transB", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
