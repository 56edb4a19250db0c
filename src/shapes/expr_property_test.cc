// SPDX-License-Identifier: Apache-2.0
// Random expressions, built by operators and evaluated beside plain arithmetic: the canonical form means what was
// written, its text reads back as itself, and proven bounds hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "onnx_optim/optim_dim.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace {

using Env = std::map<std::string, int64_t, std::less<>>;

// What was written, as a tree of its own.
struct Tree {
  char op = '#';  // # number, $ symbol, + - * / (floor) c (ceil) % < (min) > (max) b (broadcast)
  int64_t number = 0;
  std::string name;
  std::vector<Tree> args;
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }

  Tree MakeTree(int depth) {
    Tree tree;
    if (depth == 0 || Below(5) == 0) {
      if (Below(3) == 0) {
        tree.number = Below(13) - 4;
      } else {
        tree.op = '$';
        tree.name = std::string(1, static_cast<char>('A' + Below(3)));
      }
      return tree;
    }
    tree.op = "++--**/c%<>b/"[Below(13)];
    tree.args.push_back(MakeTree(depth - 1));
    tree.args.push_back(MakeTree(depth - 1));
    // Mostly divisions by constants, as models have them.
    if ((tree.op == '/' || tree.op == 'c' || tree.op == '%') && Below(4) != 0)
      tree.args[1] = Tree{'#', Below(7) + 1, "", {}};
    return tree;
  }

 private:
  std::mt19937_64 engine_;
};

OptimDim Build(const Tree& tree) {
  if (tree.op == '#') return tree.number;
  if (tree.op == '$') return OptimDim(tree.name);
  const OptimDim a = Build(tree.args[0]), b = Build(tree.args[1]);
  switch (tree.op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return FloorDiv(a, b);
    case 'c':
      return CeilDiv(a, b);
    case '%':
      return Mod(a, b);
    case '<':
      return Min(a, b);
    case '>':
      return Max(a, b);
    default:
      return Broadcast(a, b);
  }
}

// Nothing where the library promises nothing: divisors below 1, broadcasts of dims that do not fit.
std::optional<int64_t> Plain(const Tree& tree, const Env& env) {
  if (tree.op == '#') return tree.number;
  if (tree.op == '$') return env.find(tree.name)->second;
  const auto a = Plain(tree.args[0], env), b = Plain(tree.args[1], env);
  if (!a || !b) return std::nullopt;
  const auto floor = [](int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0); };
  switch (tree.op) {
    case '+':
      return *a + *b;
    case '-':
      return *a - *b;
    case '*':
      return *a * *b;
    case '/':
      return *b < 1 ? std::nullopt : std::optional(floor(*a, *b));
    case 'c':
      return *b < 1 ? std::nullopt : std::optional(-floor(-*a, *b));
    case '%':
      return *b < 1 ? std::nullopt : std::optional(*a - *b * floor(*a, *b));
    case '<':
      return std::min(*a, *b);
    case '>':
      return std::max(*a, *b);
    default:
      if (*a < 0 || *b < 0 || (*a != *b && *a != 1 && *b != 1)) return std::nullopt;
      return *a == 1 ? *b : *a;
  }
}

TEST(ExprProperty, CanonicalFormMeansWhatWasWritten) {
  const uint64_t seed = 20240611;
  SCOPED_TRACE("seed " + std::to_string(seed) + ": shapes_test --gtest_filter=ExprProperty.*");
  Random random(seed);
  int64_t checked = 0;
  for (int round = 0; round < 4000; ++round) {
    const Tree tree = random.MakeTree(4);
    const OptimDim dim = Build(tree);
    const std::string text = dim.ToString();
    SCOPED_TRACE(text);
    // (A text that names nothing, as 1//0, is no expression.)
    if (!Symbols(dim).empty() && text.find("huge__") == std::string::npos && text.size() < 4000) {
      // Reading bounds the work a text may cause, so only a text of common size must read back.
      const OptimDim again(text);
      if (text.size() < 300) {
        ASSERT_EQ(again, dim) << again;
      }
      if (again == dim) {
        ASSERT_EQ(again.Hash(), dim.Hash());
        ASSERT_EQ(again.ToString(), text);
      }
    }
    const Interval bounds = BoundsOf(dim);
    for (int point = 0; point < 8; ++point) {
      const Env env{{"A", random.Below(9)}, {"B", random.Below(9)}, {"C", random.Below(40)}};
      const auto expected = Plain(tree, env);
      if (!expected) continue;
      const auto lookup = [&](std::string_view name) -> std::optional<int64_t> {
        const auto it = env.find(name);
        return it == env.end() ? std::nullopt : std::optional(it->second);
      };
      const auto actual = Evaluate(dim, lookup);
      if (!actual) {
        ASSERT_NE(text.find("huge__"), std::string::npos)
            << "A=" << env.at("A") << " B=" << env.at("B") << " C=" << env.at("C");
        continue;
      }
      ++checked;
      ASSERT_EQ(*actual, *expected) << "A=" << env.at("A") << " B=" << env.at("B") << " C=" << env.at("C");
      ASSERT_GE(*actual, bounds.lower);
      ASSERT_LE(*actual, bounds.upper);
      // Substituting the numbers is evaluating.
      const OptimDim number =
          Substitute(dim, [&](const std::string& name) -> std::optional<OptimDim> { return env.at(name); });
      if (number.IsInt()) {
        ASSERT_EQ(number.AsInt(), *expected);
      }
    }
  }
  EXPECT_GT(checked, 8000);
}

TEST(ExprProperty, RingLaws) {
  const uint64_t seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 500; ++round) {
    const OptimDim a = Build(random.MakeTree(2)), b = Build(random.MakeTree(2)), c = Build(random.MakeTree(2));
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ(a - a, OptimDim(0));
    ASSERT_EQ(Min(a, b), Min(b, a)) << a << " " << b;
    ASSERT_EQ(Max(a, Max(b, c)), Max(Max(c, a), b)) << a << " " << b << " " << c;
    if (b != OptimDim(0)) {
      const auto quotient = ExactDiv(a * b, b);
      ASSERT_TRUE(quotient.has_value()) << a << " times " << b;
      ASSERT_EQ(*quotient, a);
    }
  }
}

}  // namespace
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
