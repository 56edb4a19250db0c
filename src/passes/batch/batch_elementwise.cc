// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {

bool BatchElementwise(BatchNode& node) {
  const Batched& out = node.outputs[0];
  // Operators that are no OpDef::elementwise have one input, or any number of equal ones.
  const bool variadic = node.op.inputs.back().count == FormalCount::kVariadic;
  const uint32_t broadcast = node.op.elementwise != 0 ? node.op.elementwise : variadic ? ~uint32_t{0} : 1;
  std::vector<std::string> names = node.InputNames();
  if (node.op.type == "PRelu" && node.inputs[0].IsUniform()) {  // its first input is not broadcast
    const std::optional<Batched> stacked = node.graph.Stack(node.inputs[0]);
    if (!stacked || !out.IsStacked()) return node.Fail("lengths meet other sizes");
    names[0] = stacked->name;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Batched& input = node.inputs[i];
    if (!node.HasInput(i)) continue;
    // Its first axes would meet the elements. PRelu's shape is that of its first input.
    if (input.rank() > out.rank()) return node.Fail(fmt::format("input {} has too many axes", i));
    if (input.IsUniform()) {
      // Rules of shapes that leave a length open would let it meet a size.
      if (out.IsPacked() && input.rank() >= out.axis_from_end() &&
          input.shape[static_cast<size_t>(input.rank() - out.axis_from_end())] != OptimDim(1))
        return node.Fail("lengths meet other sizes");
      continue;
    }
    if (i >= 32 || (broadcast >> i & 1) == 0) return node.Fail(fmt::format("input {} differs between elements", i));
    if (input.IsPacked()) {
      if (!out.IsPacked() || out.axis_from_end() != input.axis_from_end() || out.length() != input.length())
        return node.Fail("lengths meet other sizes");
    } else if (out.IsStacked()) {
      names[i] = node.graph.Unsqueezed(input, out.rank());
    } else {
      const auto repeated = node.graph.Repeat(input, out.axis_from_end(), out.length());
      if (!repeated) return node.Fail("lengths meet other sizes");
      names[i] = *repeated;
    }
  }
  node.Copy(names);
  return true;
}

}  // namespace ONNX_LIGHT_NAMESPACE
