// SPDX-License-Identifier: Apache-2.0
// StringConcat: the text of X followed by that of Y, with broadcasting.
// https://onnx.ai/onnx/operators/onnx__StringConcat.html
#include <string>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct StringConcatFn {
  std::string operator()(const std::string& x, const std::string& y) const { return x + y; }
};
void Run(RunContext& ctx) { RunBinary<StringConcatFn, TypeList<std::string>>(ctx); }

constexpr TypeSet kText{TensorType::kString};

}  // namespace

std::span<const OpDef> string_concat_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "StringConcat",
       .since_version = 20,
       .inputs = {{"X", kText, "T"}, {"Y", kText, "T"}},
       .outputs = {{"Z", kText, "T"}},
       .attributes = {},
       .shape = PlainBroadcastShape,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
