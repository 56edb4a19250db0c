// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.h"

#include <hwy/targets.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

#include "onnxseq/errors.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kNames[] = {"baseline", "sse4", "avx2", "avx512"};

Isa IsaOfTargets(int64_t targets) noexcept {
  if (targets & (HWY_AVX3 | HWY_AVX3_DL)) return Isa::kAvx512;
  if (targets & HWY_AVX2) return Isa::kAvx2;
  if (targets & HWY_SSE4) return Isa::kSse4;
  return Isa::kBaseline;
}

// The one dispatched to. Asking hwy::SupportedTargets() for it would dispatch to the best one from then on.
std::atomic<Isa> active{Isa::kBaseline};

int64_t TargetsAbove(Isa isa) noexcept {
  int64_t above = 0;
  if (isa < Isa::kAvx512) above |= HWY_AVX3 | HWY_AVX3_DL;
  if (isa < Isa::kAvx2) above |= HWY_AVX2;
  if (isa < Isa::kSse4) above |= HWY_SSE4 | HWY_SSSE3;
  return above;
}

void Dispatch(Isa isa) noexcept {
  hwy::DisableTargets(TargetsAbove(isa));
  active.store(isa, std::memory_order_relaxed);
}

std::string Lacks(Isa isa) {
  return "this CPU has no " + std::string(IsaName(isa)) + ", only " + std::string(IsaName(BestIsa()));
}

// The text of what is wrong with the variable; empty when it was applied or is not set.
const std::string& EnvironmentProblem() {
  static const std::string problem = [] {
    Dispatch(BestIsa());
    const char* value = std::getenv("ONNXSEQ_ISA");
    if (value == nullptr || *value == '\0') return std::string();
    const std::optional<Isa> isa = IsaFromName(value);
    if (!isa || *isa == Isa::kBaseline)
      return "ONNXSEQ_ISA: \"" + std::string(value) + "\" is none of sse4, avx2, avx512";
    if (*isa > BestIsa()) return "ONNXSEQ_ISA: " + Lacks(*isa);
    Dispatch(*isa);
    return std::string();
  }();
  return problem;
}

}  // namespace

std::string_view IsaName(Isa isa) noexcept { return kNames[static_cast<uint8_t>(isa)]; }

std::optional<Isa> IsaFromName(std::string_view name) noexcept {
  for (uint8_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<Isa>(i);
  return std::nullopt;
}

Isa BestIsa() noexcept {
  static const Isa best = IsaOfTargets(hwy::SupportedTargets());
  return best;
}

Isa ActiveIsa() noexcept {
  EnsureIsa();
  return active.load(std::memory_order_relaxed);
}

void SetIsa(std::optional<Isa> isa) {
  EnsureIsa();
  const Isa wanted = isa.value_or(BestIsa());
  if (wanted > BestIsa()) throw InvalidArgument(Lacks(wanted));
  Dispatch(wanted);
}

void ApplyIsaEnvironment() {
  if (!EnvironmentProblem().empty()) throw InvalidArgument(EnvironmentProblem());
}

void EnsureIsa() noexcept { static_cast<void>(EnvironmentProblem()); }

#if defined(__x86_64__) || defined(__i386__)
namespace {
constexpr uint32_t kFlushToZero = 0x8000;
constexpr uint32_t kDenormalsAreZero = 0x0040;
constexpr uint32_t kDenormalMask = kFlushToZero | kDenormalsAreZero;
}  // namespace
uint32_t DenormalBits() noexcept { return _mm_getcsr() & kDenormalMask; }
void SetDenormalBits(uint32_t bits) noexcept { _mm_setcsr((_mm_getcsr() & ~kDenormalMask) | bits); }
#elif defined(__aarch64__)
namespace {
constexpr uint32_t kDenormalMask = 1u << 24;  // FPCR.FZ flushes inputs and results alike
uint64_t ReadFpcr() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
}  // namespace
uint32_t DenormalBits() noexcept { return static_cast<uint32_t>(ReadFpcr()) & kDenormalMask; }
void SetDenormalBits(uint32_t bits) noexcept {
  const uint64_t value = (ReadFpcr() & ~static_cast<uint64_t>(kDenormalMask)) | bits;
  __asm__ volatile("msr fpcr, %0" : : "r"(value));
}
#else
namespace {
constexpr uint32_t kDenormalMask = 0;
}  // namespace
uint32_t DenormalBits() noexcept { return 0; }
void SetDenormalBits(uint32_t) noexcept {}
#endif

DenormalScope::DenormalScope(bool flush) noexcept : before_(DenormalBits()) {
  SetDenormalBits(flush ? kDenormalMask : 0);
}
DenormalScope::~DenormalScope() { SetDenormalBits(before_); }

}  // namespace ONNX_LIGHT_NAMESPACE
