// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/quantized_binary.h"

#include <fmt/format.h>

#include "kernels/elementwise/broadcast.h"
#include "ops/quantize/quantize_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Combination {
  decltype(kernels::ByteRowKernels::add) row;
  kernels::ByteScale a, b, c;
};

void Row(const void* const* in, const int64_t* step, void* out, int64_t n, const void* fn) {
  const auto& f = *static_cast<const Combination*>(fn);
  f.row(in[0], step[0], f.a, in[1], step[1], f.b, n, f.c, out);
}

Shape BroadcastOperands(const RunContext& ctx) {
  Shape shape = ctx.tensor(0).shape();
  const Shape& other = ctx.tensor(3).shape();
  while (shape.rank() < other.rank()) shape.insert(0, 1);
  for (int d = 1; d <= other.rank(); ++d) {
    int64_t& dim = shape[shape.rank() - d];
    const int64_t own = other[other.rank() - d];
    if (dim == 1) dim = own;
    if (own != 1 && own != dim)
      ctx.FailInput(
          3, fmt::format("shape {} does not broadcast with {}", other.ToString(), ctx.tensor(0).shape().ToString()));
  }
  return shape;
}

void ShapeRule(InferScope& scope) {
  const TensorType type = scope.InputType(0);
  scope.SetTensor(0, type != TensorType::kUndefined ? type : scope.InputType(3),
                  scope.Broadcast(scope.InputShape(0), scope.InputShape(3)));
}

}  // namespace

void RunQuantizedBinary(RunContext& ctx, decltype(kernels::ByteRowKernels::add) row) {
  const Tensor a = ctx.tensor(0), b = ctx.tensor(3);
  const Shape shape = BroadcastOperands(ctx);
  const Combination combination{row, ReadByteScale(ctx, 1, 2, a.dtype()), ReadByteScale(ctx, 4, 5, a.dtype()),
                                ReadByteScale(ctx, 6, 7, a.dtype())};
  const std::span<const int64_t> shapes[] = {a.shape().dims(), b.shape().dims()};
  const kernels::BroadcastLoops loops(shape.dims(), shapes);
  const void* const in[] = {a.data(), b.data()};
  const size_t sizes[] = {1, 1};
  void* const to = ctx.AllocateOutput(0, a.dtype(), shape).mutable_data();
  ctx.ParallelFor(loops.size(), kElementGrain,
                  [&](int64_t begin, int64_t end) { loops.Run(begin, end, in, sizes, to, 1, Row, &combination); });
}

OpDef QuantizedBinaryOp(std::string_view type, void (*run)(RunContext&)) {
  return {.domain = kMicrosoft,
          .type = type,
          .since_version = 1,
          .inputs = {{"A", kByteTypes, "T"},
                     {"A_scale", kFloat32},
                     Optional("A_zero_point", kByteTypes, "T"),
                     {"B", kByteTypes, "T"},
                     {"B_scale", kFloat32},
                     Optional("B_zero_point", kByteTypes, "T"),
                     {"C_scale", kFloat32},
                     Optional("C_zero_point", kByteTypes, "T")},
          .outputs = {{"C", kByteTypes, "T"}},
          .attributes = {},
          .shape = ShapeRule,
          .run = run};
}

}  // namespace ONNX_LIGHT_NAMESPACE
