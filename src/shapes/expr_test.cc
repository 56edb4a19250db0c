// SPDX-License-Identifier: Apache-2.0
// The algebra of dims: spelling, reading, normal forms, proofs, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <thread>

#include "onnx_optim/optim_dim.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

const OptimDim N("N"), M("M"), H("H"), W("W"), B("B"), S("S");

std::optional<int64_t> At(const OptimDim& dim, const std::map<std::string, int64_t, std::less<>>& env) {
  return Evaluate(dim, [&](std::string_view name) -> std::optional<int64_t> {
    const auto it = env.find(name);
    return it == env.end() ? std::nullopt : std::optional(it->second);
  });
}

struct Spelling {
  const char* read;
  const char* written;
};

class Spellings : public ::testing::TestWithParam<Spelling> {};

TEST_P(Spellings, ReadAndWritten) {
  const OptimDim dim(GetParam().read);
  EXPECT_EQ(dim.ToString(), GetParam().written);
  if (dim.IsExpr()) {
    EXPECT_EQ(dim.AsExpr(), GetParam().written);
    EXPECT_EQ(OptimDim(dim.AsExpr()), dim);
    EXPECT_EQ(OptimDim(dim.AsExpr()).AsExpr(), dim.AsExpr());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Expr, Spellings,
    ::testing::Values(
        Spelling{"N", "N"}, Spelling{"1+N", "N+1"}, Spelling{"2*N+1", "2*N+1"}, Spelling{"N*2 + 1", "2*N+1"},
        Spelling{"(N-1)//2+1", "(N-1)//2+1"}, Spelling{"max(N-6,0)", "max(N-6,0)"},
        Spelling{"max(0, N-6)", "max(N-6,0)"}, Spelling{"min(S,512)", "min(S,512)"},
        Spelling{"min(512,S)", "min(S,512)"}, Spelling{"broadcast(N,M)", "broadcast(N,M)"},
        Spelling{"bcast(N,M,1)", "broadcast(N,M)"}, Spelling{"bcast(A,B,C)", "broadcast(A,broadcast(B,C))"},
        Spelling{"floor(H*0.3)", "floor(H*0.3)"}, Spelling{"floor(0.3*H)", "floor(H*0.3)"},
        Spelling{"floor((H+1)*0.3)", "floor((H+1)*0.3)"}, Spelling{"floor(2*H*1e-05)", "floor(2*H*1e-05)"},
        Spelling{"N%4", "N-4*(N//4)"}, Spelling{"Mod(N,4)", "N-4*(N//4)"}, Spelling{"ceil(N/3)", "(N+2)//3"},
        Spelling{"ceiling(N/2)", "(N+1)//2"}, Spelling{"floor(N/2 + 1/2)", "(N+1)//2"}, Spelling{"floor(N/2)", "N//2"},
        Spelling{"Max(N,M)", "max(N,M)"}, Spelling{"Min(N, M, 3, 7)", "min(N,M,3)"}, Spelling{"N**2*M", "M*N*N"},
        Spelling{"N**0*M", "M"}, Spelling{"(N+M)*(N-M)", "-M*M+N*N"}, Spelling{"B*S + H", "B*S+H"},
        Spelling{"H + B*S", "B*S+H"}, Spelling{"N-M", "-M+N"}, Spelling{"M-N//4", "M-(N//4)"},
        Spelling{"-N//4", "(-N)//4"}, Spelling{"-(N//4)", "-(N//4)"}, Spelling{"(H//8)*(W//8)", "(H//8)*(W//8)"},
        Spelling{"3*H//2", "3*H//2"}, Spelling{"(T+7)//8*8", "8*((T+7)//8)"},
        Spelling{"(T-400)//160+1", "(T-400)//160+1"}, Spelling{"(H-2)//2+1", "H//2"}, Spelling{"(T+2)//2", "T//2+1"},
        Spelling{"((T-3)//2+1-3)//2+1", "(T-7)//4+1"}, Spelling{"((N-1)//2+1)*3", "3*((N-1)//2)+3"},
        Spelling{"5//N", "5//N"}, Spelling{"N//M", "N//M"}, Spelling{"(N+1)//(M+1)", "(N+1)//(M+1)"},
        Spelling{"(B*S+1)//(B*S)", "(B*S+1)//(B*S)"}, Spelling{"N//0", "N//0"}, Spelling{"s0*2", "2*s0"},
        Spelling{"max", "max"}, Spelling{"min+1", "min+1"}, Spelling{"N-N", "0"}, Spelling{"4*N/2", "2*N"},
        Spelling{"+N", "N"}, Spelling{"--N", "N"}, Spelling{"N*-2", "-2*N"}));

INSTANTIATE_TEST_SUITE_P(
    Names, Spellings,
    ::testing::Values(Spelling{"past length", "past length"}, Spelling{"past length + 1", "past length + 1"},
                      Spelling{"28", "28"}, Spelling{"-1", "-1"}, Spelling{"2*3", "2*3"}, Spelling{"", ""},
                      Spelling{"?", "?"}, Spelling{"2N", "2N"}, Spelling{"a.b", "a.b"}, Spelling{"a::b", "a::b"},
                      Spelling{"N/3", "N/3"}, Spelling{"N/0", "N/0"}, Spelling{"foo(N)", "foo(N)"},
                      Spelling{"N+", "N+"}, Spelling{"(N", "(N"}, Spelling{"N)", "N)"}, Spelling{"N*0.5", "N*0.5"},
                      Spelling{"floor(N,M)", "floor(N,M)"}, Spelling{"ceil(N*0.3)", "ceil(N*0.3)"},
                      Spelling{"min()", "min()"}, Spelling{"Mod(N)", "Mod(N)"}, Spelling{"N**-1", "N**-1"},
                      Spelling{"N**M", "N**M"}, Spelling{"N**1000000000", "N**1000000000"}, Spelling{"N**33", "N**33"},
                      Spelling{"99999999999999999999*N", "99999999999999999999*N"}, Spelling{"it's", "it's"},
                      Spelling{"'past length'+1", "'past length'+1"}, Spelling{"2*'it\\'s'", "2*'it\\'s'"}));

TEST(Expr, OpaqueNameInsideAnExpressionIsQuoted) {
  const OptimDim name("past length");
  EXPECT_EQ((name + 1).AsExpr(), "'past length'+1");
  EXPECT_EQ(OptimDim((name + 1).AsExpr()), name + 1);
  EXPECT_EQ((name + 1 - 1).AsExpr(), "past length");
  EXPECT_EQ(At(2 * name, {{"past length", 7}}), 14);
}

TEST(Expr, EqualFunctionsAreEqual) {
  EXPECT_EQ(N + 1, OptimDim("1+N"));
  EXPECT_EQ(OptimDim("(N-1)//2+1"), OptimDim("(N+1)//2"));
  EXPECT_EQ(OptimDim("(N-1)//3+1"), CeilDiv(N, 3));
  EXPECT_EQ(OptimDim("(N-1)//3+1").Hash(), CeilDiv(N, 3).Hash());
  EXPECT_EQ(Max(N, M), Max(M, N));
  EXPECT_EQ(Broadcast(N, M), Broadcast(M, N));
  EXPECT_EQ(Min(Min(N, M), S), Min(S, Min(M, N)));
  EXPECT_EQ((N + M) * (N + M), N * N + 2 * N * M + M * M);
  EXPECT_NE(N, M);
  EXPECT_NE(N, N + 1);
  EXPECT_NE(OptimDim("28"), OptimDim(28));
  EXPECT_EQ(FloorDiv(FloorDiv(N, 4), 8), FloorDiv(N, 32));
  EXPECT_EQ(FloorDiv(FloorDiv(N, M), S), FloorDiv(N, M * S));
}

TEST(Expr, NormalForms) {
  EXPECT_EQ(N - N, OptimDim(0));
  EXPECT_EQ(N * 0, OptimDim(0));
  EXPECT_EQ(FloorDiv(4 * N + 6, 4).AsExpr(), "N+1");
  EXPECT_EQ(FloorDiv(2 * N + 1, 4).AsExpr(), "N//2");
  EXPECT_EQ(FloorDiv(N, -2).AsExpr(), "(-N)//2");
  EXPECT_EQ(FloorDiv(7, -2), OptimDim(-4));
  EXPECT_EQ(FloorDiv(-7, 2), OptimDim(-4));
  EXPECT_EQ(CeilDiv(7, 2), OptimDim(4));
  EXPECT_EQ(CeilDiv(-7, 2), OptimDim(-3));
  EXPECT_EQ(CeilDiv(7, -2), OptimDim(-3));
  EXPECT_EQ(CeilDiv(6, 2), OptimDim(3));
  EXPECT_EQ(CeilDiv(N, M).AsExpr(), "(M+N-1)//M");
  EXPECT_EQ(CeilDiv(N, OptimDim("s")).AsExpr(), "(N+s-1)//s");
  EXPECT_EQ(CeilDiv(N, M), FloorDiv(N - 1, M) + 1);
  EXPECT_EQ(CeilDiv(N * M, M), N);
  EXPECT_EQ(Mod(7, 4), OptimDim(3));
  EXPECT_EQ(Mod(-7, 4), OptimDim(1));
  EXPECT_EQ(FloorDiv(Mod(N, 4), 4), OptimDim(0));
  EXPECT_EQ(FloorDiv(768 * B * S, B * S), OptimDim(768));
  EXPECT_EQ(FloorDiv(8 * N * H, 4 * N * M).AsExpr(), "2*H//M");
  EXPECT_EQ(FloorDiv(N * M + 1, M).AsExpr(), "1//M+N");
  EXPECT_EQ(FloorDiv(0, M), OptimDim(0));
  EXPECT_EQ(FloorDiv(N, N + 1), OptimDim(0));
  // Padding to a multiple of 8 is a multiple of 8.
  EXPECT_EQ(ExactDiv(N + Mod(-N, 8), 8).has_value(), true);
  EXPECT_EQ(FloorScale(H, 1.5f).AsExpr(), "3*H//2");
  EXPECT_EQ(FloorScale(H, 0.5f).AsExpr(), "H//2");
  EXPECT_EQ(FloorScale(H, 2.0f).AsExpr(), "2*H");
  EXPECT_EQ(FloorScale(H, 0.0f), OptimDim(0));
  EXPECT_EQ(FloorScale(10, 0.3f), OptimDim(3));
  EXPECT_EQ(FloorScale(H, -1.0f).AsExpr().substr(0, 6), "huge__");
}

TEST(Expr, MinMaxDropWhatAnotherBounds) {
  EXPECT_EQ(Min(N, N + 1), N);
  EXPECT_EQ(Max(N, N + 1), N + 1);
  EXPECT_EQ(Max(N, 0), N);
  EXPECT_EQ(Max(N + 3, 2), N + 3);
  EXPECT_EQ(Min(N, FloorDiv(N, 2)), FloorDiv(N, 2));
  EXPECT_EQ(Min(N, Min(N, 5)), Min(N, 5));
  EXPECT_EQ(Min(Min(N, 5), 7), Min(N, 5));
  EXPECT_EQ(Max(Max(N - 6, 0), 0), Max(N - 6, 0));
  EXPECT_EQ(Min(3, 4), OptimDim(3));
  EXPECT_EQ(Max(3, 4), OptimDim(4));
  EXPECT_EQ(Max(N - 1, 0).AsExpr(), "max(N-1,0)");
  EXPECT_EQ(Min(std::vector<OptimDim>{}), OptimDim(0));
  EXPECT_EQ(Min(std::vector<OptimDim>{N}), N);
}

TEST(Expr, Broadcast) {
  EXPECT_EQ(Broadcast(N, 1), N);
  EXPECT_EQ(Broadcast(1, N), N);
  EXPECT_EQ(Broadcast(N, N), N);
  EXPECT_EQ(Broadcast(N, 5), OptimDim(5));
  EXPECT_EQ(Broadcast(0, N), OptimDim(0));
  EXPECT_EQ(Broadcast(1, 1), OptimDim(1));
  EXPECT_EQ(Broadcast(N, M + 2), M + 2);
  EXPECT_EQ(Broadcast(Broadcast(N, M), N), Broadcast(N, M));
  EXPECT_EQ(At(Broadcast(N, M), {{"N", 1}, {"M", 0}}), 0);
  EXPECT_EQ(At(Broadcast(N, M), {{"N", 4}, {"M", 1}}), 4);
  EXPECT_EQ(At(Broadcast(N, M), {{"N", 4}, {"M", 4}}), 4);
  EXPECT_EQ(At(Broadcast(N, M), {{"N", 4}, {"M", 3}}), std::nullopt);
}

TEST(Expr, ExactDivision) {
  EXPECT_EQ(ExactDiv(12, 4), OptimDim(3));
  EXPECT_EQ(ExactDiv(13, 4), std::nullopt);
  EXPECT_EQ(ExactDiv(12, 0), std::nullopt);
  EXPECT_EQ(ExactDiv(N, 0), std::nullopt);
  EXPECT_EQ(ExactDiv(4 * N + 8, 4), N + 2);
  EXPECT_EQ(ExactDiv(4 * N + 7, 4), std::nullopt);
  EXPECT_EQ(ExactDiv(768 * B * S, B * S), OptimDim(768));
  EXPECT_EQ(ExactDiv(N * N - M * M, N - M), N + M);
  EXPECT_EQ(ExactDiv((N + 1) * (M + 2) * (S - 3), (M + 2) * (S - 3)), N + 1);
  EXPECT_EQ(ExactDiv(N * N + 1, N + 1), std::nullopt);
  EXPECT_EQ(ExactDiv(N, M), std::nullopt);
  EXPECT_EQ(ExactDiv(0, N), OptimDim(0));
  EXPECT_EQ(ExactDiv(6, N), std::nullopt);
  EXPECT_EQ(ExactDiv(kMin, -1), std::nullopt);
  EXPECT_EQ(ExactDiv(kMin * N, -1), std::nullopt);
}

TEST(Expr, SymbolsAndSubstitution) {
  const OptimDim dim = FloorDiv(N + 1, M) + Max(S, N) * H + FloorScale(W, 0.3f);
  EXPECT_THAT(Symbols(dim), ElementsAre("H", "M", "N", "S", "W"));
  EXPECT_THAT(Symbols(7), ElementsAre());
  EXPECT_TRUE(Mentions(dim, "W"));
  EXPECT_FALSE(Mentions(dim, "B"));
  EXPECT_EQ(Substitute(dim, "B", 3), dim);
  EXPECT_EQ(Substitute(dim, "N", M - 1), 1 + Max(S, M - 1) * H + FloorScale(W, 0.3f));
  EXPECT_EQ(Substitute(OptimDim("(N-1)//2+1"), "N", H).AsExpr(), "(H-1)//2+1");
  EXPECT_EQ(Substitute(OptimDim("(N-1)//2+1"), "N", 7), OptimDim(4));
  EXPECT_EQ(Substitute(FloorScale(W, 0.3f), "W", 10), OptimDim(3));
  EXPECT_EQ(Substitute(Broadcast(N, M), "N", 1), M);
  // Both at once.
  EXPECT_EQ(
      Substitute(N + 2 * M,
                 [](const std::string& name) { return std::optional(name == "N" ? OptimDim("M") : OptimDim("N")); }),
      M + 2 * N);
  ASSERT_NE(SymbolName(N), nullptr);
  EXPECT_EQ(*SymbolName(N), "N");
  EXPECT_EQ(SymbolName(N + 1), nullptr);
  EXPECT_EQ(SymbolName(2 * N), nullptr);
  EXPECT_EQ(SymbolName(5), nullptr);
  EXPECT_TRUE(IsFresh(OptimDim("unk__3")));
  EXPECT_FALSE(IsFresh(OptimDim("unk__3") + 1));
  EXPECT_TRUE(MentionsFresh(OptimDim("unk__3") + N));
  EXPECT_FALSE(IsFresh(N));
}

TEST(Expr, Evaluation) {
  EXPECT_EQ(At(OptimDim("(N-1)//2+1"), {{"N", 7}}), 4);
  EXPECT_EQ(At(OptimDim("(N-1)//2+1"), {{"N", 0}}), 0);
  EXPECT_EQ(At(N, {}), std::nullopt);
  EXPECT_EQ(At(5, {}), 5);
  EXPECT_EQ(At(FloorDiv(N, M), {{"N", 7}, {"M", 0}}), std::nullopt);
  EXPECT_EQ(At(FloorDiv(N, M), {{"N", kMin}, {"M", -1}}), std::nullopt);
  EXPECT_EQ(At(N * N, {{"N", kMax}}), std::nullopt);
  EXPECT_EQ(At(N + 1, {{"N", kMax}}), std::nullopt);
  EXPECT_EQ(At(FloorScale(H, 0.3f), {{"H", 100}}), 30);
  EXPECT_EQ(At(Min(N, M), {{"N", 3}, {"M", -2}}), -2);
}

TEST(Expr, Bounds) {
  EXPECT_EQ(BoundsOf(N), (Interval{0, kMax}));
  EXPECT_EQ(BoundsOf(5), (Interval{5, 5}));
  EXPECT_EQ(BoundsOf(2 * N + 3), (Interval{3, kMax}));
  EXPECT_EQ(BoundsOf(-N), (Interval{kMin, 0}));
  EXPECT_EQ(BoundsOf(Min(N, 5)), (Interval{0, 5}));
  EXPECT_EQ(BoundsOf(Max(N - 6, 0)), (Interval{0, kMax}));
  EXPECT_EQ(BoundsOf(Mod(N, 4)), (Interval{0, 3}));
  EXPECT_EQ(LowerBound(N - M), std::nullopt);
  EXPECT_EQ(UpperBound(N), std::nullopt);
  EXPECT_EQ(UpperBound(Min(N, 5) + 2), 7);
  const SymbolBounds small = [](std::string_view name) { return name == "N" ? Interval{1, 10} : Interval{0, kMax}; };
  EXPECT_EQ(BoundsOf(3 * N - 1, small), (Interval{2, 29}));
  EXPECT_EQ(BoundsOf(FloorDiv(N, 3), small), (Interval{0, 3}));
  EXPECT_EQ(BoundsOf(N * N, small), (Interval{1, 100}));
  EXPECT_EQ(BoundsOf(Broadcast(N, M), small).lower, 0);
  EXPECT_TRUE(IsProvablyGreaterEqual(N, Min(N, 5)));
  EXPECT_TRUE(IsProvablyGreaterEqual(Max(N, M), N));
  EXPECT_TRUE(IsProvablyGreaterEqual(N, FloorDiv(N, 2)));
  EXPECT_TRUE(IsProvablyGreaterEqual(N + 1, FloorDiv(N, 2) + FloorDiv(N + 1, 2)));
  EXPECT_TRUE(IsProvablyGreaterEqual(FloorDiv(N + 7, 8) * 8, N));
  EXPECT_TRUE(IsProvablyGreaterEqual(Max(N - 6, 0), N - 6));
  EXPECT_FALSE(IsProvablyGreaterEqual(N, M));
  EXPECT_FALSE(IsProvablyGreaterEqual(N - 1, 0));
  EXPECT_TRUE(IsProvablyGreaterEqual(N - 1, 0, small));
  EXPECT_EQ(BoundsOf(FloorDiv(N, M)).lower, 0);
}

TEST(Expr, OverflowIsAnOpaqueName) {
  const OptimDim sum = OptimDim(kMax) + 1;
  EXPECT_TRUE(sum.IsExpr());
  EXPECT_THAT(sum.AsExpr(), StartsWith("huge__"));
  EXPECT_EQ(sum, OptimDim(1) + kMax);
  EXPECT_NE(sum, OptimDim(kMax) + 2);
  EXPECT_EQ(At(sum, {}), std::nullopt);
  EXPECT_EQ(LowerBound(sum), std::nullopt);
  EXPECT_THAT((kMax * N + N).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT((kMax * N * 2).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT((OptimDim(kMin) - 1).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT((-OptimDim(kMin)).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT((-(kMin * N)).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT(FloorDiv(N, kMin).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT(FloorDiv(kMin, -1).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT(CeilDiv(N, kMin).AsExpr(), StartsWith("huge__"));
  // An author's text that does not fit is that author's name.
  EXPECT_EQ(OptimDim("9223372036854775807*N+N").AsExpr(), "9223372036854775807*N+N");
}

TEST(Expr, SizesAreBounded) {
  OptimDim power = N;
  for (int i = 0; i < 40; ++i) power *= N;
  EXPECT_THAT(power.AsExpr(), HasSubstr("huge__"));
  OptimDim nested = N;
  for (int i = 0; i < 200; ++i) nested = FloorDiv(nested + M, 3) + S;
  EXPECT_LE(nested.ToString().size(), 40000u);
  OptimDim doubling = N;
  for (int i = 0; i < 60; ++i) doubling = Max(doubling * M, doubling + S);
  EXPECT_LE(doubling.ToString().size(), 40000u);
  std::vector<OptimDim> many;
  for (int i = 0; i < 3000; ++i) many.push_back(OptimDim("x" + std::to_string(i)));
  EXPECT_THAT(Sum(many).AsExpr(), HasSubstr("huge__"));
  EXPECT_EQ(Symbols(Sum(std::span(many).first(1000))).size(), 1000u);
  EXPECT_THAT(Min(many).AsExpr(), StartsWith("huge__"));
  EXPECT_THAT(Broadcast(many).AsExpr(), StartsWith("huge__"));
  EXPECT_EQ(Min(many), Min(many));
}

TEST(Expr, HostileTextsAreNames) {
  const std::string parens = std::string(10000, '(') + "N" + std::string(10000, ')');
  EXPECT_EQ(OptimDim(parens).AsExpr(), parens);
  const std::string nested = std::string(1000, '(') + "N" + std::string(1000, ')');
  EXPECT_EQ(OptimDim(nested).AsExpr(), nested);
  const std::string calls = [] {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "min(N,";
    return text + "1" + std::string(500, ')');
  }();
  EXPECT_EQ(OptimDim(calls).AsExpr(), calls);
  const std::string minuses = std::string(4000, '-') + "N";
  EXPECT_EQ(OptimDim(minuses), N);
  const std::string exponent = "N**" + std::string(100000, '9');
  EXPECT_EQ(OptimDim(exponent).AsExpr(), exponent);
  std::string powers = "N";
  for (int i = 0; i < 300; ++i) powers += "**2";
  EXPECT_EQ(OptimDim(powers).AsExpr(), powers);
  std::string product = "(a+b+c+d+e)";
  for (int i = 0; i < 300; ++i) product += "*(a+b+c+d+e)";
  EXPECT_EQ(OptimDim(product).AsExpr(), product);
  std::string sums = "(a+b+c+d)**20";
  for (int i = 0; i < 250; ++i) sums += "+(a+b+c+d)**20";
  EXPECT_EQ(OptimDim(sums).AsExpr(), sums);
  const std::string bytes("\xff\x00\x80'\\", 5);
  EXPECT_EQ(OptimDim(bytes).AsExpr(), bytes);
  EXPECT_NE(OptimDim(bytes), OptimDim(bytes + "x"));
  EXPECT_EQ(OptimDim(bytes) + 1, 1 + OptimDim(bytes));
  const std::string long_name(1000000, 'x');
  EXPECT_EQ(OptimDim(long_name).AsExpr(), long_name);
  EXPECT_EQ(OptimDim(long_name) + 1 - 1, OptimDim(long_name));
  EXPECT_NE(OptimDim(long_name), OptimDim(long_name + "x"));
}

TEST(Expr, AddingToASymbolIsCheap) {
  OptimDim dim = N;
  for (int i = 0; i < 1000000; ++i) dim += 1;
  EXPECT_EQ(dim.AsExpr(), "N+1000000");
}

TEST(Expr, ParamsAreExpressionsOverKnownSymbolsOnly) {
  const auto known = [](std::string_view name) { return name == "a" || name == "b"; };
  EXPECT_EQ(DimFromParam("a-b", known), OptimDim("a") - OptimDim("b"));
  EXPECT_EQ(DimFromParam("a-c", known).AsExpr(), "a-c");
  EXPECT_NE(DimFromParam("a-c", known), OptimDim("a-c"));
  EXPECT_EQ(DimFromParam("c", known), OptimDim("c"));
  EXPECT_EQ(DimFromParam("28", known).AsExpr(), "28");
  EXPECT_EQ(DimFromParam("2*a", known), 2 * OptimDim("a"));
  EXPECT_EQ((DimFromParam("a-c", known) + 1).AsExpr(), "'a-c'+1");
}

TEST(Expr, CopiesMayBeUsedByThreads) {
  const OptimDim shared = FloorDiv(N + M, 3) * S;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 2000; ++i) {
        OptimDim copy = shared;
        copy += i;
        EXPECT_TRUE(copy.IsExpr());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared, FloorDiv(N + M, 3) * S);
}

}  // namespace
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
