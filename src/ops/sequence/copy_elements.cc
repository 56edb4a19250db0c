// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence/copy_elements.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace ONNX_LIGHT_NAMESPACE {

void CopyElements(Tensor& to, int64_t to_first, const Tensor& from, int64_t from_first, int64_t count) {
  if (count == 0) return;
  if (to.dtype() == TensorType::kString) {
    const std::span<const std::string> source = from.View<std::string>();
    std::copy_n(source.begin() + from_first, count, to.MutableView<std::string>().begin() + to_first);
    return;
  }
  const auto bytes = static_cast<int64_t>(onnx_optim::BytesOf(to.dtype()));
  std::memcpy(static_cast<char*>(to.mutable_data()) + to_first * bytes,
              static_cast<const char*>(from.data()) + from_first * bytes, static_cast<size_t>(count * bytes));
}

}  // namespace ONNX_LIGHT_NAMESPACE
