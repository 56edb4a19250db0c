// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/strands.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/stop_token.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Looks before going to sleep: about as long as a block takes.
constexpr int kSpins = 2000;
// A thread leaves its strand for one that has so many blocks more to do.
constexpr double kBlocksAhead = 2;

class Schedule {
 public:
  explicit Schedule(std::span<const Strand> strands) : strands_(strands), unfinished_(strands.size()) {}

  // What one participant does, until nothing is left to do.
  void Work() {
    int current = -1;
    std::unique_lock lock(mutex_);
    while (unfinished_ > 0 && !stopped_) {
      const int next = Pick(current);
      if (next < 0) {
        const int seen = version_.load(std::memory_order_relaxed);
        lock.unlock();
        WaitWhile(seen);
        lock.lock();
        continue;
      }
      current = next;
      const Strand& strand = strands_[static_cast<size_t>(next)];
      Progress& progress = progress_[static_cast<size_t>(next)];
      const int64_t begin = progress.done, end = EndOfBlock(strand, progress);
      progress.taken = true;
      lock.unlock();
      strand.run(begin, end);
      const bool stop = StopRequested();
      lock.lock();
      progress.taken = false;
      progress.done = end;
      progress.finished = end == strand.steps;
      if (progress.finished) --unfinished_;
      stopped_ = stopped_ || stop;
      version_.fetch_add(1, std::memory_order_release);
      version_.notify_all();
    }
  }

 private:
  struct Progress {
    int64_t done = 0;
    bool taken = false, finished = false;
  };

  static int64_t EndOfBlock(const Strand& strand, const Progress& progress) {
    return std::min(progress.done + strand.block, strand.steps);
  }

  // Of the strands that nobody works at and that need not wait, the one with the most left to do; `current` unless
  // another one has much more.
  int Pick(int current) const {
    int best = -1;
    double most = 0;
    for (size_t i = 0; i < strands_.size(); ++i) {
      const Strand& strand = strands_[i];
      const Progress& progress = progress_[i];
      if (progress.taken || progress.finished) continue;
      if (strand.after >= 0) {
        const Progress& before = progress_[static_cast<size_t>(strand.after)];
        if (!before.finished && before.done < EndOfBlock(strand, progress) + strand.behind) continue;
      }
      double left = static_cast<double>(strand.steps - progress.done) * strand.step_cost;
      if (static_cast<int>(i) == current) left += kBlocksAhead * static_cast<double>(strand.block) * strand.step_cost;
      if (best >= 0 && left <= most) continue;
      best = static_cast<int>(i);
      most = left;
    }
    return best;
  }

  void WaitWhile(int seen) const {
    for (int i = 0; i < kSpins; ++i) {
      if (version_.load(std::memory_order_acquire) != seen) return;
#if defined(__x86_64__) || defined(__i386__)
      _mm_pause();
#endif
    }
    version_.wait(seen, std::memory_order_acquire);
  }

  std::span<const Strand> strands_;
  std::mutex mutex_;  // of all below
  std::array<Progress, kMaxStrands> progress_{};
  size_t unfinished_;
  bool stopped_ = false;
  std::atomic<int> version_{0};  // changes with every block that is done
};

}  // namespace

void RunStrands(std::span<const Strand> strands, ThreadTeam& team, int threads) {
  Schedule schedule(strands);
  // One that comes when all is done finds nothing to do: nobody waits for a thread that is slow to wake up.
  team.ParallelFor(
      std::max(1, std::min(threads, static_cast<int>(strands.size()))), 1,
      [&](int64_t begin, int64_t end) {
        for (; begin < end; ++begin) schedule.Work();
      },
      threads);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
