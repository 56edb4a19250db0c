// SPDX-License-Identifier: Apache-2.0
#include "base/stop_token.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/thread_team.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Clock = StopToken::Clock;

TEST(StopTokenTest, NothingToStopIt) {
  const std::function<bool()> empty;
  StopToken token(nullptr, std::nullopt, &empty);
  EXPECT_TRUE(token.idle());
  EXPECT_FALSE(token.Requested());
  EXPECT_FALSE(StopRequested()) << "no token";
}

TEST(StopTokenTest, StaysStoppedForTheFirstReason) {
  std::atomic<bool> cancel{false};
  StopToken token(&cancel, std::nullopt, nullptr);
  EXPECT_FALSE(token.idle());
  EXPECT_FALSE(token.Requested());
  cancel = true;
  EXPECT_TRUE(token.Requested());
  cancel = false;
  EXPECT_TRUE(token.Requested());
  EXPECT_EQ(token.reason(), StopToken::Reason::kCancelled);
}

TEST(StopTokenTest, DeadlineByBothClocks) {
  StopToken past(nullptr, Clock::now() - std::chrono::nanoseconds(1), nullptr);
  EXPECT_TRUE(past.RequestedNow());
  EXPECT_EQ(past.reason(), StopToken::Reason::kDeadline);
  StopToken coarse(nullptr, Clock::now(), nullptr);
  const auto begin = Clock::now();
  while (!coarse.Requested() && Clock::now() - begin < std::chrono::seconds(5)) std::this_thread::yield();
  EXPECT_TRUE(coarse.Requested());
  StopToken later(nullptr, Clock::now() + std::chrono::hours(1), nullptr);
  EXPECT_FALSE(later.Requested());
  EXPECT_FALSE(later.RequestedNow());
}

TEST(StopTokenTest, PollsOnItsOwnThreadNowAndThen) {
  int polls = 0;
  const std::function<bool()> poll = [&] { return ++polls == 3; };
  StopToken token(nullptr, std::nullopt, &poll);
  EXPECT_FALSE(token.Requested());
  EXPECT_EQ(polls, 0) << "too early";
  std::thread([&] {
    std::this_thread::sleep_for(2 * StopToken::kPollEvery);
    EXPECT_FALSE(token.Requested());
  }).join();
  EXPECT_EQ(polls, 0) << "another thread";
  const auto begin = Clock::now();
  while (!token.Requested() && Clock::now() - begin < std::chrono::seconds(10)) std::this_thread::yield();
  EXPECT_EQ(polls, 3);
  EXPECT_GE(Clock::now() - begin, StopToken::kPollEvery);
  EXPECT_EQ(token.reason(), StopToken::Reason::kCancelled);
}

TEST(StopTokenTest, ScopesNest) {
  std::atomic<bool> cancel{true};
  StopToken token(&cancel, std::nullopt, nullptr);
  const StopScope outer(&token);
  EXPECT_TRUE(StopRequested());
  {
    const StopScope inner(nullptr);
    EXPECT_FALSE(StopRequested());
  }
  EXPECT_EQ(CurrentStop(), &token);
}

TEST(StopTokenTest, ParallelForBeginsNoFurtherPiece) {
  for (const int threads : {1, 2, 4}) {
    ThreadTeam team(threads);
    std::atomic<bool> cancel{false};
    StopToken token(&cancel, std::nullopt, nullptr);
    const StopScope scope(&token);
    std::atomic<int> pieces{0};
    team.ParallelFor(1000, 1, [&](int64_t, int64_t) {
      EXPECT_EQ(CurrentStop(), &token) << "workers have it too";
      if (++pieces == 10) cancel = true;
    });
    EXPECT_GE(pieces, 10);
    EXPECT_LE(pieces, 10 + threads) << "pieces that had begun end";
    std::atomic<int> members{0};
    team.Gang(threads, [&](int, int) { members += CurrentStop() == &token ? 1 : 100; });
    EXPECT_LE(members, threads);
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
