// SPDX-License-Identifier: Apache-2.0
// Work cut in pieces, for the team or for the caller alone.
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// How many pieces of `each` hold n; none for n <= 0.
constexpr int64_t Pieces(int64_t n, int64_t each) { return n <= 0 ? 0 : (n - 1) / each + 1; }

// Calls range(begin, end) for parts of [0, pieces), of `grain` each, on up to `threads` participants of the team (0 =
// all); once for all of them without a team, for one thread, or when there is one part only. Exceptions and stops as
// ThreadTeam::ParallelFor.
template <class Range>
void RunPieces(int64_t pieces, int64_t grain, ThreadTeam* team, int threads, const Range& range) {
  if (team == nullptr || threads == 1 || pieces <= grain)
    range(0, pieces);
  else
    team->ParallelFor(pieces, grain, range, threads);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
