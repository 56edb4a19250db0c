// SPDX-License-Identifier: Apache-2.0
// Imputer: elements that equal one value (or are NaN, when that is) become another, one for all or one for each place
// along the last axis. Attributes are the float ones for floats, the int64 ones for integers.
// https://onnx.ai/onnx/operators/onnx_aionnxml_Imputer.html
#include <fmt/format.h>

#include <cmath>

#include "ops/ml/ml_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Types = TypeList<float, double, int64_t, int32_t>;

template <class T, class V>
void Impute(RunContext& ctx, std::string_view name, const std::vector<V>& values, V replaced) {
  const Tensor x = ctx.tensor(0);
  const size_t n = values.size();
  if (n == 0) FailAttribute(name, fmt::format("is required for {}", x.TypeString()));
  const int64_t features = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  if (n != 1 && static_cast<int64_t>(n) != features)
    ctx.FailInput(0, fmt::format("must have {} features, as '{}' has, got {}", n, name, x.TypeString()));
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  const std::span<const T> from = x.View<T>();
  const std::span<T> to = y.MutableView<T>();
  for (size_t i = 0; i < to.size(); ++i) {
    bool is_it = false;
    if constexpr (std::is_floating_point_v<T>) {
      is_it = std::isnan(replaced) ? std::isnan(from[i]) : from[i] == static_cast<T>(replaced);
    } else {
      is_it = static_cast<int64_t>(from[i]) == replaced;
    }
    to[i] = is_it ? static_cast<T>(values[i % n]) : from[i];
  }
}

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  Dispatch(Types(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      Impute<T, float>(ctx, "imputed_value_floats", attrs.Floats("imputed_value_floats"),
                       attrs.Float("replaced_value_float", 0));
    } else {
      Impute<T, int64_t>(ctx, "imputed_value_int64s", attrs.Ints("imputed_value_int64s"),
                         attrs.Int("replaced_value_int64", 0));
    }
  });
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> imputer_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "Imputer",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes, "T"}},
       .outputs = {{"Y", kMlNumberTypes, "T"}},
       .attributes = {{"imputed_value_floats", AttrKind::kFloats},
                      {"imputed_value_int64s", AttrKind::kInts},
                      {"replaced_value_float", AttrKind::kFloat},
                      {"replaced_value_int64", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
