// SPDX-License-Identifier: Apache-2.0
// The one mechanism of elementwise operators: an operator file brings a functor and a rule for known values, everything
// else is here. A functor is called with elements as kernels::Load gives them (float for float16 and bfloat16).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/elementwise/rows.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/type_dispatch.h"
#include "shapes/infer_scope.h"
#include "shapes/known_float.h"

namespace ONNX_LIGHT_NAMESPACE {

// What follows for one element of the output from those of the inputs; nothing when it cannot be said.
using CombineValues = std::optional<OptimDim> (*)(InferScope&, std::span<const OptimDim>);

// The same of floating elements; `x` holds two.
using onnx_optim::shapes::FloatOperation;

// Output 0 has the shape of input 0 (Unary) or of the broadcast of all (Broadcast), element type `dtype`, kUndefined =
// as input 0.
void UnaryShape(InferScope& scope, CombineValues combine = nullptr, TensorType dtype = TensorType::kUndefined,
                FloatOperation floats = nullptr);
void BroadcastShape(InferScope& scope, CombineValues combine = nullptr, TensorType dtype = TensorType::kUndefined,
                    FloatOperation floats = nullptr);
void PlainUnaryShape(InferScope& scope);
void PlainBroadcastShape(InferScope& scope);
void PlainCompareShape(InferScope& scope);

// The broadcast of the shapes of inputs [0, count), `last` in place of the last one where given; InvalidArgument naming
// the two that do not match.
Shape BroadcastShapes(const RunContext& ctx, int count, const Tensor* last = nullptr);

// The arguments of RunRows and the shape of the output, as RunContext::TakeRows gets them; good until the operator's
// run returns.
struct RowsCall {
  int count;
  TensorType out_type;
  const Shape& shape;
  kernels::RowFn row;
  const void* fn;
  const Tensor* last;
};
// Output 0 = rows over inputs [0, count), into the memory of an input of the same type and shape where nobody needs it
// any more. `last`, where given, stands for the last input: with another element type or shape.
void RunRows(RunContext& ctx, int count, TensorType out_type, kernels::RowFn row, const void* fn,
             const Tensor* last = nullptr);

template <class Fn, class List = FloatList>
void RunUnary(RunContext& ctx, const Fn& fn = {}) {
  Dispatch(List(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 1, kTensorTypeOf<T>, kernels::UnaryRow<Fn, T, T>, &fn);
  });
}
template <class Fn, class List = NumericList>
void RunBinary(RunContext& ctx, const Fn& fn = {}) {
  Dispatch(List(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 2, kTensorTypeOf<T>, kernels::BinaryRow<Fn, T, T, T>, &fn);
  });
}
template <class Fn, class List = NumericList>
void RunCompare(RunContext& ctx, const Fn& fn = {}) {
  Dispatch(List(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 2, TensorType::kBool, kernels::BinaryRow<Fn, T, T, bool>, &fn);
  });
}
// Folds any number of inputs, two at a time: out = fn(fn(in0, in1), in2) ...; the identity for one. After the last,
// `finish` (may be null) goes over the result in place.
void RunFold(RunContext& ctx, kernels::RowFn pair, const void* fn, kernels::RowFn finish = nullptr,
             const void* finish_fn = nullptr);

// One version of an operator with the usual formals.
OpDef UnaryOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&),
              std::vector<AttrDef> attributes = {}, std::string_view input = "X", std::string_view output = "Y",
              void (*shape)(InferScope&) = PlainUnaryShape);
OpDef BinaryOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&),
               void (*shape)(InferScope&) = PlainBroadcastShape);
// As BinaryOp, to bool.
OpDef CompareOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&),
                void (*shape)(InferScope&) = PlainCompareShape);
// Any number of inputs of one type.
OpDef VariadicOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), std::string_view output,
                 void (*shape)(InferScope&) = PlainBroadcastShape);
// The same with attribute 'consumed_inputs', which many first versions have and which says nothing to us.
OpDef Consuming(OpDef op);

// Integer arithmetic that wraps, as two's complement hardware does; plain arithmetic on floats.
template <class T>
using WrapType = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
template <class T>
T WrapAdd(T a, T b) {
  return static_cast<T>(static_cast<WrapType<T>>(a) + static_cast<WrapType<T>>(b));
}
template <class T>
T WrapSub(T a, T b) {
  return static_cast<T>(static_cast<WrapType<T>>(a) - static_cast<WrapType<T>>(b));
}
template <class T>
T WrapMul(T a, T b) {
  return static_cast<T>(static_cast<WrapType<T>>(a) * static_cast<WrapType<T>>(b));
}

}  // namespace ONNX_LIGHT_NAMESPACE
