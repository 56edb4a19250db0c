// SPDX-License-Identifier: Apache-2.0
#include "ops/math/integer_division.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

void CheckDivisor(const RunContext& ctx) {
  const Tensor& divisor = ctx.tensor(1);
  if (!onnx_optim::IsIntegerTensorType(divisor.dtype()) || ctx.tensor(0).NumElements() == 0) return;
  Dispatch(IntList(), divisor.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> values = divisor.View<T>();
    const auto zero = std::find(values.begin(), values.end(), T(0));
    if (zero != values.end())
      ctx.FailInput(1, fmt::format("element {} is 0: division of integers by zero", zero - values.begin()));
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
