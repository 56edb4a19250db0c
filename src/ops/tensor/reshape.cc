// SPDX-License-Identifier: Apache-2.0
// Reshape: the same elements under other dims. In the target 0 keeps the input's dim of that place (unless allowzero,
// version 14 on) and one -1 takes what is left. https://onnx.ai/onnx/operators/onnx__Reshape.html
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "ops/tensor/view_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Text(std::span<const int64_t> dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

void Run(RunContext& ctx) {
  const Shape in = ctx.tensor(0).shape();
  const std::vector<int64_t> target = ReadInts(ctx, 1);
  const bool allow_zero = ctx.attrs().Int("allowzero", 0) != 0;
  std::vector<int64_t> dims = target;
  const auto wrong = [&](std::string_view why) {
    ctx.FailInput(1, fmt::format("{} does not fit {}: {}", Text(target), in.ToString(), why));
  };
  ptrdiff_t open = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && !allow_zero) {
      if (static_cast<int>(d) >= in.rank()) wrong(fmt::format("0 at place {}, where the input has no dim", d));
      dims[d] = in[static_cast<int>(d)];
    } else if (dims[d] == -1) {
      if (open >= 0) wrong("more than one -1");
      open = static_cast<ptrdiff_t>(d);
    } else if (dims[d] < 0) {
      wrong(fmt::format("{} is no dim", dims[d]));
    }
  }
  const int64_t n = ctx.tensor(0).NumElements();
  if (open >= 0) {
    dims[static_cast<size_t>(open)] = 1;
    const std::optional<int64_t> rest = CheckedProduct(dims);
    if (rest == 0) wrong("-1 beside a dim of 0 can be anything");
    if (!rest || n % *rest != 0) wrong(fmt::format("{} elements cannot be shared out", n));
    dims[static_cast<size_t>(open)] = n / *rest;
  }
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count || *count != n) wrong(fmt::format("{} elements", n));
  SetView(ctx, Shape(dims));
}

void ShapeRule(InferScope& scope) {
  const OptimShape in = scope.InputShape(0);
  const std::optional<std::vector<OptimDim>> target = scope.InputValue(1);
  if (!target) {
    const std::optional<int> rank = ListLength(scope.InputShape(1));
    return SetLikeInput(scope, 0, rank ? scope.FreshShape(*rank) : OptimShape::Unknown());
  }
  if (target->size() > OptimShape::kMaxRank) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const bool allow_zero = scope.attrs().Int("allowzero", 0) != 0;
  const auto wrong = [&](std::string_view why) {
    std::vector<std::string> texts;
    for (const OptimDim& d : *target) texts.push_back(d.ToString());
    scope.Fail(scope.InputSubject(1),
               fmt::format("[{}] does not fit {}: {}", fmt::join(texts, ","), in.ToString(), why));
  };
  std::vector<OptimDim> dims;
  std::vector<size_t> uncertain;  // places where the sign, or what a 0 stands for, is open
  std::optional<size_t> open;
  for (size_t d = 0; d < target->size(); ++d) {
    const OptimDim& entry = (*target)[d];
    dims.push_back(entry);
    if (entry.IsInt() && entry.AsInt() == 0 && !allow_zero) {
      if (!in.IsUnknown() && d >= in.Rank()) wrong(fmt::format("0 at place {}, where the input has no dim", d));
      if (in.IsUnknown()) uncertain.push_back(d);
      if (!in.IsUnknown()) dims[d] = in[d];
    } else if (entry.IsInt() && entry.AsInt() == -1) {
      if (open) wrong("more than one -1");
      open = d;
    } else if (entry.IsInt() && entry.AsInt() < 0) {
      wrong(fmt::format("{} is no dim", entry.AsInt()));
    } else if (!entry.IsInt() && !scope.context().ProvablyGreaterEqual(entry, 0)) {
      uncertain.push_back(d);
    }
  }
  for (const size_t d : uncertain) dims[d] = scope.Fresh();
  const std::optional<OptimDim> total = in.SymbolicNumElements();
  if (open) {
    // What the input and the other dims have in common is left out first: it may be 0, and says nothing about the
    // quotient.
    dims[*open] = 1;
    const OptimDim rest = onnx_optim::Product(dims);
    if (rest == OptimDim(0)) wrong("-1 beside a dim of 0 can be anything");
    if (!total || !uncertain.empty()) {
      dims[*open] = scope.Fresh();
    } else if (const std::optional<OptimDim> exact = ExactDiv(*total, rest)) {
      dims[*open] = *exact;
    } else {
      if (total->IsInt() && rest.IsInt()) wrong(fmt::format("{} elements cannot be shared out", total->AsInt()));
      dims[*open] = FloorDiv(*total, rest);
    }
  } else if (total && uncertain.empty()) {
    const OptimDim count = onnx_optim::Product(dims);
    if (total->IsInt() && count.IsInt() && *total != count) wrong(fmt::format("{} elements", total->AsInt()));
    // One open dim among numbers is what the count leaves for it.
    if (total->IsInt() && !count.IsInt()) {
      const auto symbolic = std::find_if(dims.begin(), dims.end(), [](const OptimDim& d) { return !d.IsInt(); });
      if (symbolic == dims.end()) wrong(fmt::format("{} elements", total->AsInt()));  // the product overflows
      const bool only = std::count_if(dims.begin(), dims.end(), [](const OptimDim& d) { return !d.IsInt(); }) == 1;
      const OptimDim dim = *symbolic;
      *symbolic = 1;
      const OptimDim rest = onnx_optim::Product(dims);
      *symbolic = dim;
      if (only && rest.IsInt() && rest.AsInt() > 0 && total->AsInt() % rest.AsInt() == 0 && total->AsInt() > 0)
        *symbolic =
            scope.Unify(dim, total->AsInt() / rest.AsInt(), "the dim " + dim.ToString(), "what the other dims leave");
    }
  }
  SetViewShape(scope, OptimShape(std::move(dims)));
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "Reshape",
          .since_version = since,
          .inputs = {{"data", kAllTypes, "T"}, {"shape", {TensorType::kInt64}}},
          .outputs = {{"reshaped", kAllTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> reshape_ops() {
  static const OpDef ops[] = {
      VersionOf(5, {}),
      VersionOf(14, {{"allowzero", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
