// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM: ONNX's LSTM (layout 0) with 8-bit weights, stored [D,I,4H] and [D,H,4H], each with one scale and
// zero point for each direction, [D], or for each column, [D,4H]. As onnxruntime does, X and the states are rounded to
// 8 bits by a scale and zero point of all X that is not padding, and of all rows' states at each step: results depend
// on what else is in the batch. (Those of onnxruntime also on its threads, among which it may cut the batch.) Sums are
// of integers.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeLSTM
#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum Input : uint8_t { kW = 1, kWScale = 8, kWZero = 9, kRScale = 10, kRZero = 11 };

// W or R as recurrent operators have them, [D,4H,..].
GateWeight ReadBytes(int i, FunctionRef<const Tensor*(int)> input) {
  const int scale_input = i == kW ? kWScale : kRScale, zero_input = scale_input + 1;
  const Tensor *const stored = input(i), *const scale = input(scale_input), *const zero = input(zero_input);
  if (stored == nullptr || scale == nullptr || zero == nullptr) return {};
  const auto fail = [](int at, std::string_view name, std::string fact) {
    throw InvalidArgument(
        std::move(fact),
        ErrorWhere{.op_type = {}, .node_name = {}, .subject = fmt::format("input {} '{}'", at, name), .path = {}});
  };
  if (stored->rank() != 3)
    fail(i, i == kW ? "W" : "R", fmt::format("must have rank 3, got {}", stored->shape().ToString()));
  const int64_t directions = stored->dim(0), rows = stored->dim(1), columns = stored->dim(2);
  if (scale->shape() != Shape{directions} && scale->shape() != Shape{directions, columns})
    fail(scale_input, i == kW ? "W_scale" : "R_scale",
         fmt::format("must be [{}] or [{},{}], got {}", directions, directions, columns, scale->shape().ToString()));
  if (zero->shape() != scale->shape())
    fail(zero_input, i == kW ? "W_zero_point" : "R_zero_point",
         fmt::format("must be {} as the scale, got {}", scale->shape().ToString(), zero->shape().ToString()));
  const int32_t shift = stored->dtype() == TensorType::kUint8 ? 128 : 0;
  const Tensor wide = AsType(*stored, TensorType::kInt32), wide_zero = AsType(*zero, TensorType::kInt32);
  GateWeight weight{Tensor(TensorType::kInt8, Shape{directions, columns, rows}),
                    Tensor(TensorType::kFloat, Shape{directions, columns}),
                    Tensor(TensorType::kInt32, Shape{directions, columns})};
  const std::span<int8_t> to = weight.values.MutableView<int8_t>();
  const std::span<float> scales = weight.scales.MutableView<float>();
  const std::span<int32_t> zeros = weight.zeros.MutableView<int32_t>();
  const std::span<const int32_t> from = wide.View<int32_t>();
  for (int64_t column = 0; column < directions * columns; ++column) {
    const auto at = static_cast<size_t>(scale->rank() == 1 ? column / columns : column);
    scales[static_cast<size_t>(column)] = scale->View<float>()[at];
    zeros[static_cast<size_t>(column)] = wide_zero.View<int32_t>()[at] - shift;
    if (to.empty()) continue;  // any number of rows
    for (int64_t row = 0; row < rows; ++row)
      to[static_cast<size_t>(column * rows + row)] = static_cast<int8_t>(
          from[static_cast<size_t>((column / columns * rows + row) * columns + column % columns)] - shift);
  }
  return weight;
}

RecurrentSpec ReadSpec(const NodeAttributes& attrs) {
  RecurrentSpec spec = ReadLstmSpec(attrs);
  spec.read_bytes = ReadBytes;
  return spec;
}

OpDef Definition() {
  OpDef op = {.domain = kMicrosoft,
              .type = "DynamicQuantizeLSTM",
              .since_version = 1,
              .inputs = {{"X", kFloat32, "T"},
                         {"W", kByteTypes, "T2"},
                         {"R", kByteTypes, "T2"},
                         Optional("B", kFloat32, "T"),
                         Optional("sequence_lens", kInt32, "T1"),
                         Optional("initial_h", kFloat32, "T"),
                         Optional("initial_c", kFloat32, "T"),
                         Optional("P", kFloat32, "T"),
                         {"W_scale", kFloat32, "T"},
                         {"W_zero_point", kByteTypes, "T2"},
                         {"R_scale", kFloat32, "T"},
                         {"R_zero_point", kByteTypes, "T2"}},
              .outputs = {Optional("Y", kFloat32, "T"), Optional("Y_h", kFloat32, "T"), Optional("Y_c", kFloat32, "T")},
              .attributes = {{"activation_alpha", AttrKind::kFloats},
                             {"activation_beta", AttrKind::kFloats},
                             {"activations", AttrKind::kStrings},
                             {"clip", AttrKind::kFloat},
                             {"direction", AttrKind::kString},
                             {"hidden_size", AttrKind::kInt},
                             {"input_forget", AttrKind::kInt}}};
  SetRecurrentFunctions<kernels::Lstm, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> dynamic_quantize_lstm_ops() {
  static const OpDef ops[] = {
      Definition(),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
