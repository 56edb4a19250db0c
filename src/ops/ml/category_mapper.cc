// SPDX-License-Identifier: Apache-2.0
// CategoryMapper: texts to the integers of the same places, or integers to texts; the default where there is none, the
// first of equal ones counts.
// https://onnx.ai/onnx/operators/onnx_aionnxml_CategoryMapper.html
#include <unordered_map>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class From, class To>
void Replace(RunContext& ctx, const std::vector<From>& from, const std::vector<To>& to, const To& otherwise) {
  const Tensor x = ctx.tensor(0);
  std::unordered_map<From, size_t> place_of;
  for (size_t i = 0; i < from.size(); ++i) place_of.try_emplace(from[i], i);
  Tensor& y = ctx.AllocateOutput(0, kTensorTypeOf<To>, x.shape());
  To* out = y.MutableView<To>().data();
  for (const From& element : x.View<From>()) {
    const auto found = place_of.find(element);
    *out++ = found == place_of.end() ? otherwise : to[found->second];
  }
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  CheckSameSize("cats_int64s", ctx.attrs().Ints("cats_int64s").size(), "cats_strings",
                ctx.attrs().Strings("cats_strings").size());
  return nullptr;
}

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  const std::vector<int64_t> numbers = attrs.Ints("cats_int64s");
  const std::vector<std::string> texts = attrs.Strings("cats_strings");
  if (ctx.tensor(0).dtype() == TensorType::kString) {
    Replace<std::string, int64_t>(ctx, texts, numbers, attrs.Int("default_int64", -1));
  } else {
    Replace<int64_t, std::string>(ctx, numbers, texts, attrs.String("default_string", "_Unused"));
  }
}

void ShapeRule(InferScope& scope) {
  const TensorType x = scope.InputType(0);
  const TensorType y = x == TensorType::kString  ? TensorType::kInt64
                       : x == TensorType::kInt64 ? TensorType::kString
                                                 : TensorType::kUndefined;
  scope.SetTensor(0, y, scope.InputShape(0));
}

}  // namespace

std::span<const OpDef> category_mapper_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "CategoryMapper",
       .since_version = 1,
       .inputs = {{"X", kMlLabelTypes}},
       .outputs = {{"Y", kMlLabelTypes}},
       .attributes = {{"cats_int64s", AttrKind::kInts},
                      {"cats_strings", AttrKind::kStrings},
                      {"default_int64", AttrKind::kInt},
                      {"default_string", AttrKind::kString}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
