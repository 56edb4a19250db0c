// SPDX-License-Identifier: Apache-2.0
// Strands: sequences of steps that several threads work at, each a block of steps at a time. A strand may follow
// another one some steps behind it, as a stacked layer follows the one whose outputs it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/function_ref.h"
#include "base/thread_team.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct Strand {
  // Does steps [begin, end). Calls come in order, from changing threads, never two at once; the last one has
  // end == steps. One without steps gets one call. Must not throw.
  FunctionRef<void(int64_t begin, int64_t end)> run;
  int64_t steps = 0;
  int64_t block = 1;     // steps of a call, the last may have fewer
  double step_cost = 1;  // in any unit all strands share
  // Step s comes after steps [0, s + behind] of this strand, which stands before it; -1: it follows none.
  int after = -1;
  int64_t behind = 0;
};

inline constexpr size_t kMaxStrands = 32;

// Steps of a block of a direction: few of all, since a strand that follows begins after the first block; but enough for
// the products of a block with W to have as many rows as pay.
constexpr int64_t StrandBlock(int64_t steps, int64_t rows) {
  constexpr int64_t kBlocks = 16, kBlockRows = 8;
  const int64_t unit = rows < kBlockRows ? kBlockRows / (rows < 1 ? 1 : rows) : 1;
  return ((steps > 0 ? (steps - 1) / kBlocks : 0) / unit + 1) * unit;
}

// Runs at most kMaxStrands strands on up to `threads` participants. Blocks depend on the strands alone, who runs them
// on who is free: a thread stays with a strand, and its weights in the cache, until another one falls behind. Returns
// when all are done, or soon after the run is to end (base/stop_token.h), with steps missing. No allocation.
void RunStrands(std::span<const Strand> strands, ThreadTeam& team, int threads);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
