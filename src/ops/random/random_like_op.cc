// SPDX-License-Identifier: Apache-2.0
#include "ops/random/random_like_op.h"

#include <fmt/format.h>

#include <bit>

#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType TypeOf(const NodeAttributes& attrs, TensorType input) {
  return attrs.Has("dtype") ? onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("dtype"))) : input;
}
std::string WrongType(TensorType type) {
  return fmt::format("random numbers cannot be {}", onnx_optim::ToTypeString(type));
}

}  // namespace

void RunRandomLike(RunContext& ctx, double (*draw)(RandomBits&, const void*), const void* data) {
  const TensorType type = TypeOf(ctx.attrs(), ctx.tensor(0).dtype());
  if (!kFloatTypes.Has(type)) ctx.Fail({}, WrongType(type));
  const bool seeded = ctx.attrs().Has("seed");
  RandomBits bits(seeded ? std::bit_cast<uint32_t>(ctx.attrs().Float("seed", 0)) : ctx.NextSeed());
  Tensor y(type, ctx.tensor(0).shape());
  Dispatch(FloatList(), type, [&]<class T>(std::type_identity<T>) {
    for (T& element : y.MutableView<T>()) element = static_cast<T>(draw(bits, data));
  });
  ctx.SetOutput(0, std::move(y));
}

void RandomLikeShape(InferScope& scope) {
  const TensorType type = TypeOf(scope.attrs(), scope.InputType(0));
  if (type != TensorType::kUndefined && !kFloatTypes.Has(type)) scope.Fail({}, WrongType(type));
  scope.SetTensor(0, type, scope.InputShape(0));
}

OpDef RandomLikeOp(std::string_view type, std::string_view first, std::string_view second, void (*run)(RunContext&)) {
  return {.domain = "",
          .type = type,
          .since_version = 1,
          .inputs = {{"input", kAllTypes, "T1"}},
          .outputs = {{"output", kFloatTypes, "T2"}},
          .attributes = {{"dtype", AttrKind::kInt},
                         {"seed", AttrKind::kFloat},
                         {first, AttrKind::kFloat},
                         {second, AttrKind::kFloat}},
          .shape = RandomLikeShape,
          .run = run,
          .random = true};
}

}  // namespace ONNX_LIGHT_NAMESPACE
