// SPDX-License-Identifier: Apache-2.0
// The equation of Einsum: "bij,bjk->bik". A letter names an axis; "..." stands for any number of axes, aligned at the
// end and broadcast between operands. Without an arrow the result has the axes of "..." and those letters that occur
// once, in the order of the alphabet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

struct EinsumEquation {
  int labels = 0;                        // axes are numbered [0, labels)
  std::vector<std::vector<int>> inputs;  // by operand, by its axis
  std::vector<int> output;
};

// Ranks of the operands, nothing where unknown. Nothing when that leaves the equation open. Throws InvalidArgument
// about attribute 'equation' when it is none, or does not fit the operands.
std::optional<EinsumEquation> ParseEinsum(const std::string& text, std::span<const std::optional<int>> ranks);

}  // namespace ONNX_LIGHT_NAMESPACE
