// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/cell_sums.h"

#include <algorithm>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE::cells {

int Symbols::Intern(Symbol symbol) {
  const auto [it, is_new] = numbers_.emplace(std::move(symbol), static_cast<int>(by_number_.size()));
  if (is_new) by_number_.push_back(&it->first);
  return it->second;
}

void Add(Sum& to, const Sum& sum, double factor) {
  for (const auto& [product, number] : sum) {
    const auto it = to.emplace(product, 0).first;
    it->second += number * factor;
    if (it->second == 0) to.erase(it);
  }
}

Sum Multiply(const Sum& a, const Sum& b) {
  constexpr size_t kMaxTerms = 64, kMaxFactors = 6;
  constexpr const char* kTooMany = "its products have too many factors or terms";
  if (a.size() * b.size() > kMaxTerms) throw NotACell{kTooMany};
  Sum result;
  for (const auto& [left, left_number] : a) {
    for (const auto& [right, right_number] : b) {
      Product both;
      std::ranges::merge(left, right, std::back_inserter(both));
      if (both.size() > kMaxFactors) throw NotACell{kTooMany};
      Add(result, {{std::move(both), left_number * right_number}});
    }
  }
  return result;
}

Product Without(const Product& product, int symbol) {
  Product rest = product;
  rest.erase(std::ranges::find(rest, symbol));
  return rest;
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
