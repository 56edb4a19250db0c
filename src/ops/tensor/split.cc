// SPDX-License-Identifier: Apache-2.0
// Split: a tensor cut along an axis into as many parts as there are outputs. Their lengths come from `split` (an
// attribute before version 13, then an input); without it they are equal, or, with num_outputs (version 18 on), of
// ceil(n / num_outputs) with a smaller last one. https://onnx.ai/onnx/operators/onnx__Split.html
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/checked.h"
#include "kernels/strided/strided_copy.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool IsAttributeForm(const OpDef& op) { return op.since_version < 13; }

std::vector<int64_t> Lengths(const RunContext& ctx, int64_t n) {
  const int64_t outputs = ctx.output_size();
  std::vector<int64_t> lengths;
  std::string subject = "attribute 'split'";
  if (IsAttributeForm(ctx.op())) {
    lengths = ctx.attrs().Ints("split");
  } else if (ctx.HasInput(1)) {
    lengths = ReadInts(ctx, 1);
    subject = ctx.InputSubject(1);
  }
  if (!lengths.empty() || (!IsAttributeForm(ctx.op()) && ctx.HasInput(1))) {
    if (static_cast<int64_t>(lengths.size()) != outputs)
      ctx.Fail(subject, fmt::format("has {} entries for {} outputs", lengths.size(), outputs));
    std::optional<int64_t> sum = 0;
    for (const int64_t length : lengths) sum = sum && length >= 0 ? CheckedAdd(*sum, length) : std::nullopt;
    if (sum != n) ctx.Fail(subject, fmt::format("[{}] does not cut an axis of {}", fmt::join(lengths, ","), n));
    return lengths;
  }
  const int64_t stated = ctx.attrs().Int("num_outputs", outputs);
  if (stated != outputs)
    ctx.Fail("attribute 'num_outputs'", fmt::format("is {}, but there are {} outputs", stated, outputs));
  const bool uneven = ctx.attrs().Has("num_outputs");
  const int64_t length = n / outputs + (n % outputs != 0 ? 1 : 0);
  lengths.assign(static_cast<size_t>(outputs), length);
  if (n % outputs != 0 && (!uneven || length * (outputs - 1) > n))
    ctx.FailInput(0, fmt::format("an axis of {} cannot be cut into {} parts{}", n, outputs,
                                 uneven ? fmt::format(" of {}", length) : " of one length"));
  lengths.back() = n - length * (outputs - 1);
  return lengths;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), x.rank());
  const std::vector<int64_t> lengths = Lengths(ctx, x.dim(axis));
  const int64_t outer = DimsProduct(x.shape().dims(), 0, axis),
                inner = DimsProduct(x.shape().dims(), axis + 1, x.rank());
  const int64_t row = x.dim(axis) * inner;
  int64_t column = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t n = lengths[i] * inner;
    Shape shape = x.shape();
    shape[axis] = lengths[i];
    if (!ctx.HasOutput(static_cast<int>(i))) {
      column += n;
      continue;
    }
    // Parts of the outermost axis are stretches of memory, and shared.
    if (outer == 1) {
      ctx.SetOutput(static_cast<int>(i), x.Part(column, std::move(shape)));
      column += n;
      continue;
    }
    Tensor part(x.dtype(), std::move(shape));
    if (part.NumElements() > 0 && x.dtype() == TensorType::kString) {
      const std::string* from = x.View<std::string>().data();
      std::string* to = part.MutableView<std::string>().data();
      for (int64_t o = 0; o < outer; ++o) to = std::copy_n(from + o * row + column, n, to);
    } else if (part.NumElements() > 0) {
      const size_t size = onnx_optim::BytesOf(x.dtype());
      const auto* from = static_cast<const std::byte*>(x.data()) + static_cast<size_t>(column) * size;
      auto* to = static_cast<std::byte*>(part.mutable_data());
      if (n == 1) {  // a call costs more than the element
        kernels::StridedCopy(from, to, {&outer, 1}, {&row, 1}, size, 0, outer);
      } else {
        const size_t bytes = static_cast<size_t>(n) * size, step = static_cast<size_t>(row) * size;
        for (int64_t o = 0; o < outer; ++o, from += step, to += bytes) std::memcpy(to, from, bytes);
      }
    }
    ctx.SetOutput(static_cast<int>(i), std::move(part));
    column += n;
  }
}

void ShapeRule(InferScope& scope) {
  const int outputs = scope.output_size();
  const OptimShape& in = scope.InputShape(0);
  const TensorType dtype = scope.InputType(0);
  if (in.IsUnknown()) {
    for (int i = 0; i < outputs; ++i) scope.SetTensor(i, dtype, OptimShape::Unknown());
    return;
  }
  const auto axis = static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(in.Rank())));
  const OptimDim& n = in[axis];
  std::vector<OptimDim> lengths;
  const bool by_attribute = scope.attrs().Has("split");
  if (by_attribute || scope.HasInput(1)) {
    std::optional<std::vector<OptimDim>> given = scope.InputValue(1);
    if (by_attribute) {
      const std::vector<int64_t> values = scope.attrs().Ints("split");
      given.emplace(values.begin(), values.end());
    }
    const std::string subject = by_attribute ? "attribute 'split'" : scope.InputSubject(1);
    if (given) {
      if (static_cast<int>(given->size()) != outputs)
        scope.Fail(subject, fmt::format("has {} entries for {} outputs", given->size(), outputs));
      for (const OptimDim& length : *given)
        if (length.IsInt() && length.AsInt() < 0)
          scope.Fail(subject, fmt::format("must not be negative, got {}", length.ToString()));
      scope.Unify(n, onnx_optim::Sum(*given), fmt::format("axis {} of {}", axis, scope.InputSubject(0)),
                  "the sum of " + subject);
      lengths = std::move(*given);
    }
  } else {
    const int64_t stated = scope.attrs().Int("num_outputs", outputs);
    if (stated != outputs)
      scope.Fail("attribute 'num_outputs'", fmt::format("is {}, but there are {} outputs", stated, outputs));
    const bool uneven = scope.attrs().Has("num_outputs");
    if (uneven) {
      const OptimDim length = CeilDiv(n, outputs);
      lengths.assign(static_cast<size_t>(outputs), length);
      lengths.back() = n - length * OptimDim(outputs - 1);
      if (lengths.back().IsInt() && lengths.back().AsInt() < 0)
        scope.Fail(scope.InputSubject(0), fmt::format("an axis of {} cannot be cut into {} parts of {}", n.ToString(),
                                                      outputs, length.ToString()));
    } else {
      if (n.IsInt() && n.AsInt() % outputs != 0)
        scope.Fail(scope.InputSubject(0),
                   fmt::format("an axis of {} cannot be cut into {} parts of one length", n.AsInt(), outputs));
      lengths.assign(static_cast<size_t>(outputs), FloorDiv(n, outputs));
    }
  }
  const KnownElements* elements = in.Rank() == 1 ? InputElements(scope, 0) : nullptr;
  int64_t first = 0;
  for (int i = 0; i < outputs; ++i) {
    OptimShape shape = in;
    shape[axis] = lengths.empty() ? scope.Fresh() : lengths[static_cast<size_t>(i)];
    const OptimDim length = shape[axis];
    scope.SetTensor(i, dtype, shape);
    if (elements == nullptr || !length.IsInt() || first + length.AsInt() > static_cast<int64_t>(elements->size())) {
      elements = nullptr;
      continue;
    }
    SetTensorWithElements(scope, i, dtype, std::move(shape),
                          {elements->begin() + first, elements->begin() + first + length.AsInt()});
    first += length.AsInt();
  }
}

OpDef VersionOf(int since, bool split_is_input, std::vector<AttrDef> attributes) {
  OpDef op{.domain = "",
           .type = "Split",
           .since_version = since,
           .inputs = {{"input", kAllTypes, "T"}},
           .outputs = {{.name = "outputs", .types = kAllTypes, .type_var = "T", .count = FormalCount::kVariadic}},
           .attributes = std::move(attributes),
           .shape = ShapeRule,
           .run = Run};
  if (split_is_input)
    op.inputs.push_back({.name = "split", .types = {TensorType::kInt64}, .count = FormalCount::kOptional});
  return op;
}

}  // namespace

std::span<const OpDef> split_ops() {
  static const OpDef ops[] = {
      VersionOf(2, false, {{"axis", AttrKind::kInt}, {"split", AttrKind::kInts}}),
      VersionOf(13, true, {{"axis", AttrKind::kInt}}),
      VersionOf(18, true, {{"axis", AttrKind::kInt}, {"num_outputs", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
