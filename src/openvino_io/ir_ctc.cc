// SPDX-License-Identifier: Apache-2.0
// CTC decoding: the best class of each step, repeats and blanks taken out.
#include <fmt/format.h>

#include <array>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Of the best classes [N, T] those that count: not `blank`, where `valid`, and, to `merge`, not those that repeat the
// step before. `classes` has them in front, -1 behind; `kept` says which they are.
struct Collapsed {
  std::string classes, kept;
};
Collapsed Collapse(IrLowering& l, const std::string& best, const std::string& blank, const std::string& valid,
                   bool merge) {
  const TensorType int64 = TensorType::kInt64;
  const std::string none = l.ScalarConstant("none", int64, -1), shape = l.Apply("Shape", {best});
  std::string kept = l.Apply("And", {valid, l.Apply("Not", {l.Apply("Equal", {best, blank})})});
  if (merge) {
    const std::string before = l.Apply("Pad", {best, l.Int64Constant("pads", {0, 1, 0, -1}), none});
    kept = l.Apply("And", {kept, l.Apply("Not", {l.Apply("Equal", {best, before})})});
  }
  // The others go to a place behind the last, which is cut off.
  const std::string count = l.Apply("CumSum", {l.CastTo(kept, int64), l.Int64Constant("axis", {1})});
  const std::string place = l.Apply("Sub", {count, l.ScalarConstant("one", int64, 1)});
  const std::string steps = l.AxisSize(best, 1);
  const std::string to = l.Apply("Where", {kept, place, steps});
  const std::string longer = l.Apply("Add", {shape, l.Int64Constant("more", {0, 1})});
  const std::string filled = l.Along("ScatterElements", {l.Apply("Expand", {none, longer}), to, best}, 1);
  return {l.Apply("Slice", {filled, l.Int64Constant("from", {0}), steps, l.Int64Constant("axes", {1})}), kept};
}

// The best classes along the last axis, and the last class there is.
std::string BestClasses(IrLowering& l, const std::string& x) {
  std::string best = l.Along("ArgMax", {x}, -1);
  SetInt(*l.builder().graph->mutable_node(l.builder().graph->node_size() - 1), "keepdims", 0);
  return best;
}
std::string LastClass(IrLowering& l, const std::string& x) {
  return l.Apply("Sub", {l.AxisSize(x, -1), l.Int64Constant("one", {1})});
}

}  // namespace

// Data [T, N, C]; a batch ends at the first step whose mask [T, N] is 0. Output [N, T, 1, 1] of the data's type.
void LowerCtcGreedyDecoder(IrLowering& l) {
  const TensorType type = l.KnownType(0), mask_type = l.KnownType(1);
  const std::array<int64_t, 2> swapped{1, 0};
  const std::string x = l.Use(0);
  const std::string best = l.Transposed(BestClasses(l, x), swapped);
  const std::string over = l.Apply("Equal", {l.Use(1), l.ScalarConstant("zero", mask_type, 0)});
  const std::string ended = l.Apply("CumSum", {l.CastTo(over, TensorType::kInt64), l.Int64Constant("axis", {0})});
  const std::string valid =
      l.Transposed(l.Apply("Equal", {ended, l.ScalarConstant("zero", TensorType::kInt64, 0)}), swapped);
  const bool merge =
      l.attrs().Bool(l.attrs().Has("ctc_merge_repeated") ? "ctc_merge_repeated" : "merge_repeated", true);
  const Collapsed collapsed = Collapse(l, best, LastClass(l, x), valid, merge);
  l.Finish("Unsqueeze", {l.CastTo(collapsed.classes, type), l.Int64Constant("axes", {2, 3})});
  l.output(0).type = type;
  l.output(0).rank = 4;
}

// Data [N, T, C], lengths [N], and which class is the blank (the last one when not said). Outputs [N, T] and [N].
void LowerCtcGreedyDecoderSeqLen(IrLowering& l) {
  const std::string x = l.Use(0);
  const std::string best = BestClasses(l, x);
  const std::string lengths = l.Apply("Unsqueeze", {l.Int64(1, true), l.Int64Constant("axes", {1})});
  const std::string valid = l.Apply("Less", {l.CountTo(l.AxisSize(best, 1)), lengths});
  const std::string blank = l.input_size() > 2 ? l.Int64(2, true) : LastClass(l, x);
  const Collapsed collapsed = Collapse(l, best, blank, valid, l.attrs().Bool("merge_repeated", true));
  const std::string classes = l.IndicesName(0, "classes_index_type", TensorType::kInt32);
  l.Node("Identity", {collapsed.classes}, {classes});
  l.FinishIndices(classes, 0);
  const std::string length = l.IndicesName(1, "sequence_length_type", TensorType::kInt32);
  const std::string counted = l.CastTo(collapsed.kept, TensorType::kInt64);
  SetInt(l.Node("ReduceSum", {counted, l.Int64Constant("axes", {1})}, {length}), "keepdims", 0);
  l.FinishIndices(length, 1);
  l.output(0).rank = 2;
  l.output(1).rank = 1;
}

}  // namespace ONNX_LIGHT_NAMESPACE
