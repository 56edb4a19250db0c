// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "kernels/softmax/softmax.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Adds to the scores of query i what the mask and the bounds say; -infinity where the key is not seen. False when none
// is.
template <class T>
bool AddBias(const AttentionArgs<T>& args, int64_t b, int64_t h, int64_t i, T* scores) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  const int64_t position = i + args.offsets[b];
  const bool masked = args.bias != nullptr || args.seen != nullptr;
  const int64_t base = b * args.mask_batch + h * args.mask_head + i * args.mask_row;
  const int64_t valid = args.valid == nullptr ? args.kv_length : std::min(args.valid[b], args.kv_length);
  bool any = false;
  for (int64_t j = 0; j < args.kv_length; ++j) {
    // No sum of the bounds overflows: positions are small.
    bool seen = j < valid && (j <= position ? position - j <= args.left : j - position <= args.right);
    seen = seen && (!masked || j < args.mask_length);
    if (seen && args.seen != nullptr) seen = args.seen[base + j * args.mask_column];
    T bias = 0;
    if (seen && args.bias != nullptr) bias = args.bias[base + j * args.mask_column];
    if (!seen) bias = kHidden;
    any = any || bias != kHidden;
    scores[j] = bias == kHidden ? kHidden : scores[j] + bias;
  }
  return any;
}

}  // namespace

template <class T>
void Attend(const AttentionArgs<T>& args, int64_t begin, int64_t end) {
  const int64_t n = args.kv_length, size = args.q_length * n;
  std::vector<T> scores(static_cast<size_t>(size));
  for (int64_t pair = begin; pair < end; ++pair) {
    const int64_t b = pair / args.q_heads, h = pair % args.q_heads, kv = h / (args.q_heads / args.kv_heads);
    const auto show = [&](ScoreStage stage) {
      if (args.scores != nullptr && args.stage == stage)
        std::copy(scores.begin(), scores.end(), args.scores + pair * size);
    };
    MatMulArgs<T> product;
    product.m = args.q_length;
    product.n = n;
    product.k = args.dim;
    product.a = {args.q.data + b * args.q.batch + h * args.q.head, args.q.row, 1};
    product.b = {args.k.data + b * args.k.batch + kv * args.k.head, 1, args.k.row};
    product.c = scores.data();
    product.c_row = n;
    MatMul(product);
    for (T& score : scores) score *= args.scale;
    show(ScoreStage::kProduct);
    if (args.softcap != 0) {
      for (T& score : scores) score = args.softcap * std::tanh(score / args.softcap);
    }
    show(ScoreStage::kCapped);
    std::vector<char> blind(static_cast<size_t>(args.q_length));
    for (int64_t i = 0; i < args.q_length; ++i)
      blind[static_cast<size_t>(i)] = AddBias(args, b, h, i, scores.data() + i * n) ? 0 : 1;
    show(ScoreStage::kBiased);
    SoftmaxRows(scores.data(), scores.data(), args.q_length, n, false);
    for (int64_t i = 0; i < args.q_length; ++i)
      if (blind[static_cast<size_t>(i)] != 0) std::fill_n(scores.begin() + i * n, n, T(0));
    show(ScoreStage::kSoftmax);
    MatMulArgs<T> sum;
    sum.m = args.q_length;
    sum.n = args.v_dim;
    sum.k = n;
    sum.a = {scores.data(), n, 1};
    sum.b = {args.v.data + b * args.v.batch + kv * args.v.head, args.v.row, 1};
    sum.c = args.y.data + b * args.y.batch + h * args.y.head;
    sum.c_row = args.y.row;
    MatMul(sum);
  }
}

template void Attend(const AttentionArgs<float>&, int64_t, int64_t);
template void Attend(const AttentionArgs<double>&, int64_t, int64_t);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
