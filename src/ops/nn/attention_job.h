// SPDX-License-Identifier: Apache-2.0
// What attention operators share: heads that lie in tensors of several layouts, and one way to kernels/attention.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/attention/attention.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// Vectors of `dim` numbers for each batch entry, head and position; strides in elements, from `offset` on.
struct HeadsOf {
  Tensor data;
  int64_t batch = 0, heads = 0, length = 0, dim = 0;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0, offset = 0;
};
// Heads side by side in the last axis of [batch, length, heads * dim], beginning `first` elements in.
HeadsOf SideBySide(Tensor data, int64_t heads, int64_t dim, int64_t first = 0);
// An axis of their own: [batch, heads, length, dim].
HeadsOf AsAxis(Tensor data);

struct AttentionJob {
  HeadsOf q, k, v;               // of one element type, float or double
  std::vector<int64_t> offsets;  // [batch]: where query 0 stands among the keys
  std::vector<int64_t> valid;    // [batch]: keys from here on are not seen; empty = all are
  int64_t left = std::numeric_limits<int64_t>::max(), right = std::numeric_limits<int64_t>::max();
  std::optional<float> scale;  // 1 / sqrt(dim) when there is none
  float softcap = 0;
};

// The job for the kernel, without mask and scores; T is the job's element type. The job outlives them.
template <class T>
kernels::AttentionArgs<T> AttentionArgsOf(const AttentionJob& job, kernels::HeadView<T> y) {
  const auto view = [](const HeadsOf& heads) {
    return kernels::HeadView<const T>{heads.data.View<T>().data() + heads.offset, heads.batch_stride, heads.head_stride,
                                      heads.row_stride};
  };
  kernels::AttentionArgs<T> args;
  args.batch = job.q.batch;
  args.q_heads = job.q.heads;
  args.kv_heads = job.k.heads;
  args.q_length = job.q.length;
  args.kv_length = job.k.length;
  args.dim = job.q.dim;
  args.v_dim = job.v.dim;
  args.q = view(job.q);
  args.k = view(job.k);
  args.v = view(job.v);
  args.y = y;
  args.scale = job.scale ? static_cast<T>(*job.scale) : T(1) / std::sqrt(static_cast<T>(job.q.dim));
  args.softcap = static_cast<T>(job.softcap);
  args.offsets = job.offsets.data();
  args.valid = job.valid.empty() ? nullptr : job.valid.data();
  args.left = job.left;
  args.right = job.right;
  return args;
}

template <class T>
void Attend(RunContext& ctx, const kernels::AttentionArgs<T>& args) {
  const int64_t work = std::max<int64_t>(1, args.q_length * args.kv_length * (args.dim + args.v_dim));
  ctx.ParallelFor(args.batch * args.q_heads, std::max<int64_t>(1, 4 * kElementGrain / work),
                  [&](int64_t begin, int64_t end) { kernels::Attend(args, begin, end); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
