// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/window_body.h"

#include <fmt/format.h>

#include <numbers>

#include "graph/node_attributes.h"

namespace ONNX_LIGHT_NAMESPACE {

std::string WindowText(const NodeProto& node, const CosineWindow& window) {
  const NodeAttributes attrs(node);
  // A symmetric window of one place has no period; any will do.
  return fmt::format(R"((size) => (output) {{
  zero = Constant <value_int: int = 0> ()
  one = Constant <value_int: int = 1> ()
  less = Constant <value_int: int = {}> ()
  length = Cast <to: int = 7> (size)
  intervals = Sub (length, less)
  period = Max (intervals, one)
  place = Range (zero, length, one)
  place_double = Cast <to: int = 11> (place)
  period_double = Cast <to: int = 11> (period)
  turns = Div (place_double, period_double)
  turn = Constant <value: tensor = double {{{}}}> ()
  two_turns = Constant <value: tensor = double {{{}}}> ()
  angle = Mul (turns, turn)
  angle_2 = Mul (turns, two_turns)
  wave = Cos (angle)
  wave_2 = Cos (angle_2)
  a0 = Constant <value: tensor = double {{{}}}> ()
  a1 = Constant <value: tensor = double {{{}}}> ()
  a2 = Constant <value: tensor = double {{{}}}> ()
  part_1 = Mul (a1, wave)
  part_2 = Mul (a2, wave_2)
  difference = Sub (a0, part_1)
  window = Add (difference, part_2)
  output = Cast <to: int = {}> (window)
}})",
                     attrs.Int("periodic", 1) != 0 ? 0 : 1, 2 * std::numbers::pi, 4 * std::numbers::pi, window.a0,
                     window.a1, window.a2, attrs.Int("output_datatype", 1));
}

OpDef WindowOp(std::string_view type, std::string (*body)(const NodeProto&, int64_t)) {
  return {.domain = "",
          .type = type,
          .since_version = 17,
          .inputs = {{"size", kIndexTypes}},
          .outputs = {{"output", kNumericTypes}},
          .attributes = {{"output_datatype", AttrKind::kInt}, {"periodic", AttrKind::kInt}},
          .body = body};
}

}  // namespace ONNX_LIGHT_NAMESPACE
