// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: the texts of a vector, or of the one row of a matrix, that are no stopwords, in lower or upper case
// where asked. One empty text when none is left. Case is known of ASCII letters alone: where it matters, others are
// refused. https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum class Case { kNone, kLower, kUpper };

Case ReadCase(const NodeAttributes& attrs) {
  const std::string action = attrs.String("case_change_action", "NONE");
  if (action == "NONE") return Case::kNone;
  if (action == "LOWER") return Case::kLower;
  if (action != "UPPER")
    FailAttribute("case_change_action", fmt::format("is \"{}\", must be NONE, LOWER or UPPER", action));
  return Case::kUpper;
}

std::string Cased(std::string text, Case to) {
  for (char& c : text) {
    if (to == Case::kLower && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (to == Case::kUpper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

bool IsAscii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; });
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() != 1 && !(x.rank() == 2 && x.dim(0) == 1))
    ctx.FailInput(0, fmt::format("must be a vector or a matrix of one row, got {}", x.TypeString()));
  const Case action = ReadCase(ctx.attrs());
  std::vector<std::string> stopwords = ctx.attrs().Strings("stopwords");
  const bool ignores_case = ctx.attrs().Int("is_case_sensitive", 0) == 0 && !stopwords.empty();
  if (ignores_case)
    for (std::string& word : stopwords) word = Cased(std::move(word), Case::kLower);
  std::vector<std::string> kept;
  size_t i = 0;
  for (const std::string& text : x.View<std::string>()) {
    if ((ignores_case || action != Case::kNone) && !IsAscii(text))
      ctx.FailInput(0, fmt::format("element {} has letters beyond ASCII, whose case is not known", i));
    ++i;
    const std::string word = ignores_case ? Cased(text, Case::kLower) : text;
    if (std::ranges::find(stopwords, word) == stopwords.end()) kept.push_back(Cased(text, action));
  }
  if (kept.empty()) kept.emplace_back();
  const auto n = static_cast<int64_t>(kept.size());
  Tensor& y = ctx.AllocateOutput(0, TensorType::kString, x.rank() == 1 ? Shape{n} : Shape{1, n});
  std::ranges::move(kept, y.MutableView<std::string>().begin());
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown()) return scope.SetTensor(0, TensorType::kString, x);
  if (x.Rank() != 1 && x.Rank() != 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must be a vector or a matrix of one row, got {}", InferScope::Describe(scope.Input(0))));
  const OptimDim kept = scope.context().FreshDim("kept", 1, onnx_optim::Max(x[x.Rank() - 1], OptimDim(1)));
  scope.SetTensor(0, TensorType::kString, x.Rank() == 1 ? OptimShape{kept} : OptimShape{OptimDim(1), kept});
}

}  // namespace

std::span<const OpDef> string_normalizer_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "StringNormalizer",
       .since_version = 10,
       .inputs = {{"X", {TensorType::kString}}},
       .outputs = {{"Y", {TensorType::kString}}},
       .attributes = {{"case_change_action", AttrKind::kString},
                      {"is_case_sensitive", AttrKind::kInt},
                      {"locale", AttrKind::kString},
                      {"stopwords", AttrKind::kStrings}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
