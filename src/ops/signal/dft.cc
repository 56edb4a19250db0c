// SPDX-License-Identifier: Apache-2.0
// DFT: the discrete Fourier transform along an axis, of a last axis of 1 (real) or 2 (complex) elements, cut or filled
// with zeros to dft_length; onesided gives the first half, and its inverse takes that and gives real
// numbers. The axis is an attribute (default 1) before version 20, an input (default -2) from then on. Computed in
// double. https://onnx.ai/onnx/operators/onnx__DFT.html
#include "kernels/dft/dft.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool AxisIsInput(const OpDef& op) { return op.inputs.size() > 2; }

struct Ways {
  bool inverse, onesided;
};
Ways ReadWays(const NodeAttributes& attrs) { return {attrs.Int("inverse", 0) != 0, attrs.Int("onesided", 0) != 0}; }

void Run(RunContext& ctx) {
  const Tensor x = AsType(ctx.tensor(0), TensorType::kDouble);
  const Ways ways = ReadWays(ctx.attrs());
  if (x.rank() < 2) ctx.FailInput(0, fmt::format("must have rank 2 or more, got {}", x.TypeString()));
  const int64_t parts = x.dim(x.rank() - 1);
  const bool half_back = ways.inverse && ways.onesided;
  if (parts != 1 && parts != 2) ctx.FailInput(0, fmt::format("last axis has {} elements, must have 1 or 2", parts));
  if (parts == 2 && ways.onesided && !ways.inverse) ctx.FailInput(0, "is complex: onesided takes real numbers");
  const bool given = AxisIsInput(ctx.op()) && ctx.HasInput(2);
  const std::string subject = given ? ctx.InputSubject(2) : "attribute 'axis'";
  const int64_t named = AxisIsInput(ctx.op()) ? (given ? ReadInt(ctx, 2) : -2) : ctx.attrs().Int("axis", 1);
  const int axis = NormalizeAxis(ctx, named, x.rank(), subject);
  if (axis == x.rank() - 1) ctx.Fail(subject, "is that of the real and imaginary parts");
  const int64_t in = x.dim(axis);
  const int64_t n = ctx.HasInput(1) ? ReadInt(ctx, 1) : half_back ? 2 * (in - 1) : in;
  if (n < 1)
    ctx.Fail(ctx.HasInput(1) ? ctx.InputSubject(1) : ctx.InputSubject(0), fmt::format("makes a transform of {}", n));
  const int64_t out = ways.onesided && !ways.inverse ? n / 2 + 1 : n, out_parts = half_back ? 1 : 2;
  Shape shape = x.shape();
  shape[axis] = out;
  shape[shape.rank() - 1] = out_parts;
  Tensor y(TensorType::kDouble, shape);
  // Transforms of nothing may be of any length.
  if (y.NumElements() == 0) return ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
  const int64_t outer = DimsProduct(x.shape().dims(), 0, axis);
  const int64_t inner = DimsProduct(x.shape().dims(), axis + 1, x.rank() - 1);
  const double* from = x.View<double>().data();
  double* to = y.MutableView<double>().data();
  const kernels::Dft dft(n);
  const int64_t all = outer * inner, lanes = dft.LanesFor(all), groups = (all - 1) / lanes + 1;
  const int64_t taken = std::min(in, half_back ? n / 2 + 1 : n), element = 2 * lanes;
  ctx.ParallelFor(groups, std::max<int64_t>(1, kElementGrain / n / (lanes * 16)), [&](int64_t begin, int64_t end) {
    std::vector<double> columns(static_cast<size_t>(n * element)), results(columns.size());
    for (int64_t first = begin * lanes; first < end * lanes; first += lanes) {
      const int64_t count = std::min(lanes, all - first);
      for (int64_t lane = 0; lane < count; ++lane) {
        const int64_t o = (first + lane) / inner, i = (first + lane) % inner;
        double* const column = columns.data() + lane;
        for (int64_t k = 0; k < taken; ++k) {
          const double* x_element = from + ((o * in + k) * inner + i) * parts;
          column[k * element] = x_element[0];
          column[k * element + lanes] = parts == 2 ? x_element[1] : 0;
        }
        // The other half mirrors the one that is there.
        for (int64_t k = n / 2 + 1; half_back && k < n; ++k) {
          column[k * element] = column[(n - k) * element];
          column[k * element + lanes] = -column[(n - k) * element + lanes];
        }
      }
      dft.Run(lanes, columns.data(), results.data(), ways.inverse);
      for (int64_t lane = 0; lane < count; ++lane) {
        const int64_t o = (first + lane) / inner, i = (first + lane) % inner;
        for (int64_t k = 0; k < out; ++k) {
          double* const y_element = to + ((o * out + k) * inner + i) * out_parts;
          y_element[0] = results[static_cast<size_t>(k * element + lane)];
          if (out_parts == 2) y_element[1] = results[static_cast<size_t>(k * element + lanes + lane)];
        }
      }
    }
  });
  ctx.SetOutput(0, AsType(y, ctx.tensor(0).dtype()));
}

template <bool kAxisIsInput>
void ShapeRule(InferScope& scope) {
  const Ways ways = ReadWays(scope.attrs());
  OptimShape shape = scope.InputShape(0);
  if (shape.IsUnknown()) return SetLikeInput(scope, 0, shape);
  const auto rank = static_cast<int>(shape.Rank());
  if (rank < 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 2 or more, got {}", InferScope::Describe(scope.Input(0))));
  const bool half_back = ways.inverse && ways.onesided;
  std::optional<int64_t> named = kAxisIsInput ? -2 : scope.attrs().Int("axis", 1);
  std::string subject = "attribute 'axis'";
  if (kAxisIsInput && scope.HasInput(2)) {
    const std::optional<std::vector<int64_t>> value = scope.InputInts(2);
    named = value && value->size() == 1 ? std::optional(value->front()) : std::nullopt;
    subject = scope.InputSubject(2);
  }
  if (!named) {
    // Any axis but the last may be the one.
    shape = scope.FreshShape(rank);
  } else {
    const auto axis = static_cast<size_t>(scope.NormalizeAxis(*named, rank, subject));
    OptimDim n = half_back ? (shape[axis] - 1) * 2 : shape[axis];
    if (scope.HasInput(1)) {
      const std::optional<std::vector<OptimDim>> value = scope.InputValue(1);
      n = value && value->size() == 1 ? value->front() : scope.Fresh();
    }
    shape[axis] = ways.onesided && !ways.inverse ? FloorDiv(n, 2) + 1 : n;
  }
  shape[shape.Rank() - 1] = OptimDim(half_back ? 1 : 2);
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> dft_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "DFT",
       .since_version = 17,
       .inputs = {{"input", kFloatTypes, "T1"},
                  {.name = "dft_length", .types = kIndexTypes, .count = FormalCount::kOptional}},
       .outputs = {{"output", kFloatTypes, "T1"}},
       .attributes = {{"axis", AttrKind::kInt}, {"inverse", AttrKind::kInt}, {"onesided", AttrKind::kInt}},
       .shape = ShapeRule<false>,
       .run = Run},
      {.domain = "",
       .type = "DFT",
       .since_version = 20,
       .inputs = {{"input", kFloatTypes, "T1"},
                  {.name = "dft_length", .types = kIndexTypes, .count = FormalCount::kOptional},
                  {.name = "axis", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"output", kFloatTypes, "T1"}},
       .attributes = {{"inverse", AttrKind::kInt}, {"onesided", AttrKind::kInt}},
       .shape = ShapeRule<true>,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
