// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Vectors of columns in one panel of a packed matrix. Four, because an LSTM's hidden unit has four gates, each in its
// own vector.
inline constexpr int kPanelVectors = 4;

// Columns may come in groups of some vectors that a tile does not cut. A panel holds as many groups as make
// kPanelVectors, the last one what is left: a row of it is read as one piece, which is how memory gives most.
constexpr int64_t PanelGroups(int64_t vectors) { return vectors < kPanelVectors ? kPanelVectors / vectors : 1; }

// Where the columns of a group begin in panels [panel][k][group][width], and how far apart its rows are.
struct GroupPlace {
  GroupPlace(int64_t group, int64_t groups, int64_t vectors, int64_t width, int64_t k) {
    const int64_t each = PanelGroups(vectors), head = group / each * each;
    step = (groups - head < each ? groups - head : each) * width;
    first = head * k * width + (group - head) * width;
  }
  int64_t first, step;
};

// What an L2 holds, at least.
inline constexpr int64_t kL2Bytes = 1 << 20;
// What comes from beyond the L2 may be asked for so many bytes ahead.
inline constexpr int64_t kFarAhead = 1024;

// The value packed weights hold: denormals cost a hundred cycles each and say nothing, so they may be flushed to zero
// once.
template <class T>
T FlushDenormal(T value) noexcept {
  return std::abs(value) < std::numeric_limits<T>::min() ? T(0) : value;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
