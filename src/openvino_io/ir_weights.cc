// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_weights.h"

#include <functional>

namespace ONNX_LIGHT_NAMESPACE {

int64_t IrWeights::Add(Bytes bytes) {
  if (bytes.empty()) bytes = Bytes(std::string(1, '\0'));
  const size_t hash = std::hash<std::string_view>()(bytes.view());
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto same = first; same != last; ++same) {
    const Piece& piece = pieces_[same->second];
    const bool shared = piece.bytes.data() == bytes.data() && piece.bytes.size() == bytes.size();
    if (shared || piece.bytes == bytes) return piece.offset;
  }
  const int64_t offset = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  size_ = offset + static_cast<int64_t>(bytes.size());
  by_hash_.emplace(hash, pieces_.size());
  pieces_.push_back({offset, std::move(bytes)});
  return offset;
}

}  // namespace ONNX_LIGHT_NAMESPACE
