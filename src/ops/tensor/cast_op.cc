// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/cast_op.h"

#include <fmt/format.h>

#include "kernels/cast/cast.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

void RunCast(RunContext& ctx, TensorType to) {
  if (ctx.tensor(0).dtype() == to) return ctx.SetOutput(0, ctx.TakeInput(0));
  const Tensor x = ctx.tensor(0);
  const int64_t n = x.NumElements();
  Tensor y(to, x.shape());
  if (x.dtype() == TensorType::kString) {
    const std::string* from = x.View<std::string>().data();
    const int64_t done = kernels::CastFromString(from, y.mutable_data(), to, n);
    if (done < n) {
      const std::string text = from[done].substr(0, 40);
      ctx.FailInput(0, fmt::format("element {}, \"{}\", is no number", done, text));
    }
  } else if (to == TensorType::kString) {
    kernels::CastToString(x.data(), x.dtype(), y.MutableView<std::string>().data(), n);
  } else {
    const auto from_size = static_cast<size_t>(onnx_optim::BitsOf(x.dtype())) / 8;
    const auto to_size = static_cast<size_t>(onnx_optim::BitsOf(to)) / 8;
    const auto* from = static_cast<const std::byte*>(x.data());
    auto* const out = static_cast<std::byte*>(y.mutable_data());
    ctx.ParallelFor(n, kElementGrain, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin);
      kernels::Cast(from + first * from_size, x.dtype(), out + first * to_size, to, end - begin);
    });
  }
  ctx.SetOutput(0, std::move(y));
}

void CastShape(InferScope& scope, TensorType to) {
  const OptimShape shape = scope.InputShape(0);
  const KnownElements* elements = InputElements(scope, 0);
  scope.SetTensor(0, to, shape);
  if (elements == nullptr) return;
  KnownElements cast = *elements;
  for (std::optional<OptimDim>& element : cast) {
    if (!element) continue;
    if (to == TensorType::kBool) {
      if (element->IsInt()) {
        element = OptimDim(element->AsInt() != 0 ? 1 : 0);
      } else if (scope.context().ProvablyDifferent(*element, 0)) {
        element = OptimDim(1);
      } else {
        element.reset();
      }
    } else if (!CarriesValues(to) || !Fits(*element, to)) {
      element.reset();
    }
  }
  SetTensorWithElements(scope, 0, to, shape, std::move(cast));
}

}  // namespace ONNX_LIGHT_NAMESPACE
