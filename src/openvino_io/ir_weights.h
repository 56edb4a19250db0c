// SPDX-License-Identifier: Apache-2.0
// The .bin that is written beside an .xml: the bytes of all constants, equal ones once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

class IrWeights {
 public:
  // Where each constant begins: the strictest alignment of tensors in memory, so that readers need not copy.
  static constexpr int64_t kAlignment = 64;

  // The offset of these bytes, which stay alive through their owner. No bytes take one: tools want a size above 0.
  int64_t Add(Bytes bytes);
  // Calls write(bytes) for the file from its begin to its end.
  template <class Fn>
  void Write(Fn write) const {
    static constexpr char kZeros[kAlignment] = {};
    int64_t at = 0;
    for (const Piece& piece : pieces_) {
      write(std::string_view(kZeros, static_cast<size_t>(piece.offset - at)));
      write(piece.bytes.view());
      at = piece.offset + static_cast<int64_t>(piece.bytes.size());
    }
  }

 private:
  struct Piece {
    int64_t offset;
    Bytes bytes;
  };
  std::vector<Piece> pieces_;
  std::unordered_multimap<size_t, size_t> by_hash_;  // number of a piece
  int64_t size_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
