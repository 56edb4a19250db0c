// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/cpu_features.h"
#include "base/cpu_quota.h"
#include "base/stop_token.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Looks before going to sleep: some microseconds, so that short calls in a row do not pay for a wake-up each.
constexpr int kSpins = 200;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Set on every participant while it runs a piece: a call from there runs inline.
thread_local bool tls_inside = false;

class InsideScope {
 public:
  InsideScope() : before_(tls_inside) { tls_inside = true; }
  ~InsideScope() { tls_inside = before_; }

 private:
  bool before_;
};

// Threads begin with the signals their maker has blocked: workers leave the program's to its own threads. Those that
// tell of a thread's own fault, and a profiler's, they take.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int own : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP}) sigdelset(&signals, own);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// What a worker is called in for; lives on the caller's stack until every worker given it is idle again.
struct Job {
  FunctionRef<void(int rank)> run;
  uint32_t denormal_bits;
  StopToken* stop;
};

enum Phase : int { kIdle, kAssigned, kRunning, kStop };

struct Worker {
  std::atomic<int> phase{kIdle};
  const Job* job = nullptr;  // written by the caller before kAssigned
  int rank = 0;
  Worker* next = nullptr;  // in whichever list it stands, the caller's or the idle ones
  std::thread thread;

  // Waits, first looking and then sleeping, while the phase is `phase_now`; returns the new one.
  int WaitWhile(int phase_now) {
    for (int i = 0; i < kSpins; ++i) {
      const int now = phase.load(std::memory_order_acquire);
      if (now != phase_now) return now;
      Pause();
    }
    for (;;) {
      phase.wait(phase_now, std::memory_order_acquire);
      const int now = phase.load(std::memory_order_acquire);
      if (now != phase_now) return now;
    }
  }

  void Loop() {
    tls_inside = true;
    for (;;) {
      int now = WaitWhile(kIdle);
      if (now == kStop) return;
      // The caller takes an assignment back when the work was done before this thread woke up.
      if (now != kAssigned || !phase.compare_exchange_strong(now, kRunning, std::memory_order_acq_rel)) continue;
      SetDenormalBits(job->denormal_bits);
      {
        const StopScope stop(job->stop);
        job->run(rank);
      }
      phase.store(kIdle, std::memory_order_release);
      phase.notify_all();
    }
  }

  void Assign(const Job* new_job, int new_rank) {
    job = new_job;
    rank = new_rank;
    phase.store(kAssigned, std::memory_order_release);
    phase.notify_all();
  }

  // Returns when the worker no longer holds its job; `take_back` it when it has not begun.
  void Finish(bool take_back) {
    int now = kAssigned;
    if (take_back && phase.compare_exchange_strong(now, kIdle, std::memory_order_acq_rel)) return;
    for (now = phase.load(std::memory_order_acquire); now != kIdle;) now = WaitWhile(now);
  }
};

void AssignAll(Worker* workers, const Job* job) {
  int rank = 0;
  for (Worker* worker = workers; worker != nullptr; worker = worker->next) worker->Assign(job, ++rank);
}

}  // namespace

struct ThreadTeam::State {
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> all;
  Worker* idle = nullptr;  // a stack through Worker::next

  // A list, through Worker::next, of up to `wanted` idle workers; new ones are started while the team has fewer than
  // `limit`.
  Worker* Take(int64_t wanted, int limit) {
    Worker* taken = nullptr;
    if (wanted <= 0) return taken;
    const std::lock_guard lock(mutex);
    for (; wanted > 0 && idle != nullptr; --wanted) {
      Worker* worker = idle;
      idle = worker->next;
      worker->next = taken;
      taken = worker;
    }
    for (; wanted > 0 && static_cast<int>(all.size()) < limit; --wanted) {
      Worker* worker = Start();
      if (worker == nullptr) break;
      worker->next = taken;
      taken = worker;
    }
    return taken;
  }

  void GiveBack(Worker* workers) {
    const std::lock_guard lock(mutex);
    while (workers != nullptr) {
      Worker* const next = workers->next;
      workers->next = idle;
      idle = workers;
      workers = next;
    }
  }

 private:
  // A new worker; null when the system has no thread or memory for one: the team does with those it has.
  Worker* Start() noexcept {
    try {
      all.push_back(std::make_unique<Worker>());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    Worker* const worker = all.back().get();
    try {
      const SignalsBlocked blocked;
      worker->thread = std::thread(&Worker::Loop, worker);
      pthread_setname_np(worker->thread.native_handle(), "onnxseq");
    } catch (const std::exception&) {
      all.pop_back();
      return nullptr;
    }
    return worker;
  }
};

namespace {

// A forked child has none of the workers, and a lock of theirs may have been held: every team starts over there.
struct Registry {
  std::mutex mutex;
  std::vector<std::pair<ThreadTeam*, void (*)(ThreadTeam*)>> teams;
};
Registry& TheRegistry() {
  static Registry* registry = new Registry;  // never destroyed: a fork may come late
  return *registry;
}

void BeforeFork() { TheRegistry().mutex.lock(); }
void AfterForkInParent() { TheRegistry().mutex.unlock(); }
void AfterForkInChild() {
  for (const auto& [team, reset] : TheRegistry().teams) reset(team);
  TheRegistry().mutex.unlock();
}

}  // namespace

int ThreadTeam::AvailableCpus() {
  int cpus = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int bits = 1024; bits <= 1 << 16; bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(bits);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(bits);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    if (known) cpus = std::max(1, CPU_COUNT_S(bytes, set));
    CPU_FREE(set);
    if (known) break;
  }
  const std::optional<double> quota = CgroupCpuQuota();
  if (quota && *quota < cpus) cpus = std::max(1, static_cast<int>(std::ceil(*quota)));
  return cpus;
}

ThreadTeam& ThreadTeam::Shared() {
  // Never destroyed: workers may sleep in it while the process ends.
  static ThreadTeam* team = new ThreadTeam(0);
  return *team;
}

ThreadTeam::ThreadTeam(int threads) : threads_(threads > 0 ? threads : AvailableCpus()), state_(new State) {
  static const int hooked = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  static_cast<void>(hooked);
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  // The old state is left where it is: its threads do not exist and its lock may be held for ever.
  registry.teams.emplace_back(this, [](ThreadTeam* team) { team->state_ = new State; });
}

ThreadTeam::~ThreadTeam() {
  {
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    std::erase_if(registry.teams, [this](const auto& entry) { return entry.first == this; });
  }
  for (const auto& worker : state_->all) {
    worker->phase.store(kStop, std::memory_order_release);
    worker->phase.notify_all();
    worker->thread.join();
  }
  delete state_;
}

void ThreadTeam::ParallelFor(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn,
                             int max_threads) {
  if (n <= 0) return;
  if (n <= grain) {
    const InsideScope inside;
    if (!StopRequested()) fn(0, n);
    return;
  }
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (n - 1) / grain + 1;
  const auto run_piece = [&](int64_t piece) {
    const int64_t begin = piece * grain;
    fn(begin, begin + std::min(grain, n - begin));
  };
  const int64_t limit = max_threads > 0 ? std::min(max_threads, threads_) : threads_;
  Worker* const workers = tls_inside ? nullptr : state_->Take(std::min(limit, pieces) - 1, threads_ - 1);
  if (workers == nullptr) {
    const InsideScope inside;
    for (int64_t piece = 0; piece < pieces && !StopRequested(); ++piece) run_piece(piece);
    return;
  }

  std::atomic<int64_t> next{0};
  std::mutex error_mutex;
  int64_t error_piece = pieces;
  std::exception_ptr error;
  // Pieces begin in order, so every piece before one that failed has begun and will say so if it fails too.
  const auto run = [&](int) {
    for (int64_t piece; !StopRequested() && (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      try {
        run_piece(piece);
      } catch (...) {
        next.store(pieces, std::memory_order_relaxed);
        const std::lock_guard lock(error_mutex);
        if (piece < error_piece) {
          error_piece = piece;
          error = std::current_exception();
        }
      }
    }
  };
  const Job job{run, DenormalBits(), CurrentStop()};
  AssignAll(workers, &job);
  {
    const InsideScope inside;
    run(0);
  }
  for (Worker* worker = workers; worker != nullptr; worker = worker->next) worker->Finish(/*take_back=*/true);
  state_->GiveBack(workers);
  if (error) std::rethrow_exception(error);
}

void ThreadTeam::Gang(int k, FunctionRef<void(int rank, int size)> fn) {
  Worker* const workers = tls_inside ? nullptr : state_->Take(std::min(k, threads_) - 1, threads_ - 1);
  int size = 1;
  for (const Worker* worker = workers; worker != nullptr; worker = worker->next) ++size;
  const auto run = [&](int rank) { fn(rank, size); };
  const Job job{run, DenormalBits(), CurrentStop()};
  AssignAll(workers, &job);
  {
    const InsideScope inside;
    run(0);
  }
  for (Worker* worker = workers; worker != nullptr; worker = worker->next) worker->Finish(/*take_back=*/false);
  state_->GiveBack(workers);
}

}  // namespace ONNX_LIGHT_NAMESPACE
