// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/checked.h"
#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Hands out aligned pieces of a block; with a null base it only counts. A count that overflows stays negative.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class V>
  V* Take(std::initializer_list<int64_t> sizes) {
    std::optional<int64_t> bytes = static_cast<int64_t>(sizeof(V));
    for (const int64_t size : sizes) bytes = bytes ? CheckedMul(*bytes, size) : std::nullopt;
    if (bytes) bytes = CheckedAdd(*bytes, kAlignment - 1);
    if (bytes) bytes = CheckedAdd(*bytes / kAlignment * kAlignment, used_);
    if (!bytes || used_ < 0) {
      used_ = -1;
      return nullptr;
    }
    V* const piece = base_ != nullptr ? reinterpret_cast<V*>(base_ + used_) : nullptr;
    used_ = *bytes;
    return piece;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* base_;
  int64_t used_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
