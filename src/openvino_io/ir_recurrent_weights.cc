// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_recurrent_weights.h"

#include <cstring>

#include "onnx_optim/tensor_type.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
Bytes Sum(std::string_view data, int64_t row, std::span<const std::pair<int, int>> sums, int64_t hidden, int64_t first,
          int64_t count) {
  std::string result;
  for (int64_t d = first; d < first + count; ++d) {
    for (const auto& [a, b] : sums) {
      for (int64_t h = 0; h < hidden; ++h) {
        const auto at = [&](int64_t block) {
          T value;
          std::memcpy(&value, data.data() + static_cast<size_t>(d * row + block * hidden + h) * sizeof(T), sizeof(T));
          return value;
        };
        const T sum = b < 0 ? at(a) : T(at(a) + at(b));
        result.append(reinterpret_cast<const char*>(&sum), sizeof(T));
      }
    }
  }
  return Bytes(std::move(result));
}

}  // namespace

TensorProto OrderBlocks(const TensorProto& tensor, std::span<const int> order, int64_t first, int64_t count) {
  const std::string_view data = tensor.raw_data();
  const auto directions = static_cast<size_t>(tensor.dims()[0]);
  const size_t block = data.size() / directions / order.size();
  std::string bytes;
  bytes.reserve(block * order.size() * static_cast<size_t>(count));
  for (int64_t d = first; d < first + count; ++d)
    for (const int gate : order)
      bytes += data.substr((static_cast<size_t>(d) * order.size() + static_cast<size_t>(gate)) * block, block);
  TensorProto ordered;
  ordered.set_data_type(tensor.data_type());
  *ordered.mutable_dims() = tensor.dims();
  (*ordered.mutable_dims())[0] = count;
  ordered.set_raw_data(Bytes(std::move(bytes)));
  return ordered;
}

std::vector<std::pair<int, int>> BiasSums(std::span<const int> gates, bool linear_before_reset) {
  std::vector<std::pair<int, int>> sums;
  const int count = static_cast<int>(gates.size());
  for (const int gate : gates) sums.emplace_back(gate, gate + count);
  if (linear_before_reset) {
    sums.back() = {count - 1, -1};
    sums.emplace_back(2 * count - 1, -1);
  }
  return sums;
}

std::optional<Bytes> SumBlocks(const TensorProto& bias, std::span<const std::pair<int, int>> sums, int64_t hidden,
                               int64_t first, int64_t count) {
  const int64_t row = bias.dims()[1];
  const std::string_view data = bias.raw_data();
  switch (onnx_optim::DataTypeToTensorType(bias.data_type())) {
    case TensorType::kFloat:
      return Sum<float>(data, row, sums, hidden, first, count);
    case TensorType::kDouble:
      return Sum<double>(data, row, sums, hidden, first, count);
    case TensorType::kFloat16:
      return Sum<Float16>(data, row, sums, hidden, first, count);
    case TensorType::kBfloat16:
      return Sum<BFloat16>(data, row, sums, hidden, first, count);
    default:
      return std::nullopt;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
