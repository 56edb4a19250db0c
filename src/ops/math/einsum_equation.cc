// SPDX-License-Identifier: Apache-2.0
#include "ops/math/einsum_equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "graph/node_attributes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr char kEllipsis = '.';

// The letters of one side, "..." as one '.'.
std::string Letters(const std::string& equation, std::string_view term) {
  const auto fail = [&] { FailAttribute("equation", fmt::format("\"{}\" is no equation", equation)); };
  std::string letters;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.substr(i, 3) != "..." || letters.find(kEllipsis) != std::string::npos) fail();
      letters += kEllipsis;
      i += 2;
    } else {
      if (std::isalpha(static_cast<unsigned char>(term[i])) == 0) fail();
      letters += term[i];
    }
  }
  return letters;
}

}  // namespace

std::optional<EinsumEquation> ParseEinsum(const std::string& text, std::span<const std::optional<int>> ranks) {
  std::string packed;
  std::ranges::copy_if(text, std::back_inserter(packed), [](char c) { return c != ' '; });
  const std::string_view view = packed;
  const size_t arrow = view.find("->");
  std::vector<std::string> terms;
  for (size_t at = 0; at != std::string_view::npos;) {
    const std::string_view left = view.substr(0, arrow);
    const size_t comma = left.find(',', at);
    terms.push_back(Letters(text, left.substr(at, comma == std::string_view::npos ? comma : comma - at)));
    at = comma == std::string_view::npos ? comma : comma + 1;
  }
  if (terms.size() != ranks.size())
    FailAttribute("equation", fmt::format("\"{}\" has {} operands, the node {}", text, terms.size(), ranks.size()));

  std::vector<int> hidden(terms.size());  // axes "..." stands for
  int most_hidden = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool ellipsis = terms[i].find(kEllipsis) != std::string::npos;
    const int named = static_cast<int>(terms[i].size()) - static_cast<int>(ellipsis);
    if (!ranks[i]) {
      if (ellipsis) return std::nullopt;
      continue;
    }
    hidden[i] = *ranks[i] - named;
    if (hidden[i] < 0 || (!ellipsis && hidden[i] > 0))
      FailAttribute("equation",
                    fmt::format("\"{}\" names {} axes of operand {}, which has rank {}", text, named, i, *ranks[i]));
    most_hidden = std::max(most_hidden, hidden[i]);
  }

  EinsumEquation equation;
  equation.labels = most_hidden;  // those of "..." first, the last one last
  std::map<char, int> label_of;
  std::map<char, int> uses;
  for (size_t i = 0; i < terms.size(); ++i) {
    std::vector<int>& axes = equation.inputs.emplace_back();
    for (const char c : terms[i]) {
      if (c == kEllipsis) {
        for (int k = most_hidden - hidden[i]; k < most_hidden; ++k) axes.push_back(k);
      } else {
        const auto [it, is_new] = label_of.try_emplace(c, equation.labels);
        if (is_new) ++equation.labels;
        axes.push_back(it->second);
        ++uses[c];
      }
    }
  }
  std::string result;
  if (arrow != std::string_view::npos) {
    result = Letters(text, view.substr(arrow + 2));
  } else {
    result = std::string(1, kEllipsis);
    for (const auto& [c, count] : uses)
      if (count == 1) result += c;
  }
  for (const char c : result) {
    if (c == kEllipsis) {
      for (int k = 0; k < most_hidden; ++k) equation.output.push_back(k);
      continue;
    }
    const auto it = label_of.find(c);
    if (it == label_of.end() || std::ranges::count(result, c) > 1)
      FailAttribute("equation", fmt::format("\"{}\": axis {} of the result is not one of an operand, once", text, c));
    equation.output.push_back(it->second);
  }
  return equation;
}

}  // namespace ONNX_LIGHT_NAMESPACE
