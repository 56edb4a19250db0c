// SPDX-License-Identifier: Apache-2.0
// Concat: tensors of one rank joined along an axis; all other dims must agree.
// https://onnx.ai/onnx/operators/onnx__Concat.html
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Shape JoinedShape(const RunContext& ctx, int* axis) {
  Shape shape = ctx.tensor(0).shape();
  *axis = NormalizeAxis(ctx, ctx.attrs().Int("axis"), shape.rank());
  for (int i = 1; i < ctx.input_size(); ++i) {
    const Shape& other = ctx.tensor(i).shape();
    bool fits = other.rank() == shape.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = d == *axis || other[d] == shape[d];
    if (!fits) {
      ctx.FailInput(i, fmt::format("shape {} does not join {} along axis {}", other.ToString(),
                                   ctx.tensor(0).shape().ToString(), *axis));
    }
    const std::optional<int64_t> sum = CheckedAdd(shape[*axis], other[*axis]);
    if (!sum) ctx.FailInput(i, "the joined axis is too long");
    shape[*axis] = *sum;
  }
  return shape;
}

void Run(RunContext& ctx) {
  int axis = 0;
  Shape shape = JoinedShape(ctx, &axis);
  const int64_t outer = DimsProduct(shape.dims(), 0, axis);
  const TensorType dtype = ctx.tensor(0).dtype();
  Tensor out(dtype, std::move(shape));
  const bool strings = dtype == TensorType::kString;
  const size_t size = onnx_optim::BytesOf(dtype);
  const int64_t row = out.NumElements() == 0 ? 0 : out.NumElements() / outer;
  int64_t column = 0;
  for (int i = 0; i < ctx.input_size() && row > 0; ++i) {
    const Tensor& x = ctx.tensor(i);
    const int64_t n = x.NumElements() / outer;
    if (strings) {
      const std::string* from = x.View<std::string>().data();
      std::string* to = out.MutableView<std::string>().data();
      for (int64_t o = 0; o < outer; ++o) std::copy_n(from + o * n, n, to + o * row + column);
    } else if (n > 0) {
      const auto* from = static_cast<const std::byte*>(x.data());
      auto* to = static_cast<std::byte*>(out.mutable_data()) + static_cast<size_t>(column) * size;
      const size_t bytes = static_cast<size_t>(n) * size, step = static_cast<size_t>(row) * size;
      for (int64_t o = 0; o < outer; ++o, from += bytes, to += step) std::memcpy(to, from, bytes);
    }
    column += n;
  }
  ctx.SetOutput(0, std::move(out));
}

void ShapeRule(InferScope& scope) {
  const int64_t stated = scope.attrs().Int("axis");
  OptimShape shape = OptimShape::Unknown();
  int first = -1, axis = 0;
  std::vector<OptimDim> lengths;
  bool all_known = true;
  for (int i = 0; i < scope.input_size(); ++i) {
    const OptimShape& own = scope.InputShape(i);
    if (own.IsUnknown()) {
      all_known = false;
      continue;
    }
    if (first < 0) {
      first = i;
      shape = own;
      axis = scope.NormalizeAxis(stated, static_cast<int>(own.Rank()));
    } else if (own.Rank() != shape.Rank()) {
      scope.Fail(scope.InputSubject(i), fmt::format("shape {} does not join {} along axis {}", own.ToString(),
                                                    scope.InputShape(first).ToString(), axis));
    }
    for (size_t d = 0; d < own.Rank(); ++d) {
      if (d == static_cast<size_t>(axis)) {
        lengths.push_back(own[d]);
      } else if (i != first) {
        shape[d] = scope.Unify(shape[d], own[d], fmt::format("axis {} of {}", d, scope.InputSubject(first)),
                               fmt::format("axis {} of {}", d, scope.InputSubject(i)));
      }
    }
  }
  TensorType dtype = TensorType::kUndefined;
  for (int i = 0; i < scope.input_size() && dtype == TensorType::kUndefined; ++i) dtype = scope.InputType(i);
  if (!shape.IsUnknown()) shape[static_cast<size_t>(axis)] = all_known ? onnx_optim::Sum(lengths) : scope.Fresh();
  scope.SetTensor(0, dtype, shape);
  if (!all_known || shape.Rank() != 1 || !shape.IsFullyKnown()) return;
  KnownElements elements;
  for (int i = 0; i < scope.input_size(); ++i) {
    const KnownElements* own = InputElements(scope, i);
    const auto n = static_cast<size_t>(scope.InputShape(i)[0].AsInt());
    if (elements.size() + n > ShapeValue::kMaxKnownElements) return;
    if (own == nullptr) {
      elements.resize(elements.size() + n);
    } else {
      elements.insert(elements.end(), own->begin(), own->end());
    }
  }
  SetTensorWithElements(scope, 0, dtype, shape, std::move(elements));
}

}  // namespace

std::span<const OpDef> concat_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Concat",
       .since_version = 4,
       .inputs = {{.name = "inputs", .types = kAllTypes, .type_var = "T", .count = FormalCount::kVariadic}},
       .outputs = {{"concat_result", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
