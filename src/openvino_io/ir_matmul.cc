// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The last two axes of a value of this rank changed.
std::string MatrixTransposed(IrLowering& l, const std::string& value, int rank, const char* hint) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  std::string transposed = l.Temporary(hint);
  SetInts(l.Node("Transpose", {value}, {transposed}), "perm", perm);
  return transposed;
}

}  // namespace

void LowerMatMul(IrLowering& l) {
  constexpr const char* kNames[] = {"transpose_a", "transpose_b"};
  std::vector<std::string> operands;
  for (int i = 0; i < 2; ++i) {
    std::string operand = l.Use(i);
    if (l.attrs().Bool(kNames[i], false)) {
      const int rank = l.KnownRank(i, "to transpose it");
      if (rank >= 2) operand = MatrixTransposed(l, operand, rank, kNames[i]);  // a vector is not transposed
    }
    operands.push_back(std::move(operand));
  }
  l.Finish("MatMul", operands);
  l.output(0).type = l.input(0).type != TensorType::kUndefined ? l.input(0).type : l.input(1).type;
  const int a = l.input(0).rank, b = l.input(1).rank;
  if (a >= 2 && b >= 2) l.output(0).rank = std::max(a, b);
}

void LowerEinsum(IrLowering& l) {
  SetString(l.DirectNode("Einsum"), "equation", l.attrs().String("equation"));
  l.output(0).type = l.input(0).type;
}

// softmax(query * key' * scale + mask) * value
void LowerAttention(IrLowering& l) {
  const TensorType type = l.KnownType(0);
  const bool causal = l.attrs().Bool("causal", false);
  const std::string query = l.Use(0), key = l.Use(1);
  std::string scores = l.Apply("MatMul", {query, MatrixTransposed(l, key, l.KnownRank(1, "to transpose it"), "key")});
  if (l.input_size() > 4) {
    scores = l.Apply("Mul", {scores, l.Use(4)});
  } else {
    scores = l.Apply("Div", {scores, l.Apply("Sqrt", {l.CastTo(l.AxisSize(query, -1), type)})});
  }
  const std::string none = l.ScalarConstant("none", type, -std::numeric_limits<double>::infinity());
  const std::string zero = l.ScalarConstant("zero", type, 0);
  if (causal) {  // a mask is not looked at then
    const std::string shape = l.Temporary("shape"), above = l.Temporary("above");
    SetInt(l.Node("Concat", {l.AxisSize(query, -2), l.AxisSize(key, -2)}, {shape}), "axis", 0);
    SetInt(
        l.Node("Trilu", {l.Apply("Expand", {none, shape}), l.Int64Constant("above", std::vector<int64_t>{1})}, {above}),
        "upper", 1);
    scores = l.Apply("Add", {scores, above});
  } else if (l.input_size() > 3) {
    std::string mask = l.Use(3);
    if (l.KnownType(3) == TensorType::kBool) mask = l.Apply("Where", {mask, zero, none});
    scores = l.Apply("Add", {scores, mask});
  }
  const std::string weights = l.Temporary("weights");
  SetInt(l.Node("Softmax", {scores}, {weights}), "axis", -1);
  l.Finish("MatMul", {weights, l.Use(2)});
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
