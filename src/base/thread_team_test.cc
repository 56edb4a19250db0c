// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "base/cpu_features.h"
#include "base/cpu_quota.h"
#include "onnxseq/errors.h"

#if defined(__SANITIZE_THREAD__)
#define ONNXSEQ_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONNXSEQ_TSAN 1
#endif
#endif

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Pieces = std::vector<std::pair<int64_t, int64_t>>;

Pieces PiecesOf(ThreadTeam& team, int64_t n, int64_t grain, int max_threads = 0) {
  std::mutex mutex;
  Pieces pieces;
  team.ParallelFor(
      n, grain,
      [&](int64_t begin, int64_t end) {
        const std::lock_guard lock(mutex);
        pieces.emplace_back(begin, end);
      },
      max_threads);
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

TEST(ThreadTeam, SignalsOfTheProgramAreNotForWorkers) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ThreadTeam team(3);
  std::atomic<int> open{0}, closed_to_faults{0}, unnamed{0};
  team.Gang(3, [&](int rank, int size) {
    EXPECT_EQ(size, 3);
    if (rank == 0) return;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM}) open += 1 - sigismember(&mask, signal);
    for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGPROF}) closed_to_faults += sigismember(&mask, signal);
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    unnamed += std::string_view(name) != "onnxseq";
  });
  EXPECT_EQ(open, 0);
  EXPECT_EQ(closed_to_faults, 0);
  EXPECT_EQ(unnamed, 0);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal));
}

TEST(ThreadTeam, PiecesDependOnSizesOnly) {
  ThreadTeam one(1), four(4);
  for (const int64_t n : {0, 1, 2, 3, 7, 8, 9, 100})
    for (const int64_t grain : {1, 3, 8, 1000}) {
      Pieces expected;
      for (int64_t i = 0; i < n; i += grain) expected.emplace_back(i, std::min(n, i + grain));
      EXPECT_EQ(PiecesOf(one, n, grain), expected) << n << " by " << grain;
      EXPECT_EQ(PiecesOf(four, n, grain), expected) << n << " by " << grain;
      EXPECT_EQ(PiecesOf(four, n, grain, 2), expected) << n << " by " << grain;
    }
  EXPECT_EQ(PiecesOf(one, -3, 1), Pieces());
  EXPECT_EQ(PiecesOf(one, 2, 0), (Pieces{{0, 1}, {1, 2}})) << "a grain below one is one";
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(PiecesOf(four, kMost, kMost / 2), (Pieces{{0, kMost / 2}, {kMost / 2, kMost - 1}, {kMost - 1, kMost}}));
}

TEST(ThreadTeam, OneThreadStaysOnTheCaller) {
  ThreadTeam team(1);
  EXPECT_EQ(team.threads(), 1);
  std::set<std::thread::id> ids;
  team.ParallelFor(50, 1, [&](int64_t, int64_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
  int size_seen = 0;
  team.Gang(8, [&](int rank, int size) {
    EXPECT_EQ(rank, 0);
    size_seen = size;
  });
  EXPECT_EQ(size_seen, 1);
}

TEST(ThreadTeam, ManySmallCalls) {
  ThreadTeam team(3);
  int64_t expected = 0;
  std::atomic<int64_t> sum{0};
  for (int64_t call = 0; call < 3000; ++call) {
    team.ParallelFor(call % 7, 1, [&](int64_t begin, int64_t) { sum += begin + 1; });
    expected += (call % 7) * (call % 7 + 1) / 2;
  }
  EXPECT_EQ(sum, expected);
}

TEST(ThreadTeam, NestedCallsRunInline) {
  ThreadTeam team(4);
  std::atomic<int64_t> sum{0}, moved{0};
  team.ParallelFor(8, 1, [&](int64_t, int64_t) {
    const auto here = std::this_thread::get_id();
    team.ParallelFor(10, 1, [&](int64_t begin, int64_t) {
      sum += begin;
      moved += std::this_thread::get_id() != here;
    });
    team.Gang(4, [&](int, int size) { moved += size - 1; });
  });
  EXPECT_EQ(sum, 8 * 45);
  EXPECT_EQ(moved, 0);
}

TEST(ThreadTeam, ExceptionOfTheSmallestPiece) {
  ThreadTeam team(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::atomic<int> begun{0};
    try {
      team.ParallelFor(1000, 1, [&](int64_t begin, int64_t) {
        ++begun;
        if (begin >= 5) throw std::runtime_error("piece " + std::to_string(begin));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "piece 5");
    }
    EXPECT_LT(begun, 1000) << "pieces went on after the failure";
  }
  std::atomic<int> after{0};
  team.ParallelFor(10, 1, [&](int64_t, int64_t) { ++after; });
  EXPECT_EQ(after, 10) << "the team works on after an exception";
}

TEST(ThreadTeam, ExceptionInlineStopsTheRest) {
  ThreadTeam team(1);
  int begun = 0;
  EXPECT_THROW(team.ParallelFor(9, 1,
                                [&](int64_t begin, int64_t) {
                                  ++begun;
                                  if (begin == 3) throw std::runtime_error("stop");
                                }),
               std::runtime_error);
  EXPECT_EQ(begun, 4);
}

TEST(ThreadTeam, GangRunsAtTheSameTime) {
  ThreadTeam team(4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> arrived{0};
    std::atomic<uint32_t> ranks{0};
    int granted = 0;
    team.Gang(3, [&](int rank, int size) {
      if (rank == 0) granted = size;
      ranks |= 1u << rank;
      ++arrived;
      while (arrived < size) std::this_thread::yield();  // hangs unless all are running
    });
    EXPECT_EQ(granted, 3) << "an idle team of four grants three";
    EXPECT_EQ(ranks, 7u);
  }
}

TEST(ThreadTeam, GangGetsOnlyWhoIsFree) {
  ThreadTeam team(3);
  std::atomic<bool> holding{false}, release{false};
  std::thread other([&] {
    team.Gang(2, [&](int rank, int) {
      if (rank == 0) holding = true;
      while (!release) std::this_thread::yield();
    });
  });
  while (!holding) std::this_thread::yield();
  int granted = 0;
  team.Gang(3, [&](int rank, int size) {
    if (rank == 0) granted = size;
  });
  EXPECT_EQ(granted, 2) << "one of two workers is held elsewhere";
  release = true;
  other.join();
}

TEST(ThreadTeam, EightCallersAtOnce) {
  ThreadTeam team(3);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(8, 0);
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([&team, &sums, c] {
      for (int repeat = 0; repeat < 300; ++repeat) {
        std::atomic<int64_t> sum{0};
        team.ParallelFor(20, 1, [&](int64_t begin, int64_t) { sum += begin; });
        std::atomic<int> arrived{0};
        team.Gang(2, [&](int, int size) {
          ++arrived;
          while (arrived < size) std::this_thread::yield();
        });
        sums[c] += sum;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<int64_t>(8, 300 * 190));
}

TEST(ThreadTeam, WorkersTakeTheCallersDenormalMode) {
  ThreadTeam team(2);
  for (const bool flush : {true, false, true}) {
    const DenormalScope scope(flush);
    const uint32_t mine = DenormalBits();
    std::atomic<int> differing{0};
    team.Gang(2, [&](int, int) { differing += DenormalBits() != mine; });
    EXPECT_EQ(differing, 0);
  }
}

TEST(ThreadTeam, SharedHasTheAvailableCpus) {
  EXPECT_GE(ThreadTeam::AvailableCpus(), 1);
  EXPECT_EQ(ThreadTeam::Shared().threads(), ThreadTeam::AvailableCpus());
  EXPECT_EQ(&ThreadTeam::Shared(), &ThreadTeam::Shared());
}

TEST(ThreadTeam, AForkedChildStartsOver) {
#ifdef ONNXSEQ_TSAN
  GTEST_SKIP() << "ThreadSanitizer allows no thread in a forked child";
#endif
  ThreadTeam team(3);
  std::atomic<int64_t> sum{0};
  team.ParallelFor(100, 1, [&](int64_t begin, int64_t) { sum += begin; });
  ThreadTeam::Shared().ParallelFor(10, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    std::atomic<int64_t> child_sum{0};
    team.ParallelFor(100, 1, [&](int64_t begin, int64_t) { child_sum += begin; });
    ThreadTeam::Shared().ParallelFor(100, 1, [&](int64_t begin, int64_t) { child_sum += begin; });
    std::atomic<int> arrived{0};
    team.Gang(3, [&](int, int size) {
      ++arrived;
      while (arrived < size) std::this_thread::yield();
    });
    _exit(child_sum == 2 * 4950 && arrived == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  team.ParallelFor(100, 1, [&](int64_t begin, int64_t) { sum += begin; });
  EXPECT_EQ(sum, 2 * 4950) << "the parent's team is as it was";
}

class Quota : public testing::Test {
 protected:
  Quota() : root_(std::filesystem::temp_directory_path() / ("onnxseq_quota_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~Quota() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::filesystem::path root_;
};

TEST_F(Quota, NothingToReadIsNoLimit) { EXPECT_EQ(CgroupCpuQuota(root_.string()), std::nullopt); }

TEST_F(Quota, Version2TakesTheTightestOnTheWayUp) {
  Write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  Write("proc/self/cgroup", "0::/outer/inner\n");
  Write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), std::nullopt);
  Write("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  Write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), 1.5);
}

TEST_F(Quota, Version1InAContainerThatSeesAPartOfTheTree) {
  Write("proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  Write("proc/self/cgroup", "5:memory:/\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), std::nullopt);
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), 0.5);
}

TEST_F(Quota, BrokenFilesAreNoLimit) {
  Write("proc/self/mountinfo", "garbage\n1 2\n30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  Write("proc/self/cgroup", "nonsense\n0::/\n");
  Write("sys/fs/cgroup/cpu.max", "lots\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), std::nullopt);
  Write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(CgroupCpuQuota(root_.string()), std::nullopt);
}

TEST(CpuFeatures, NamesGoBothWays) {
  for (const Isa isa : {Isa::kBaseline, Isa::kSse4, Isa::kAvx2, Isa::kAvx512})
    EXPECT_EQ(IsaFromName(IsaName(isa)), isa);
  EXPECT_EQ(IsaFromName("avx"), std::nullopt);
  EXPECT_EQ(IsaFromName(""), std::nullopt);
}

TEST(CpuFeatures, SetIsaIsSeen) {
  for (int i = 0; i <= static_cast<int>(BestIsa()); ++i) {
    SetIsa(static_cast<Isa>(i));
    EXPECT_EQ(ActiveIsa(), static_cast<Isa>(i));
  }
  SetIsa(std::nullopt);
  EXPECT_EQ(ActiveIsa(), BestIsa());
}

TEST(CpuFeatures, DenormalScopeFlushesAndRestores) {
  const uint32_t before = DenormalBits();
  volatile float tiny = 1e-39f, one = 1.0f;
  {
    const DenormalScope keep(false);
    EXPECT_GT(tiny * one, 0.0f);
    {
      const DenormalScope flush(true);
      const volatile float product = tiny * one;
      EXPECT_EQ(product, 0.0f);
    }
    EXPECT_GT(tiny * one, 0.0f);
  }
  EXPECT_EQ(DenormalBits(), before);
}

// How a process of its own ends with the variable set: it is read once per process.
std::string ResultUnder(const char* value) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ONNXSEQ_ISA", value, 1);
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execl("/proc/self/exe", "base_test", "--gtest_also_run_disabled_tests", "--gtest_filter=*DISABLED_PrintIsa",
          nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : "signal";
}

// Ends with 10 + the active Isa, or 1 for the two texts of a refusal.
TEST(CpuFeatures, DISABLED_PrintIsa) {
  try {
    ApplyIsaEnvironment();
  } catch (const InvalidArgument& e) {
    const std::string text = e.what();
    const std::string name = getenv("ONNXSEQ_ISA");
    const std::string lacking = "ONNXSEQ_ISA: this CPU has no " + name + ", only " + std::string(IsaName(BestIsa()));
    _exit(text == "ONNXSEQ_ISA: \"" + name + "\" is none of sse4, avx2, avx512" || text == lacking ? 1 : 2);
  }
  _exit(10 + static_cast<int>(ActiveIsa()));
}

TEST(CpuFeatures, EnvironmentChoosesTheIsa) {
  EXPECT_EQ(ResultUnder("avx"), "1");
  EXPECT_EQ(ResultUnder("baseline"), "1");
  EXPECT_EQ(ResultUnder(""), std::to_string(10 + static_cast<int>(BestIsa())));
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    const std::string expected = isa <= BestIsa() ? std::to_string(10 + static_cast<int>(isa)) : "1";
    EXPECT_EQ(ResultUnder(std::string(IsaName(isa)).c_str()), expected) << IsaName(isa);
  }
}

TEST(CpuFeatures, SetIsaRefusesWhatTheCpuLacks) {
  if (BestIsa() == Isa::kAvx512) GTEST_SKIP() << "this CPU has every instruction set";
  EXPECT_THAT([] { SetIsa(Isa::kAvx512); }, testing::ThrowsMessage<InvalidArgument>("this CPU has no avx512, only " +
                                                                                    std::string(IsaName(BestIsa()))));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
