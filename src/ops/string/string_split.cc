// SPDX-License-Identifier: Apache-2.0
// StringSplit: each text cut at the delimiter, or without one at stretches of white space, which at the ends is
// dropped, at most maxsplit times; the pieces along a new last axis, filled up with empty text, and how many there are.
// https://onnx.ai/onnx/operators/onnx__StringSplit.html
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kSpace = " \t\n\r\f\v";

std::vector<std::string> AtSpace(std::string_view text, int64_t splits) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return pieces;
    text.remove_prefix(begin);
    const size_t end = splits == 0 ? text.size() : text.find_first_of(kSpace);
    pieces.emplace_back(text.substr(0, end));
    if (end >= text.size()) return pieces;
    text.remove_prefix(end);
    --splits;
  }
}

std::vector<std::string> AtDelimiter(std::string_view text, std::string_view delimiter, int64_t splits) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t end = splits == 0 ? std::string_view::npos : text.find(delimiter);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + delimiter.size());
    --splits;
  }
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const std::string delimiter = ctx.attrs().String("delimiter", "");
  const bool limited = ctx.attrs().Has("maxsplit");
  const int64_t splits = limited ? ctx.attrs().Int("maxsplit") : -1;
  if (limited && splits < 0) ctx.Fail("attribute 'maxsplit'", fmt::format("is {}, must not be negative", splits));
  std::vector<std::vector<std::string>> all;
  size_t most = 0;
  for (const std::string& text : x.View<std::string>()) {
    all.push_back(delimiter.empty() ? AtSpace(text, splits) : AtDelimiter(text, delimiter, splits));
    most = std::max(most, all.back().size());
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(most));
  Tensor y(TensorType::kString, std::move(shape)), counts(TensorType::kInt64, x.shape());
  const std::span<std::string> to = y.MutableView<std::string>();
  const std::span<int64_t> count = counts.MutableView<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    count[i] = static_cast<int64_t>(all[i].size());
    std::ranges::move(all[i], to.begin() + static_cast<int64_t>(i * most));
  }
  ctx.SetOutput(0, std::move(y));
  ctx.SetOutput(1, std::move(counts));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  scope.SetTensor(1, TensorType::kInt64, x);
  OptimShape y = x;
  if (!x.IsUnknown()) y.PushBack(scope.Fresh("pieces"));
  scope.SetTensor(0, TensorType::kString, std::move(y));
}

}  // namespace

std::span<const OpDef> string_split_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "StringSplit",
       .since_version = 20,
       .inputs = {{"X", {TensorType::kString}}},
       .outputs = {{"Y", {TensorType::kString}}, {"Z", {TensorType::kInt64}}},
       .attributes = {{"delimiter", AttrKind::kString}, {"maxsplit", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
