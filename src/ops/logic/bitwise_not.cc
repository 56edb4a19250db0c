// SPDX-License-Identifier: Apache-2.0
// BitwiseNot: every bit of an integer turned.
// https://onnx.ai/onnx/operators/onnx__BitwiseNot.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct BitwiseNotFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
void Run(RunContext& ctx) { RunUnary<BitwiseNotFn, IntList>(ctx); }

}  // namespace

std::span<const OpDef> bitwise_not_ops() {
  static const OpDef ops[] = {
      UnaryOp("BitwiseNot", 18, kIntTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
