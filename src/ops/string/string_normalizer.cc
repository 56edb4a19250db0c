// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: the texts of a vector, or of the one row of a matrix, that are no stopwords, in lower or upper case
// where asked. One empty text when none is left. Case is Unicode's, letter by letter (sharp s has no capital);
// attribute `locale` matters in Turkish and Azerbaijani alone, whose i and I are letters of two pairs.
// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
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

constexpr utf8proc_int32_t kDottedCapital = 0x130, kDotlessSmall = 0x131, kSharpS = 0xdf;

// The letter's other form. `dotted`: i and I are two letters, with the dot and without.
utf8proc_int32_t CasedLetter(utf8proc_int32_t letter, Case to, bool dotted) {
  if (dotted && to == Case::kLower && letter == 'I') return kDotlessSmall;
  if (dotted && to == Case::kUpper && letter == 'i') return kDottedCapital;
  if (letter == kSharpS) return letter;  // Unicode's capital of it is two letters, utf8proc's a rare one
  return to == Case::kLower ? utf8proc_tolower(letter) : utf8proc_toupper(letter);
}

// False when the text is not UTF-8.
bool ChangeCase(std::string& text, Case to, bool dotted) {
  std::string changed;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_uint8_t* const end = at + text.size();
  while (at != end) {
    utf8proc_int32_t letter;
    const utf8proc_ssize_t size = utf8proc_iterate(at, end - at, &letter);
    if (size <= 0) return false;
    at += size;
    std::array<utf8proc_uint8_t, 4> bytes;
    const utf8proc_ssize_t written = utf8proc_encode_char(CasedLetter(letter, to, dotted), bytes.data());
    changed.append(bytes.begin(), bytes.begin() + written);
  }
  text = std::move(changed);
  return true;
}

// "tr_TR.UTF-8", "az": by the language alone.
bool HasDottedLetters(std::string_view locale) {
  const std::string_view language = locale.substr(0, locale.find_first_of("_-.@"));
  return language == "tr" || language == "az";
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() != 1 && !(x.rank() == 2 && x.dim(0) == 1))
    ctx.FailInput(0, fmt::format("must be a vector or a matrix of one row, got {}", x.TypeString()));
  const Case action = ReadCase(ctx.attrs());
  std::vector<std::string> stopwords = ctx.attrs().Strings("stopwords");
  const bool ignores_case = ctx.attrs().Int("is_case_sensitive", 0) == 0 && !stopwords.empty();
  const bool dotted = HasDottedLetters(ctx.attrs().String("locale", "en_US"));
  for (std::string& word : stopwords)
    if (ignores_case && !ChangeCase(word, Case::kLower, dotted))
      ctx.Fail("attribute 'stopwords'", fmt::format("element {} is not UTF-8", &word - stopwords.data()));
  std::vector<std::string> kept;
  const std::span<const std::string> texts = x.View<std::string>();
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto changed = [&](Case to) {
      std::string text = texts[i];
      if (to != Case::kNone && !ChangeCase(text, to, dotted))
        ctx.FailInput(0, fmt::format("element {} is not UTF-8", i));
      return text;
    };
    if (std::ranges::find(stopwords, changed(ignores_case ? Case::kLower : Case::kNone)) == stopwords.end())
      kept.push_back(changed(action));
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
