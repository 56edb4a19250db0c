// SPDX-License-Identifier: Apache-2.0
// Lengths: states that stay as they are once a row has had its steps.
#pragma once

#include <optional>

#include "passes/cells/step_body.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// In step t a row of a state goes on where t is below its length.
struct Lengths {
  int value = GraphEdit::kAbsent;  // integers of the graph around, one for each row
  friend bool operator==(const Lengths&, const Lengths&) = default;
};

// `chosen`, where t is below the length; otherwise `otherwise`.
struct ByLength {
  Lengths lengths;
  int chosen, otherwise;
};

// What a value of the body, made by a Where, is; nothing where its condition is another.
std::optional<ByLength> ReadByLength(const StepBody& steps, int value);

}  // namespace ONNX_LIGHT_NAMESPACE::cells
