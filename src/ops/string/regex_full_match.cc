// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch: whether each text as a whole matches attribute `pattern`, in the syntax of RE2, whose time grows no
// faster than the text. Texts and pattern are UTF-8. https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html
#include <fmt/format.h>
#include <re2/re2.h>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Pattern : OpState {
  Pattern(const std::string& text, const RE2::Options& options) : regex(text, options) {}
  RE2 regex;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  RE2::Options options;
  options.set_log_errors(false);
  const std::string text = ctx.attrs().String("pattern", {});
  auto pattern = std::make_unique<Pattern>(text, options);
  if (!pattern->regex.ok())
    FailAttribute("pattern", fmt::format("\"{}\" is no regular expression: {}", text, pattern->regex.error()));
  return pattern;
}

void Run(RunContext& ctx) {
  const RE2& regex = ctx.state<Pattern>().regex;
  const Tensor x = ctx.tensor(0);
  Tensor& y = ctx.AllocateOutput(0, TensorType::kBool, x.shape());
  const std::span<const std::string> texts = x.View<std::string>();
  const std::span<bool> matches = y.MutableView<bool>();
  ctx.ParallelFor(x.NumElements(), kElementGrain / 1024, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      matches[i] = RE2::FullMatch(texts[i], regex);
  });
}

void ShapeRule(InferScope& scope) { scope.SetTensor(0, TensorType::kBool, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> regex_full_match_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "RegexFullMatch",
       .since_version = 20,
       .inputs = {{"X", {TensorType::kString}}},
       .outputs = {{"Y", kBoolType}},
       .attributes = {{"pattern", AttrKind::kString, true}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
