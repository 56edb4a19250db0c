// SPDX-License-Identifier: Apache-2.0
// Rows of a table added up: those of each bag, or segment.
#include <fmt/format.h>

#include <limits>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// `vector` with axes of 1 behind its own, as a factor of values of rank `rank` along their first `own` axes.
std::string Spread(IrLowering& l, const std::string& vector, int rank, int own) {
  std::vector<int64_t> axes;
  for (int axis = own; axis < rank; ++axis) axes.push_back(axis);
  return axes.empty() ? vector : l.Apply("Unsqueeze", {vector, l.Int64Constant("axes", axes)});
}

bool IsMean(const IrLowering& l) {
  const std::string reduction = l.attrs().String("reduction", "sum");
  if (reduction != "sum" && reduction != "mean")
    l.layer().Fail("attribute 'reduction'", fmt::format("must be sum or mean, got {}", QuoteForMessage(reduction)));
  return reduction == "mean";
}

// zeros[ids[k]] (op)= values[k] for all k, over `rows` (a vector of one) rows like those of `values`.
std::string Gathered(IrLowering& l, const std::string& fill, const std::string& values, const std::string& ids,
                     const std::string& rows, const char* reduction) {
  const std::string rest = l.Apply("Slice", {l.Apply("Shape", {values}), l.Int64Constant("from", {1}),
                                             l.Int64Constant("to", {std::numeric_limits<int64_t>::max()})});
  const std::string start = l.Apply("Expand", {fill, l.Along("Concat", {rows, rest}, 0)});
  const std::string at = l.Apply("Unsqueeze", {ids, l.Int64Constant("axes", {-1})});
  std::string output = l.Temporary("gathered");
  SetString(l.Node("ScatterND", {start, at, values}, {output}), "reduction", reduction);
  return output;
}

// How many k have ids[k] = i, for each i below `rows`.
std::string CountOf(IrLowering& l, const std::string& ids, const std::string& rows) {
  const std::string ones = l.Apply("Expand", {l.ScalarConstant("one", TensorType::kInt64, 1), l.Apply("Shape", {ids})});
  return Gathered(l, l.ScalarConstant("zero", TensorType::kInt64, 0), ones, ids, rows, "add");
}

// Finishes the layer: rows of the table (input 0) by `indices`, times the weights (input `weights`, when there is one),
// added up by segment. Where a segment has none there is the row that input `otherwise` names, 0 for -1.
void SumSegments(IrLowering& l, const std::string& indices, const std::string& ids, const std::string& rows,
                 int otherwise, int weights, bool mean) {
  const TensorType type = l.KnownType(0);
  const int rank = l.KnownRank(0, "to add up its rows");
  const std::string table = l.Use(0);
  const auto rows_of = [&](const std::string& at) { return l.Along("Gather", {table, at}, 0); };
  std::string values = rows_of(indices);
  if (l.input_size() > weights) values = l.Apply("Mul", {values, Spread(l, l.Use(weights), rank, 1)});
  const std::string zero = l.ScalarConstant("zero", type, 0);
  const std::string sums = Gathered(l, zero, values, ids, rows, "add");
  const std::string counts = Spread(l, CountOf(l, ids, rows), rank, 1);
  std::string result = sums;
  if (mean) {
    const std::string one = l.ScalarConstant("one", TensorType::kInt64, 1);
    result = l.Apply("Div", {sums, l.CastTo(l.Apply("Max", {counts, one}), type)});
  }
  const std::string none = l.ScalarConstant("none", TensorType::kInt64, 0);
  const std::string empty = l.Apply("Equal", {counts, none});
  std::string row = zero;
  if (l.input_size() > otherwise) {
    const std::string at = l.Int64(otherwise, true);
    const std::string named = rows_of(l.Apply("Max", {at, none}));
    const std::string is_named = Spread(l, l.Apply("GreaterOrEqual", {at, none}), rank, 1);
    row = l.Apply("Where", {is_named, named, zero});
  }
  l.Finish("Where", {empty, row, result});
  l.SameAs(0);
}

}  // namespace

// Bags of equal size: indices [B, n].
void LowerEmbeddingBagPacked(IrLowering& l) {
  const int rank = l.KnownRank(0, "to add up its rows");
  const bool mean = IsMean(l);
  std::string rows = l.Along("Gather", {l.Use(0), l.Int64(1, false)}, 0);
  if (l.input_size() > 2) rows = l.Apply("Mul", {rows, Spread(l, l.Use(2), rank + 1, 2)});
  SetInt(l.Finish(mean ? "ReduceMean" : "ReduceSum", {rows, l.Int64Constant("axes", {1})}), "keepdims", 0);
  l.SameAs(0);
}

// Where each bag begins: k lies in the last one that does not begin behind it.
void LowerEmbeddingBagOffsets(IrLowering& l) {
  const bool mean = IsMean(l);
  const std::string indices = l.Int64(1, true), offsets = l.Int64(2, true);
  const std::string place = l.Apply("Unsqueeze", {l.CountTo(l.AxisSize(indices, 0)), l.Int64Constant("axes", {1})});
  const std::string begun = l.CastTo(l.Apply("LessOrEqual", {offsets, place}), TensorType::kInt64);
  const std::string number = l.Temporary("number");
  SetInt(l.Node("ReduceSum", {begun, l.Int64Constant("axes", {1})}, {number}), "keepdims", 0);
  const std::string ids = l.Apply("Sub", {number, l.ScalarConstant("one", TensorType::kInt64, 1)});
  SumSegments(l, indices, ids, l.AxisSize(offsets, 0), 3, 4, mean);
}

void LowerEmbeddingSegmentsSum(IrLowering& l) {
  const std::string indices = l.Int64(1, true), ids = l.Int64(2, true), rows = l.Int64(3, true);
  SumSegments(l, indices, ids, rows, 4, 5, false);
}

}  // namespace ONNX_LIGHT_NAMESPACE
