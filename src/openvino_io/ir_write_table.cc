// SPDX-License-Identifier: Apache-2.0
// The operators that are written, each beside what writes it, in the order of domains and names.
#include <algorithm>
#include <array>
#include <utility>

#include "openvino_io/ir_reader.h"
#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::array kOperators{
    IrWriteDef{"", "Abs", WriteSameLayer},
    IrWriteDef{"", "Acos", WriteSameLayer},
    IrWriteDef{"", "Acosh", WriteSameLayer},
    IrWriteDef{"", "Add", WriteSameLayer},
    IrWriteDef{"", "And", WriteSameLayer},
    IrWriteDef{"", "Asin", WriteSameLayer},
    IrWriteDef{"", "Asinh", WriteSameLayer},
    IrWriteDef{"", "Atan", WriteSameLayer},
    IrWriteDef{"", "Atanh", WriteSameLayer},
    IrWriteDef{"", "BitwiseAnd", WriteSameLayer},
    IrWriteDef{"", "BitwiseNot", WriteSameLayer},
    IrWriteDef{"", "BitwiseOr", WriteSameLayer},
    IrWriteDef{"", "BitwiseXor", WriteSameLayer},
    IrWriteDef{"", "Ceil", WriteSameLayer},
    IrWriteDef{"", "Constant", WriteConstant},
    IrWriteDef{"", "Cos", WriteSameLayer},
    IrWriteDef{"", "Cosh", WriteSameLayer},
    IrWriteDef{"", "Equal", WriteSameLayer},
    IrWriteDef{"", "Erf", WriteSameLayer},
    IrWriteDef{"", "Exp", WriteSameLayer},
    IrWriteDef{"", "Floor", WriteSameLayer},
    IrWriteDef{"", "GRU", WriteGru},
    IrWriteDef{"", "Greater", WriteSameLayer},
    IrWriteDef{"", "GreaterOrEqual", WriteSameLayer},
    IrWriteDef{"", "HardSwish", WriteSameLayer},
    IrWriteDef{"", "Identity", WriteIdentity},
    IrWriteDef{"", "If", WriteIf},
    IrWriteDef{"", "IsNaN", WriteSameLayer},
    IrWriteDef{"", "LSTM", WriteLstm},
    IrWriteDef{"", "Less", WriteSameLayer},
    IrWriteDef{"", "LessOrEqual", WriteSameLayer},
    IrWriteDef{"", "Log", WriteSameLayer},
    IrWriteDef{"", "Loop", WriteLoop},
    IrWriteDef{"", "Mish", WriteSameLayer},
    IrWriteDef{"", "Mul", WriteSameLayer},
    IrWriteDef{"", "Neg", WriteSameLayer},
    IrWriteDef{"", "Not", WriteSameLayer},
    IrWriteDef{"", "Or", WriteSameLayer},
    IrWriteDef{"", "RNN", WriteRnn},
    IrWriteDef{"", "Relu", WriteSameLayer},
    IrWriteDef{"", "Scan", WriteScan},
    IrWriteDef{"", "Sigmoid", WriteSameLayer},
    IrWriteDef{"", "Sign", WriteSameLayer},
    IrWriteDef{"", "Sin", WriteSameLayer},
    IrWriteDef{"", "Sinh", WriteSameLayer},
    IrWriteDef{"", "Softplus", WriteSameLayer},
    IrWriteDef{"", "Softsign", WriteSameLayer},
    IrWriteDef{"", "Sqrt", WriteSameLayer},
    IrWriteDef{"", "Sub", WriteSameLayer},
    IrWriteDef{"", "Tan", WriteSameLayer},
    IrWriteDef{"", "Tanh", WriteSameLayer},
    IrWriteDef{"", "Xor", WriteSameLayer},
    IrWriteDef{kOpenVinoDomain, "GRUCell", WriteRecurrentLayer},
    IrWriteDef{kOpenVinoDomain, "GRUSequence", WriteRecurrentLayer},
    IrWriteDef{kOpenVinoDomain, "LSTMCell", WriteRecurrentLayer},
    IrWriteDef{kOpenVinoDomain, "LSTMSequence", WriteRecurrentLayer},
    IrWriteDef{kOpenVinoDomain, "RNNCell", WriteRecurrentLayer},
    IrWriteDef{kOpenVinoDomain, "RNNSequence", WriteRecurrentLayer},
};
constexpr auto KeyOf(const IrWriteDef& def) { return std::pair(def.domain, def.op_type); }
static_assert(std::ranges::is_sorted(kOperators, {}, KeyOf));

}  // namespace

const IrWriteDef* FindIrWriter(std::string_view domain, std::string_view op_type) {
  const std::pair key(domain, op_type);
  const auto* found = std::ranges::lower_bound(kOperators, key, {}, KeyOf);
  return found == kOperators.end() || KeyOf(*found) != key ? nullptr : found;
}

std::span<const IrWriteDef> IrWriteDefs() { return kOperators; }

}  // namespace ONNX_LIGHT_NAMESPACE
