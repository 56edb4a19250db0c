// SPDX-License-Identifier: Apache-2.0
#include "ops/math/elementwise_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ops/math/axis_broadcast.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::KnownFloat;
using onnx_optim::shapes::KnownFloats;

namespace {

// The known elements of a broadcast, element by element, over inputs whose dims are all integers; `inputs` are theirs.
template <class Elements, class Fn>
Elements Combine(InferScope& scope, const OptimShape& shape, const std::vector<const Elements*>& inputs,
                 const Fn& combine) {
  const auto n = static_cast<size_t>(shape.NumElements());
  Elements result(n);
  std::vector<typename Elements::value_type::value_type> arguments(inputs.size());
  for (size_t at = 0; at < n; ++at) {
    bool all_known = true;
    for (size_t i = 0; i < inputs.size() && all_known; ++i) {
      const OptimShape& own = scope.InputShape(static_cast<int>(i));
      size_t rest = at, index = 0, stride = 1;
      for (size_t back = 0; back < shape.Rank(); ++back) {
        const auto size = static_cast<size_t>(shape[shape.Rank() - 1 - back].AsInt());
        if (back < own.Rank()) {
          const auto own_size = static_cast<size_t>(own[own.Rank() - 1 - back].AsInt());
          if (own_size != 1) index += rest % size * stride;
          stride *= own_size;
        }
        rest /= size;
      }
      all_known = index < inputs[i]->size() && (*inputs[i])[index].has_value();
      if (all_known) arguments[i] = *(*inputs[i])[index];
    }
    if (all_known) result[at] = combine(arguments);
  }
  return result;
}

// What `find` gives for each input; nothing when there is none for one of them.
template <class Elements, class Find>
std::vector<const Elements*> ElementsOfAll(const InferScope& scope, const Find& find) {
  std::vector<const Elements*> all;
  for (int i = 0; i < scope.input_size(); ++i) {
    const Elements* elements = scope.HasInput(i) && scope.InputShape(i).IsFullyKnown() ? find(scope.Input(i)) : nullptr;
    if (elements == nullptr) return {};
    all.push_back(elements);
  }
  return all;
}

void SetCombined(InferScope& scope, OptimShape shape, TensorType dtype, CombineValues combine, FloatOperation floats) {
  if (dtype == TensorType::kUndefined) dtype = scope.InputType(0);
  const bool small = !shape.IsUnknown() && shape.IsFullyKnown() &&
                     std::all_of(shape.begin(), shape.end(), [](const OptimDim& d) { return d.AsInt() <= 1024; }) &&
                     shape.Rank() <= 4 && shape.NumElements() <= static_cast<int64_t>(ShapeValue::kMaxKnownElements);
  ShapeValue value = ShapeValue::Tensor(dtype, shape);
  if (small && combine != nullptr && (CarriesValues(dtype) || dtype == TensorType::kBool)) {
    const auto inputs = ElementsOfAll<KnownElements>(scope, [](const ShapeValue& v) { return v.Elements(); });
    const auto fn = [&](std::span<const OptimDim> x) {
      std::optional<OptimDim> one = combine(scope, x);
      if (one && dtype != TensorType::kBool && !Fits(*one, dtype)) one.reset();
      return one;
    };
    if (!inputs.empty()) value = value.WithElements(Combine(scope, shape, inputs, fn));
  }
  if (small && floats != nullptr && (dtype == TensorType::kFloat || dtype == TensorType::kDouble)) {
    const auto inputs = ElementsOfAll<KnownFloats>(scope, [](const ShapeValue& v) { return v.Floats(); });
    const auto fn = [&](std::span<const KnownFloat> x) { return floats(scope.context(), dtype, x); };
    if (!inputs.empty()) value = value.WithFloats(Combine(scope, shape, inputs, fn));
  }
  scope.SetOutput(0, std::move(value));
}

std::vector<Formal> TwoInputs(TypeSet types) { return {{"A", types, "T"}, {"B", types, "T"}}; }

}  // namespace

void UnaryShape(InferScope& scope, CombineValues combine, TensorType dtype, FloatOperation floats) {
  SetCombined(scope, scope.InputShape(0), dtype, combine, floats);
}

void BroadcastShape(InferScope& scope, CombineValues combine, TensorType dtype, FloatOperation floats) {
  OptimShape shape = scope.InputShape(0);
  for (int i = 1; i < scope.input_size(); ++i) shape = scope.Broadcast(shape, scope.InputShape(i));
  if (dtype == TensorType::kUndefined) {
    for (int i = 0; i < scope.input_size() && dtype == TensorType::kUndefined; ++i) dtype = scope.InputType(i);
  }
  SetCombined(scope, std::move(shape), dtype, combine, floats);
}

void PlainUnaryShape(InferScope& scope) { UnaryShape(scope); }
void PlainBroadcastShape(InferScope& scope) { BroadcastShape(scope); }
void PlainCompareShape(InferScope& scope) { BroadcastShape(scope, nullptr, TensorType::kBool); }

Shape BroadcastShapes(const RunContext& ctx, int count, const Tensor* last) {
  Shape shape = ctx.tensor(0).shape();
  for (int i = 1; i < count; ++i) {
    const Shape& other = (last != nullptr && i == count - 1 ? *last : ctx.tensor(i)).shape();
    while (shape.rank() < other.rank()) shape.insert(0, 1);
    const int lead = shape.rank() - other.rank();
    for (int d = 0; d < other.rank(); ++d) {
      int64_t& dim = shape[lead + d];
      if (dim == 1) dim = other[d];
      if (other[d] != dim && other[d] != 1) {
        ctx.FailInput(i, fmt::format("shape {} does not broadcast with {}{}", other.ToString(),
                                     ctx.tensor(0).shape().ToString(), count > 2 ? " and the other inputs" : ""));
      }
    }
  }
  return shape;
}

void RunRows(RunContext& ctx, int count, TensorType out_type, kernels::RowFn row, const void* fn, const Tensor* last) {
  const Tensor aligned = ctx.op().since_version < 7 && count == 2 && last == nullptr ? AlignedToAxis(ctx) : Tensor();
  if (aligned.defined()) last = &aligned;
  Shape shape = BroadcastShapes(ctx, count, last);
  if (ctx.TakeRows({count, out_type, shape, row, fn, last})) return;
  std::array<const void*, kernels::kMaxOperands> in{};
  std::array<size_t, kernels::kMaxOperands> in_size{};
  std::array<Tensor, kernels::kMaxOperands> held;
  std::array<std::span<const int64_t>, kernels::kMaxOperands> shapes;
  int reused = -1;
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(i);
    const Tensor& t = last != nullptr && i == count - 1 ? *last : ctx.tensor(i);
    // Taking it must not take another operand along: one name given twice is one value.
    bool alone =
        reused < 0 && &t != last && t.dtype() == out_type && out_type != TensorType::kString && t.shape() == shape;
    for (int other = 0; other < count && alone; ++other)
      alone = other == i || ctx.node().input(k) != ctx.node().input(static_cast<size_t>(other));
    if (alone) {
      Value taken = ctx.TakeInput(i);
      held[k] = std::move(taken.mutable_tensor());
      if (held[k].IsUnique()) reused = i;
    } else {
      held[k] = t;
    }
    in[k] = held[k].data();
    in_size[k] = onnx_optim::BytesOf(held[k].dtype());
    shapes[k] = held[k].shape().dims();
  }
  const kernels::BroadcastLoops loops(shape.dims(), std::span(shapes).first(static_cast<size_t>(count)));
  Tensor out;
  void* to;
  if (reused >= 0) {
    out = std::move(held[static_cast<size_t>(reused)]);
    to = out.mutable_data();
    in[static_cast<size_t>(reused)] = to;
  } else {
    to = ctx.AllocateOutput(0, out_type, std::move(shape)).mutable_data();
  }
  const size_t out_size = onnx_optim::BytesOf(out_type);
  ctx.ParallelFor(loops.size(), kElementGrain, [&](int64_t begin, int64_t end) {
    loops.Run(begin, end, in.data(), in_size.data(), to, out_size, row, fn);
  });
  if (reused >= 0) ctx.SetOutput(0, std::move(out));
}

void RunFold(RunContext& ctx, kernels::RowFn pair, const void* fn, kernels::RowFn finish, const void* finish_fn) {
  const int count = ctx.input_size();
  const Shape shape = BroadcastShapes(ctx, count);
  const TensorType dtype = ctx.tensor(0).dtype();
  const size_t size = onnx_optim::BytesOf(dtype);
  std::vector<Tensor> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(ctx.tensor(i));
  void* const to = ctx.AllocateOutput(0, dtype, shape).mutable_data();
  const auto run = [&](const void* const* in, std::span<const std::span<const int64_t>> shapes, kernels::RowFn row,
                       const void* row_fn) {
    const kernels::BroadcastLoops loops(shape.dims(), shapes);
    const std::array<size_t, kernels::kMaxOperands> sizes{size, size, size};
    ctx.ParallelFor(loops.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      loops.Run(begin, end, in, sizes.data(), to, size, row, row_fn);
    });
  };
  // One input: folded with itself would not do for sums, so it is copied as a fold with nothing.
  if (count == 1) {
    std::copy_n(static_cast<const std::byte*>(inputs[0].data()), static_cast<size_t>(shape.NumElements()) * size,
                static_cast<std::byte*>(to));
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    const void* const in[] = {i == 1 ? inputs[0].data() : to, inputs[i].data()};
    const std::span<const int64_t> shapes[] = {i == 1 ? inputs[0].shape().dims() : shape.dims(),
                                               inputs[i].shape().dims()};
    run(in, shapes, pair, fn);
  }
  if (finish != nullptr) {
    const void* const in[] = {to};
    const std::span<const int64_t> shapes[] = {shape.dims()};
    run(in, shapes, finish, finish_fn);
  }
}

OpDef UnaryOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&),
              std::vector<AttrDef> attributes, std::string_view input, std::string_view output,
              void (*shape)(InferScope&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{input, types, "T"}},
          .outputs = {{output, types, "T"}},
          .attributes = std::move(attributes),
          .shape = shape,
          .run = run,
          .elementwise = 1};
}

OpDef BinaryOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), void (*shape)(InferScope&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = TwoInputs(types),
          .outputs = {{"C", types, "T"}},
          .attributes = {},
          .shape = shape,
          .run = run,
          .elementwise = 3};
}

OpDef CompareOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), void (*shape)(InferScope&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = TwoInputs(types),
          .outputs = {{"C", kBoolType}},
          .attributes = {},
          .shape = shape,
          .run = run,
          .elementwise = 3};
}

OpDef VariadicOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), std::string_view output,
                 void (*shape)(InferScope&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{.name = "data_0", .types = types, .type_var = "T", .count = FormalCount::kVariadic}},
          .outputs = {{output, types, "T"}},
          .attributes = {},
          .shape = shape,
          .run = run};
}

OpDef Consuming(OpDef op) {
  op.attributes.push_back({"consumed_inputs", AttrKind::kInts});
  return op;
}

}  // namespace ONNX_LIGHT_NAMESPACE
