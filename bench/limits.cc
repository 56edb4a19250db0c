// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, for limits.py: multiply-adds of floats and reads of an array, a second, by a number
// of threads that each have an array of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limits.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace onnxseq_bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// More sums than a multiply-add or a read has latency.
constexpr int kSums = 12;

double ReadOnce(const float* data, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[kSums];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t i = 0; i + kSums * lanes <= count; i += kSums * lanes)
    for (int s = 0; s < kSums; ++s) sums[s] = hn::Add(sums[s], hn::LoadU(d, data + i + s * lanes));
  for (const auto& sum : sums) sums[0] = hn::Add(sums[0], sum);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

// `times` rounds; returns the multiply-adds of one.
int64_t MultiplyAdd(int64_t times, float* out) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[kSums];
  for (auto& sum : sums) sum = hn::Set(d, *out);
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  for (int64_t i = 0; i < times; ++i)
    for (auto& sum : sums) sum = hn::MulAdd(sum, factor, term);
  for (const auto& sum : sums) sums[0] = hn::Add(sums[0], sum);
  *out = hn::GetLane(hn::SumOfLanes(d, sums[0]));
  return kSums * static_cast<int64_t>(hn::Lanes(d));
}

}  // namespace onnxseq_bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace onnxseq_bench {
HWY_EXPORT(ReadOnce);
HWY_EXPORT(MultiplyAdd);

// The sum over `threads` of the best rate each reaches in `seconds`; once(thread) does something and returns how much.
template <class Once>
double Rate(int threads, double seconds, const Once& once) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> best(static_cast<size_t>(threads), 0.0);
  std::atomic<int> waiting{threads};
  const auto work = [&](int thread) {
    once(thread);
    waiting.fetch_sub(1);
    while (waiting.load() > 0) std::this_thread::yield();
    const auto start = Clock::now();
    for (auto now = start; now - start < std::chrono::duration<double>(seconds);) {
      const double done = once(thread);
      const auto then = Clock::now();
      best[static_cast<size_t>(thread)] =
          std::max(best[static_cast<size_t>(thread)], done / std::chrono::duration<double>(then - now).count());
      now = then;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
  double all = 0;
  for (const double rate : best) all += rate;
  return all;
}

}  // namespace onnxseq_bench

extern "C" {

// Bytes a second, `bytes` read again and again by each thread.
double LimitsReadRate(int64_t bytes, int threads, double seconds) {
  const auto count = bytes / static_cast<int64_t>(sizeof(float));
  const std::vector<std::vector<float>> arrays(static_cast<size_t>(threads),
                                               std::vector<float>(static_cast<size_t>(count), 1));
  std::atomic<double> sink{0};
  const int64_t passes = std::max<int64_t>(1, (int64_t{1} << 22) / bytes);  // of a few us and more
  return onnxseq_bench::Rate(threads, seconds, [&](int thread) {
    const float* const array = arrays[static_cast<size_t>(thread)].data();
    for (int64_t i = 0; i < passes; ++i) sink.store(HWY_DYNAMIC_DISPATCH(onnxseq_bench::ReadOnce)(array, count));
    return static_cast<double>(passes * count) * sizeof(float);
  });
}

// Float operations a second, two for each multiply-add.
double LimitsFlops(int threads, double seconds) {
  std::atomic<float> sink{1};
  return onnxseq_bench::Rate(threads, seconds, [&](int) {
    constexpr int64_t kTimes = 20000;
    float out = 1;
    const int64_t each = HWY_DYNAMIC_DISPATCH(onnxseq_bench::MultiplyAdd)(kTimes, &out);
    sink.store(out);
    return 2.0 * static_cast<double>(each * kTimes);
  });
}
}
#endif
