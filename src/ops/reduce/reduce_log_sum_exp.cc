// SPDX-License-Identifier: Apache-2.0
// ReduceLogSumExp: log of the sum of e^x, without overflow; -inf of nothing. Whole numbers are truncated.
// https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/functions/functions.h"
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceLogSumExpFold {
  // sum * e^max is the sum so far.
  template <class F>
  struct Scaled {
    F max;
    F sum;
  };
  template <class T>
  using Float = std::conditional_t<std::is_same_v<T, float> || kernels::kIsHalf<T>, float, double>;
  template <class T>
  using Acc = Scaled<Float<T>>;
  template <class T>
  static Acc<T> Init() {
    return {-std::numeric_limits<Float<T>>::infinity(), 0};
  }
  template <class T, class X>
  static Acc<T> Step(Acc<T> acc, X x) {
    return Merge<T>(acc, {static_cast<Float<T>>(x), 1});
  }
  template <class T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    if (a.sum == 0) return b;
    if (b.max <= a.max) std::swap(a, b);
    // b is greater now, or one is NaN. Equal infinities have no difference.
    const Float<T> scale = a.max == b.max ? Float<T>(1) : std::exp(a.max - b.max);
    return {b.max != b.max || a.max != a.max ? a.max + b.max : b.max, b.sum + a.sum * scale};
  }
  // A row of floats: the powers of a block at once.
  static Scaled<float> Folded(const float* x, int64_t n) {
    constexpr int64_t kBlock = 256, kFew = 8;  // so few are sooner done one by one
    float powers[kBlock];
    Scaled<float> acc = Init<float>();
    for (int64_t i = 0, count = 0; i < n; i += count) {
      count = std::min(n - i, kBlock);
      float max = Init<float>().max;
      if (count >= kFew) kernels::FoldFloats(kernels::FloatFold::kGreatest, x + i, &max, count, 1);
      if (!std::isfinite(max)) {
        for (int64_t k = i; k < i + count; ++k) acc = Step<float>(acc, x[k]);
        continue;
      }
      for (int64_t k = 0; k < count; ++k) powers[k] = x[i + k] - max;
      kernels::ApplyFunction({kernels::FunctionKind::kExp}, count, powers, powers);
      double sum = 0;
      kernels::FoldFloats(kernels::FloatFold::kSum, powers, &sum, count, 1);
      acc = Merge<float>(acc, {max, static_cast<float>(sum)});
    }
    return acc;
  }
  template <class T>
  static T Finish(Acc<T> acc, int64_t) {
    const Float<T> result = acc.sum == 0 ? -std::numeric_limits<Float<T>>::infinity() : acc.max + std::log(acc.sum);
    if constexpr (kernels::kIsFloating<T>) {
      return T(result);
    } else {
      return std::isfinite(result) ? static_cast<T>(result) : std::numeric_limits<T>::min();
    }
  }
};

}  // namespace

constexpr Reduction kReduceLogSumExp{"ReduceLogSumExp", kReduceTypes, ReduceFnsOf<ReduceLogSumExpFold>};

std::span<const OpDef> reduce_log_sum_exp_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceLogSumExp>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
