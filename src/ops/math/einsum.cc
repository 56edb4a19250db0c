// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products of the operands' elements over the axes that an equation names (einsum_equation.h). An axis
// of one element broadcasts. Two operands are brought to a matrix product where they can be.
// https://onnx.ai/onnx/operators/onnx__Einsum.html
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "kernels/contract/contract.h"
#include "kernels/strided/strided_copy.h"
#include "ops/math/einsum_equation.h"
#include "ops/math/matmul_op.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Operands {
  EinsumEquation equation;
  std::vector<int64_t> dims;                  // by label
  std::vector<std::vector<int64_t>> strides;  // by operand, by label: 0 where it has not the axis, or broadcasts it
};

Operands ReadOperands(const RunContext& ctx) {
  std::vector<std::optional<int>> ranks;
  for (int i = 0; i < ctx.input_size(); ++i) ranks.emplace_back(ctx.tensor(i).rank());
  Operands operands{*ParseEinsum(ctx.attrs().String("equation", ""), ranks), {}, {}};
  operands.dims.assign(static_cast<size_t>(operands.equation.labels), 1);
  for (int i = 0; i < ctx.input_size(); ++i) {
    const std::vector<int>& labels = operands.equation.inputs[static_cast<size_t>(i)];
    for (size_t d = 0; d < labels.size(); ++d) {
      const int64_t own = ctx.tensor(i).dim(static_cast<int>(d));
      int64_t& dim = operands.dims[static_cast<size_t>(labels[d])];
      if (dim == 1) dim = own;
      if (own != dim && own != 1)
        ctx.FailInput(i, fmt::format("axis {} has {} elements, {} in another place of the equation", d, own, dim));
    }
  }
  for (int i = 0; i < ctx.input_size(); ++i) {
    const std::vector<int>& labels = operands.equation.inputs[static_cast<size_t>(i)];
    const std::vector<int64_t> dense = DenseStrides(ctx.tensor(i).shape().dims());
    std::vector<int64_t>& strides = operands.strides.emplace_back(operands.dims.size());
    // An axis named twice is walked along the diagonal.
    for (size_t d = 0; d < labels.size(); ++d)
      if (ctx.tensor(i).dim(static_cast<int>(d)) != 1) strides[static_cast<size_t>(labels[d])] += dense[d];
  }
  return operands;
}

bool Has(const std::vector<int>& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

// The labels by where they are: in both and the result, in one and the result, in both and summed.
struct ProductAxes {
  std::vector<int> batch, rows, columns, summed;
};
// Nothing when an axis is summed in one operand alone.
std::optional<ProductAxes> AsProduct(const EinsumEquation& equation) {
  ProductAxes axes;
  for (int label = 0; label < equation.labels; ++label) {
    const bool a = Has(equation.inputs[0], label), b = Has(equation.inputs[1], label), y = Has(equation.output, label);
    if (a != b && !y) return std::nullopt;
    (a && b ? (y ? axes.batch : axes.summed) : a ? axes.rows : axes.columns).push_back(label);
  }
  return axes;
}

// Operand i as a dense tensor with the axes of three lists of labels, in order.
Tensor Arranged(const RunContext& ctx, const Operands& operands, int i,
                std::initializer_list<const std::vector<int>*> lists) {
  const Tensor& from = ctx.tensor(i);
  Shape shape;
  std::vector<int64_t> strides;
  for (const std::vector<int>* labels : lists) {
    for (const int label : *labels) {
      shape.push_back(operands.dims[static_cast<size_t>(label)]);
      strides.push_back(operands.strides[static_cast<size_t>(i)][static_cast<size_t>(label)]);
    }
  }
  Tensor to(from.dtype(), shape);
  const size_t size = onnx_optim::BytesOf(from.dtype());
  kernels::StridedCopy(from.data(), to.mutable_data(), shape.dims(), strides, size, 0, to.NumElements());
  return to;
}

void RunProduct(RunContext& ctx, const Operands& operands, const ProductAxes& axes) {
  const auto count = [&](const std::vector<int>& labels) {
    int64_t n = 1;
    for (const int label : labels) n *= operands.dims[static_cast<size_t>(label)];
    return n;
  };
  MatrixProduct product{
      .m = count(axes.rows), .n = count(axes.columns), .k = count(axes.summed), .batch = count(axes.batch)};
  for (int64_t b = 0; b < product.batch; ++b) {
    product.a_offsets.push_back(b * product.m * product.k);
    product.b_offsets.push_back(b * product.k * product.n);
    product.c_offsets.push_back(b * product.m * product.n);
  }
  const Tensor a = Arranged(ctx, operands, 0, {&axes.batch, &axes.rows, &axes.summed});
  const Tensor b = Arranged(ctx, operands, 1, {&axes.batch, &axes.summed, &axes.columns});
  std::vector<int> order = axes.batch;
  order.insert(order.end(), axes.rows.begin(), axes.rows.end());
  order.insert(order.end(), axes.columns.begin(), axes.columns.end());
  Shape shape;
  for (const int label : order) shape.push_back(operands.dims[static_cast<size_t>(label)]);
  Tensor c(a.dtype(), shape);
  Multiply(ctx, product, a, b, c);
  const std::vector<int64_t> dense = DenseStrides(shape.dims());
  Shape view;
  std::vector<int64_t> strides;
  for (const int label : operands.equation.output) {
    view.push_back(operands.dims[static_cast<size_t>(label)]);
    strides.push_back(dense[static_cast<size_t>(std::ranges::find(order, label) - order.begin())]);
  }
  CopyStrided(ctx, c, 0, strides, std::move(view));
}

void Run(RunContext& ctx) {
  const Operands operands = ReadOperands(ctx);
  const EinsumEquation& equation = operands.equation;
  const TensorType type = ctx.tensor(0).dtype();
  Shape shape;
  for (const int label : equation.output) shape.push_back(operands.dims[static_cast<size_t>(label)]);
  // The list of matrices may be long although they are empty.
  if (CheckedProduct(shape.dims()) == 0) return (void)ctx.AllocateOutput(0, type, std::move(shape));
  if (ctx.input_size() == 2 && kMatrixTypes.Has(type)) {
    const std::optional<ProductAxes> axes = AsProduct(equation);
    if (axes) return RunProduct(ctx, operands, *axes);
  }
  std::vector<int> order = equation.output;
  for (int label = 0; label < equation.labels; ++label)
    if (!Has(equation.output, label)) order.push_back(label);
  kernels::Contraction how;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dim = operands.dims[static_cast<size_t>(order[i])];
    (i < equation.output.size() ? how.out_dims : how.sum_dims).push_back(dim);
  }
  std::vector<Tensor> held;
  std::vector<const void*> data;
  for (int i = 0; i < ctx.input_size(); ++i) {
    held.push_back(ctx.tensor(i));
    data.push_back(held.back().data());
    std::vector<int64_t>& strides = how.strides.emplace_back();
    for (const int label : order)
      strides.push_back(operands.strides[static_cast<size_t>(i)][static_cast<size_t>(label)]);
  }
  Tensor& y = ctx.AllocateOutput(0, type, std::move(shape));
  kernels::Contract(type, data, how, y.mutable_data(), [&] { ctx.CheckCancelled(); });
}

void ShapeRule(InferScope& scope) {
  std::vector<std::optional<int>> ranks;
  TensorType type = TensorType::kUndefined;
  for (int i = 0; i < scope.input_size(); ++i) {
    const OptimShape& shape = scope.InputShape(i);
    ranks.push_back(shape.IsUnknown() ? std::nullopt : std::optional<int>(static_cast<int>(shape.Rank())));
    if (type == TensorType::kUndefined) type = scope.InputType(i);
  }
  const std::optional<EinsumEquation> equation = ParseEinsum(scope.attrs().String("equation", ""), ranks);
  if (!equation) return scope.SetTensor(0, type, OptimShape::Unknown());
  std::vector<std::optional<OptimDim>> dims(static_cast<size_t>(equation->labels));
  std::vector<char> open(dims.size());  // an operand of unknown dims has the axis
  for (int i = 0; i < scope.input_size(); ++i) {
    const OptimShape& shape = scope.InputShape(i);
    const std::vector<int>& labels = equation->inputs[static_cast<size_t>(i)];
    for (size_t d = 0; d < labels.size(); ++d) {
      const auto label = static_cast<size_t>(labels[d]);
      if (shape.IsUnknown()) {
        open[label] = 1;
      } else if (!dims[label]) {
        dims[label] = shape[d];
      } else {
        dims[label] = scope.Broadcast(OptimShape{*dims[label]}, OptimShape{shape[d]})[0];
      }
    }
  }
  OptimShape shape;
  for (const int label : equation->output) {
    const auto l = static_cast<size_t>(label);
    // What is not known broadcasts 1 alone.
    const bool known = dims[l] && (open[l] == 0 || scope.context().ProvablyGreaterEqual(*dims[l], 2));
    shape.PushBack(known ? *dims[l] : scope.Fresh());
  }
  scope.SetTensor(0, type, std::move(shape));
}

}  // namespace

std::span<const OpDef> einsum_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Einsum",
       .since_version = 12,
       .inputs = {{.name = "Inputs", .types = kNumericTypes, .type_var = "T", .count = FormalCount::kVariadic}},
       .outputs = {{"Output", kNumericTypes, "T"}},
       .attributes = {{"equation", AttrKind::kString, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
