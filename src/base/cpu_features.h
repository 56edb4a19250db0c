// SPDX-License-Identifier: Apache-2.0
// What the CPU can do, which instruction set the kernels use, and how its floating point unit treats denormals.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// Instruction sets the vector kernels are built for, weakest first. kBaseline is what the compiler may assume anyway.
enum class Isa : uint8_t { kBaseline, kSse4, kAvx2, kAvx512 };

// "baseline", "sse4", "avx2", "avx512".
std::string_view IsaName(Isa isa) noexcept;
// The Isa with that name, nothing when none has.
std::optional<Isa> IsaFromName(std::string_view name) noexcept;

// The best one this CPU has.
Isa BestIsa() noexcept;
// The one kernels are dispatched to now.
Isa ActiveIsa() noexcept;
// Dispatches kernels to `isa` from now on; nothing = BestIsa(). Weights packed before keep the kernels they were packed
// for. Not to be called while a kernel runs. Throws InvalidArgument when the CPU lacks it: `this CPU has no avx512,
// only avx2`.
void SetIsa(std::optional<Isa> isa);

// Applies the environment variable ONNXSEQ_ISA (sse4, avx2 or avx512) at the first call in the process. Throws
// InvalidArgument for an unknown name or one the CPU lacks, at every call: `ONNXSEQ_ISA: "avx" is none of sse4, avx2,
// avx512`.
void ApplyIsaEnvironment();
// The same for kernels, which cannot throw: a wrong value is left to ApplyIsaEnvironment to report. Cheap after the
// first call.
void EnsureIsa() noexcept;

// The bits of the floating point control register that flush denormals, as the platform keeps them; 0 where there are
// none.
uint32_t DenormalBits() noexcept;
void SetDenormalBits(uint32_t bits) noexcept;

// While it lives, the calling thread reads denormals as zero and writes zero instead of them (`flush`), or keeps them
// (not `flush`); then the caller's mode is back. ThreadTeam carries the mode to the workers it calls in.
class DenormalScope {
 public:
  explicit DenormalScope(bool flush) noexcept;
  ~DenormalScope();
  DenormalScope(const DenormalScope&) = delete;
  DenormalScope& operator=(const DenormalScope&) = delete;

 private:
  uint32_t before_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
