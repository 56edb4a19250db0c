// SPDX-License-Identifier: Apache-2.0
// What the optimizers of ai.onnx.preview.training share. Inputs: the learning rate R, the count of updates T, then for
// n tensors that are trained n of each kind: the tensors, their gradients, their states. Outputs: the new tensors, then
// the new states, n of each kind. All that belongs to one tensor has its shape and type.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "kernels/optimizer/optimizer.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

// The table's entry; the shape rule is the same for all.
OpDef OptimizerOp(std::string_view type, int states, std::vector<AttrDef> attributes, void (*run)(RunContext&));
// The element of R.
double ReadRate(const RunContext& ctx);
// The element of T.
int64_t ReadCount(const RunContext& ctx);

// What belongs to each tensor: [kind][tensor], kinds being the tensor, its gradient and its states. All but the
// gradients may be written. InvalidArgument for counts, shapes and types that do not go together.
std::vector<std::vector<Tensor>> TakeTrained(RunContext& ctx, int states);

// Updates all tensors, with one of the kernels: make(std::type_identity<T>()) gives it for their element type.
template <int kStates, class Make>
void RunOptimizer(RunContext& ctx, const Make& make) {
  std::vector<std::vector<Tensor>> kinds = TakeTrained(ctx, kStates);
  const size_t n = kinds[0].size();
  for (size_t i = 0; i < n; ++i) {
    Dispatch(TypeList<float, double>(), kinds[0][i].dtype(), [&]<class T>(std::type_identity<T> type) {
      const auto update = make(type);
      const std::span<const T> g = kinds[1][i].View<T>();
      const std::span<T> x = kinds[0][i].MutableView<T>(), first = kinds[2][i].MutableView<T>();
      const std::span<T> second = kinds.back()[i].MutableView<T>();
      ctx.ParallelFor(static_cast<int64_t>(g.size()), kElementGrain / 4, [&](int64_t begin, int64_t end) {
        const auto part = [&](auto whole) {
          return whole.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        };
        if constexpr (kStates == 2) {
          update(part(g), part(x), part(first), part(second));
        } else {
          update(part(g), part(x), part(first));
        }
      });
    });
  }
  kinds.erase(kinds.begin() + 1);
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    for (size_t i = 0; i < n; ++i) ctx.SetOutput(static_cast<int>(kind * n + i), std::move(kinds[kind][i]));
}

}  // namespace ONNX_LIGHT_NAMESPACE
