// SPDX-License-Identifier: Apache-2.0
// base: what everything stands on and that knows no model: errors, checked arithmetic, mapped files, CPU features,
// threads. Before it: nothing. After it: model (the messages) and kernels (loops over spans).
//
// ThreadTeam: the one team of worker threads of the process.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The calling thread always takes part, so `threads() == 1` needs no worker and starts none. Workers start when first
// needed and sleep when idle. A call made from inside another one (on any participant), or while the team is busy, runs
// on the caller alone: the split of work into pieces never depends on who is free, only who runs a piece does. All
// members are thread safe.
class ThreadTeam {
 public:
  // Up to `threads` participants, the caller included; 0 = as many as the affinity mask and cgroup quota of the process
  // allow.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // The team shared by all sessions, sized by affinity and cgroup quota.
  static ThreadTeam& Shared();
  // CPUs this process may use at once: min(affinity mask, cgroup quota rounded up), at least 1.
  static int AvailableCpus();

  int threads() const { return threads_; }

  // Calls fn(begin, end) for consecutive pieces of [0, n) that hold `grain` indices each (the last may hold fewer), on
  // at most `max_threads` participants (0 = all). Returns when all are done. The first exception stops pieces not yet
  // begun and is rethrown; of several, the one of the smallest piece.
  // Once the caller's StopToken (base/stop_token.h) is stopped no further piece begins: pieces may be missing then.
  void ParallelFor(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn, int max_threads = 0);

  // Calls fn(rank, size) on `size` participants that run at the same time, 1 <= size <= k: as many as are free now,
  // never waiting for one. fn may spin on the others. fn must not throw.
  void Gang(int k, FunctionRef<void(int rank, int size)> fn);

 private:
  struct State;
  int threads_;
  State* state_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
