// SPDX-License-Identifier: Apache-2.0
// Log: the natural logarithm of each element; -inf for 0, NaN for a negative one. A denormal is 0 where runs flush
// them. https://onnx.ai/onnx/operators/onnx__Log.html
#include <cmath>
#include <limits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct LogFn {
  template <class T>
  T operator()(T x) const {
    // The comparison reads a denormal as the run does; std::log takes its bits apart.
    return x == T(0) ? -std::numeric_limits<T>::infinity() : std::log(x);
  }
};
void Run(RunContext& ctx) { RunUnary<LogFn>(ctx); }

}  // namespace

std::span<const OpDef> log_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Log", 1, kFloatTypes, Run, {}, "input", "output")),
      UnaryOp("Log", 6, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
