// SPDX-License-Identifier: Apache-2.0
#include "ops/random/random_op.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType TypeOf(const NodeAttributes& attrs, TensorType otherwise) {
  if (!attrs.Has("dtype")) return otherwise;
  return onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("dtype")));
}
std::string WrongType(TensorType type) {
  return fmt::format("random numbers cannot be {}", onnx_optim::ToTypeString(type));
}

// a and b: mean and scale, or low and high.
double Draw(RandomBits& bits, Distribution distribution, double a, double b) {
  if (distribution == Distribution::kUniform) return a + (b - a) * bits.NextUnit();
  // Box and Muller's transform; 1 - u is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - bits.NextUnit()));
  return a + b * radius * std::cos(2 * std::numbers::pi * bits.NextUnit());
}

void Fill(RunContext& ctx, Distribution distribution, TensorType type, Shape shape) {
  if (!kFloatTypes.Has(type)) ctx.Fail({}, WrongType(type));
  const bool normal = distribution == Distribution::kNormal;
  const auto a = static_cast<double>(ctx.attrs().Float(normal ? "mean" : "low", 0));
  const auto b = static_cast<double>(ctx.attrs().Float(normal ? "scale" : "high", 1));
  RandomBits bits = MakeRandomBits(ctx);
  Tensor y(type, std::move(shape));
  Dispatch(FloatList(), type, [&]<class T>(std::type_identity<T>) {
    for (T& element : y.MutableView<T>()) element = static_cast<T>(Draw(bits, distribution, a, b));
  });
  ctx.SetOutput(0, std::move(y));
}

std::vector<int64_t> ShapeOf(const NodeAttributes& attrs) {
  std::vector<int64_t> dims = attrs.Ints("shape");
  for (const int64_t d : dims)
    if (d < 0) FailAttribute("shape", fmt::format("{} is no dim", d));
  return dims;
}

template <Distribution kDistribution>
void RunLike(RunContext& ctx) {
  Fill(ctx, kDistribution, TypeOf(ctx.attrs(), ctx.tensor(0).dtype()), ctx.tensor(0).shape());
}
template <Distribution kDistribution>
void RunShaped(RunContext& ctx) {
  Fill(ctx, kDistribution, TypeOf(ctx.attrs(), TensorType::kFloat), Shape(ShapeOf(ctx.attrs())));
}

void LikeShape(InferScope& scope) {
  const TensorType type = TypeOf(scope.attrs(), scope.InputType(0));
  if (type != TensorType::kUndefined && !kFloatTypes.Has(type)) scope.Fail({}, WrongType(type));
  scope.SetTensor(0, type, scope.InputShape(0));
}
void ShapedShape(InferScope& scope) {
  const TensorType type = TypeOf(scope.attrs(), TensorType::kFloat);
  if (!kFloatTypes.Has(type)) scope.Fail({}, WrongType(type));
  scope.SetTensor(0, type, OptimShape(ShapeOf(scope.attrs())));
}

OpDef Common(std::string_view type, Distribution distribution) {
  const bool normal = distribution == Distribution::kNormal;
  return {.domain = "",
          .type = type,
          .since_version = 1,
          .inputs = {},
          .outputs = {{"output", kFloatTypes, "T2"}},
          .attributes = {{"dtype", AttrKind::kInt},
                         {"seed", AttrKind::kFloat},
                         {normal ? "mean" : "low", AttrKind::kFloat},
                         {normal ? "scale" : "high", AttrKind::kFloat}},
          .random = true};
}

}  // namespace

RandomBits MakeRandomBits(RunContext& ctx) {
  return RandomBits(ctx.attrs().Has("seed") ? std::bit_cast<uint32_t>(ctx.attrs().Float("seed", 0)) : ctx.NextSeed());
}

OpDef RandomLikeOp(std::string_view type, Distribution distribution) {
  OpDef op = Common(type, distribution);
  op.inputs = {{"input", kAllTypes, "T1"}};
  op.shape = LikeShape;
  op.run = distribution == Distribution::kNormal ? RunLike<Distribution::kNormal> : RunLike<Distribution::kUniform>;
  return op;
}

OpDef RandomOp(std::string_view type, Distribution distribution) {
  OpDef op = Common(type, distribution);
  op.attributes.push_back({"shape", AttrKind::kInts, true});
  op.shape = ShapedShape;
  op.run = distribution == Distribution::kNormal ? RunShaped<Distribution::kNormal> : RunShaped<Distribution::kUniform>;
  return op;
}

}  // namespace ONNX_LIGHT_NAMESPACE
