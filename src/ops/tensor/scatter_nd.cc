// SPDX-License-Identifier: Apache-2.0
// ScatterND: the data with the slices of the updates stored where the tuples along the last axis of the indices say, in
// order; with a reduction (version 16 add and mul, 18 min and max) combined with what is there.
// https://onnx.ai/onnx/operators/onnx__ScatterND.html
#include <fmt/format.h>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kReduces, bool kExtremes>
void Run(RunContext& ctx) {
  const Shape data = ctx.tensor(0).shape();
  const kernels::ScatterReduction reduction =
      kReduces ? ReadReduction(ctx, ctx.tensor(0).dtype(), kExtremes) : kernels::ScatterReduction::kNone;
  const TupleOffsets tuples = ReadTuples(ctx, 1, data, 0);
  Shape expected = ctx.tensor(1).shape();
  expected.erase(expected.rank() - 1);
  for (int d = tuples.depth; d < data.rank(); ++d) expected.push_back(data[d]);
  if (ctx.tensor(2).shape() != expected) {
    ctx.FailInput(2, fmt::format("shape {} is not {}, which data and indices ask for", ctx.tensor(2).shape().ToString(),
                                 expected.ToString()));
  }
  RunScatter(ctx, reduction, tuples.offsets, tuples.row);
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes, void (*run)(RunContext&)) {
  return {.domain = "",
          .type = "ScatterND",
          .since_version = since,
          .inputs = {{"data", kAllTypes, "T"}, {"indices", {TensorType::kInt64}}, {"updates", kAllTypes, "T"}},
          .outputs = {{"output", kAllTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ScatterShape,
          .run = run};
}

}  // namespace

std::span<const OpDef> scatter_nd_ops() {
  static const OpDef ops[] = {
      VersionOf(11, {}, Run<false, false>),
      VersionOf(16, {{"reduction", AttrKind::kString}}, Run<true, false>),
      VersionOf(18, {{"reduction", AttrKind::kString}}, Run<true, true>),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
