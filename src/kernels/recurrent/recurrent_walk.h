// SPDX-License-Identifier: Apache-2.0
// RecurrentWalk: one direction a block of steps at a time, as a strand (strands.h) runs it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/recurrent/recurrent_variant.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Gives what RunRecurrent gives, to the bit, wherever it is cut into blocks; not with shared_ranges. For directions
// that have rows and hidden units. Its state stays in `scratch`, ScratchBytes bytes, kAlignment-aligned, between the
// calls, which one thread at a time makes, and `direction` where it is.
template <class Kind, class T>
class RecurrentWalk {
 public:
  // Nothing when the count overflows.
  static std::optional<int64_t> ScratchBytes(const RecurrentDirection<Kind, T>& direction);

  RecurrentWalk(const RecurrentDirection<Kind, T>& direction, std::span<std::byte> scratch);

  // Of the longest row.
  int64_t steps() const { return part_.lengths[0]; }
  // Steps [begin, end), after those before them. With begin == 0 the initial states are read, too, with end == steps()
  // the final ones are given. y's padding is written first.
  void operator()(int64_t begin, int64_t end) noexcept;

 private:
  const RecurrentVariant<Kind>* variant_;
  RecurrentPart<Kind, T> part_;
  RecurrentShare<T> share_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
