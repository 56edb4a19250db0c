// SPDX-License-Identifier: Apache-2.0
#include "ops/math/axis_broadcast.h"

#include <fmt/format.h>

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The axis of A that the first of B's `count` axes is laid on; nothing where there is no room.
std::optional<int> FirstAxis(const NodeAttributes& attrs, int rank, int count) {
  const int64_t axis = attrs.Int("axis", -1), last = rank - count;
  const int64_t first = axis == -1 ? last : axis;
  if (first < 0 || first > last) return std::nullopt;
  return static_cast<int>(first);
}

std::string NoRoom(std::string_view shape, std::string_view of, const NodeAttributes& attrs) {
  const int64_t axis = attrs.Int("axis", -1);
  return fmt::format("shape {} does not lie within {} of input 0{}", shape, of,
                     axis == -1 ? "" : fmt::format(" from axis {} on", axis));
}

}  // namespace

Tensor AlignedToAxis(const RunContext& ctx) {
  const auto& attributes = ctx.op().attributes;
  if (std::ranges::none_of(attributes, [](const AttrDef& def) { return def.name == "axis"; })) return {};
  const Tensor& b = ctx.tensor(1);
  const Shape& a = ctx.tensor(0).shape();
  if (ctx.attrs().Int("broadcast", 0) == 0) {
    if (b.shape() != a)
      ctx.FailInput(1, fmt::format("shape {} is not {} of input 0, and attribute 'broadcast' is 0",
                                   b.shape().ToString(), a.ToString()));
    return b;
  }
  if (b.NumElements() == 1) return b.WithShape(Shape{});
  const std::optional<int> first = FirstAxis(ctx.attrs(), a.rank(), b.rank());
  bool fits = first.has_value();
  for (int d = 0; fits && d < b.rank(); ++d) fits = b.dim(d) == 1 || b.dim(d) == a[*first + d];
  if (!fits) ctx.FailInput(1, NoRoom(b.shape().ToString(), a.ToString(), ctx.attrs()));
  Shape shape = b.shape();
  for (int d = *first + b.rank(); d < a.rank(); ++d) shape.push_back(1);
  return b.WithShape(std::move(shape));
}

void AxisBroadcastShape(InferScope& scope, void (*rule)(InferScope&), TensorType dtype) {
  const OptimShape& a = scope.InputShape(0);
  const OptimShape& b = scope.InputShape(1);
  const bool known = !a.IsUnknown() && !b.IsUnknown();
  const bool spread = scope.attrs().Int("broadcast", 0) != 0;
  if (known && !spread) {
    if (a.Rank() != b.Rank())
      scope.Fail(scope.InputSubject(1), fmt::format("shape {} is not {} of input 0, and attribute 'broadcast' is 0",
                                                    b.ToString(), a.ToString()));
    for (size_t d = 0; d < a.Rank(); ++d)
      scope.Unify(a[d], b[d], fmt::format("axis {} of {}", d, scope.InputSubject(0)),
                  fmt::format("that of {}", scope.InputSubject(1)));
  }
  // Where numpy's rule says the same, it knows elements, too.
  if (known && (b.Rank() == a.Rank() || b.Rank() == 0)) return rule(scope);
  const bool perhaps_one = std::ranges::all_of(b, [](const OptimDim& d) { return !d.IsInt() || d.AsInt() == 1; });
  if (known && !perhaps_one && !FirstAxis(scope.attrs(), static_cast<int>(a.Rank()), static_cast<int>(b.Rank())))
    scope.Fail(scope.InputSubject(1), NoRoom(b.ToString(), a.ToString(), scope.attrs()));
  scope.SetTensor(0, dtype == TensorType::kUndefined ? scope.InputType(0) : dtype, a);
}

}  // namespace ONNX_LIGHT_NAMESPACE
