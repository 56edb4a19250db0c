// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product; 1 of nothing. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__ReduceProd.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceProdFold {
  template <class T>
  using Acc = SumOf<T>;
  template <class T>
  static SumOf<T> Init() {
    return 1;
  }
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> product, X x) {
    return product * static_cast<SumOf<T>>(x);
  }
  template <class T>
  static SumOf<T> Merge(SumOf<T> a, SumOf<T> b) {
    return a * b;
  }
  template <class T>
  static T Finish(SumOf<T> product, int64_t) {
    return static_cast<T>(product);
  }
};

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Product(x); }

}  // namespace

constexpr Reduction kReduceProd{"ReduceProd", kReduceTypes, ReduceFnsOf<ReduceProdFold>};

std::span<const OpDef> reduce_prod_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceProd>(18, ReduceShape<Known>);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
