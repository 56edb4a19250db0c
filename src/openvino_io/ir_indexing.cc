// SPDX-License-Identifier: Apache-2.0
// Reading and writing at indices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Indices(IrLowering& l, int i) {
  const TensorType type = l.input(i).type;
  return type == TensorType::kInt64 || type == TensorType::kInt32 ? l.Use(i) : l.Int64(i, false);
}

// The name ONNX has for a reduction; "" for none.
std::string Reduction(const IrLowering& l) {
  const std::string reduction = l.attrs().String("reduction", "none");
  if (reduction == "none") return "";
  if (reduction == "sum") return "add";
  if (reduction == "prod") return "mul";
  if (reduction == "min" || reduction == "max") return reduction;
  l.Refuse(fmt::format("reduction {} has no ONNX operator", QuoteForMessage(reduction)));
}

// The axes [from, from + count) of a value of this rank in front, or back from there.
std::vector<int64_t> ToFront(int64_t rank, int64_t from, int64_t count) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < count; ++i) perm.push_back(from + i);
  for (int64_t i = 0; i < rank; ++i) {
    if (i < from || i >= from + count) perm.push_back(i);
  }
  return perm;
}
std::vector<int64_t> Inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

// GatherND takes the axis behind those of the batch; where another is meant it changes places with those between.
void GatherOfBatches(IrLowering& l, int64_t axis, int64_t batch) {
  if (axis < 0) axis += l.KnownRank(0, "to count the axis");
  if (batch < 0 || axis < batch)
    l.layer().Fail("attribute 'batch_dims'", fmt::format("is {}, not in [0, {}], the axis", batch, axis));
  const int64_t between = axis - batch;
  const std::string indices =
      l.Apply("Unsqueeze", {l.Int64(1, false), l.Int64Constant("axes", std::array<int64_t, 1>{-1})});
  if (between == 0) {
    SetInt(l.Finish("GatherND", {l.Use(0), indices}), "batch_dims", batch);
    return;
  }
  const int64_t rank = l.KnownRank(0, "to reorder its axes"), own = l.KnownRank(1, "to reorder the axes") - batch;
  if (axis >= rank || own < 0)
    l.layer().Fail("", fmt::format("axis {} of rank {} is none behind {}", axis, rank, batch));
  std::vector<int64_t> first(static_cast<size_t>(rank)), back;
  std::iota(first.begin(), first.end(), int64_t{0});
  std::rotate(first.begin() + batch, first.begin() + axis, first.begin() + axis + 1);
  // [batch.., indices.., between.., rest..] to [batch.., between.., indices.., rest..].
  back.resize(static_cast<size_t>(rank - 1 + own));
  std::iota(back.begin(), back.end(), int64_t{0});
  std::rotate(back.begin() + batch, back.begin() + batch + own, back.begin() + batch + own + between);
  const std::string gathered = l.Temporary("gathered");
  SetInt(l.Node("GatherND", {l.Transposed(l.Use(0), first), indices}, {gathered}), "batch_dims", batch);
  SetInts(l.Finish("Transpose", {gathered}), "perm", back);
}

}  // namespace

void LowerGather(IrLowering& l) {
  const int64_t axis = l.ConstantInt(2, "input 2 'axis'");
  int64_t batch = l.attrs().Int("batch_dims", 0);
  if (batch < 0) batch += l.KnownRank(1, "to count batch_dims");
  if (batch != 0) {
    GatherOfBatches(l, axis, batch);
  } else {
    SetInt(l.Finish("Gather", {l.Use(0), Indices(l, 1)}), "axis", axis);
  }
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0 && l.input(1).rank >= 0)
    l.output(0).rank = l.input(0).rank + l.input(1).rank - 1 - static_cast<int>(batch);
}

void LowerGatherElements(IrLowering& l) {
  SetInt(l.Finish("GatherElements", {l.Use(0), Indices(l, 1)}), "axis", l.attrs().Int("axis"));
  l.output(0).type = l.input(0).type;
  l.output(0).rank = l.input(1).rank;
}

// Before opset8 several batch dims became one in the output.
void LowerGatherNd(IrLowering& l) {
  const int64_t batch = l.attrs().Int("batch_dims", 0);
  if (batch > 1 && l.layer().opset < 8)
    l.Refuse(fmt::format("batch_dims {} of {} become one axis, which has no ONNX operator", batch, l.layer().version));
  SetInt(l.Finish("GatherND", {l.Use(0), l.Int64(1, false)}), "batch_dims", batch);
  l.output(0).type = l.input(0).type;
}

void LowerNonZero(IrLowering& l) {
  const std::string indices = l.IndicesName(0, "output_type", TensorType::kInt64);
  l.Node("NonZero", {l.Use(0)}, {indices});
  l.FinishIndices(indices, 0);
  l.output(0).rank = 2;
}

namespace {

// What a reduction leaves as it is.
double Neutral(TensorType type, std::string_view reduction) {
  if (reduction == "prod") return 1;
  if (reduction != "min" && reduction != "max") return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (onnx_optim::IsFloatTensorType(type)) return reduction == "min" ? infinity : -infinity;
  const int bits = onnx_optim::BitsOf(type);
  const bool is_signed = IrElementName(type).starts_with('i');
  if (reduction == "max") return is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  // Of 64 bits, the greatest that is a double too: of all that come after one is no greater.
  const int magnitude = is_signed ? bits - 1 : bits;
  return std::ldexp(1.0, magnitude) - (magnitude > 53 ? std::ldexp(1.0, magnitude - 53) : 1.0);
}

std::string ScatteredElements(IrLowering& l, const std::string& data, const std::string& at, const std::string& updates,
                              int64_t axis, const std::string& reduction, std::string output = {}) {
  if (output.empty()) output = l.Temporary("scattered");
  NodeProto& node = l.Node("ScatterElements", {data, at, updates}, {output});
  SetInt(node, "axis", axis);
  if (!reduction.empty()) SetString(node, "reduction", reduction);
  return output;
}

}  // namespace

// Without use_init_val what was there does not count where something is written. A mean is the sum over the number of
// what was added up; of integers it is rounded down.
void LowerScatterElements(IrLowering& l) {
  const std::string reduction = l.attrs().String("reduction", "none");
  const bool initial = l.attrs().Bool("use_init_val", true), mean = reduction == "mean";
  const std::string onnx = mean ? "add" : Reduction(l);
  const int64_t axis = l.ConstantInt(3, "input 3 'axis'");
  const std::string at = Indices(l, 1), updates = l.Use(2);
  std::string data = l.Use(0);
  if (!initial && !onnx.empty()) {
    const TensorType type = l.KnownType(0);
    if (reduction != "sum" && !mean && onnx_optim::BitsOf(type) == 64 && !onnx_optim::IsFloatTensorType(type))
      l.Refuse("use_init_val \"false\" for 64 bit integers has no ONNX operator");
    const std::string neutral = l.ScalarConstant("neutral", type, Neutral(type, reduction));
    data = ScatteredElements(l, data, at, l.Apply("Expand", {neutral, l.Apply("Shape", {updates})}), axis, "");
  }
  if (!mean) {
    ScatteredElements(l, data, at, updates, axis, onnx, l.output(0).name);
  } else {
    const TensorType type = l.KnownType(0);
    const std::string one = l.ScalarConstant("one", type, 1), zero = l.ScalarConstant("zero", type, 0);
    const std::string ones = l.Apply("Expand", {one, l.Apply("Shape", {updates})});
    const std::string before = l.Apply("Expand", {initial ? one : zero, l.Apply("Shape", {data})});
    std::string count = ScatteredElements(l, before, at, ones, axis, "add");
    if (!initial) count = l.Apply("Max", {count, one});
    const std::string sum = ScatteredElements(l, data, at, updates, axis, "add");
    if (onnx_optim::IsFloatTensorType(type)) {
      l.Finish("Div", {sum, count});
    } else {  // what Mod leaves has the sign of the count, so that the rest divides exactly
      l.Finish("Div", {l.Apply("Sub", {sum, l.Apply("Mod", {sum, count})}), count});
    }
  }
  l.SameAs(0);
}

void LowerScatterNd(IrLowering& l) {
  std::string updates = l.Use(2), reduction;
  if (l.attrs().String("reduction", "none") == "sub") {
    updates = l.Apply("Neg", {updates});
    reduction = "add";
  } else {
    reduction = Reduction(l);
  }
  NodeProto& node = l.Finish("ScatterND", {l.Use(0), l.Int64(1, false), updates});
  if (!reduction.empty()) SetString(node, "reduction", reduction);
  l.SameAs(0);
}

// Whole slices along one axis: with that in front, and that of the updates too, it is what ScatterND writes.
void LowerScatterUpdate(IrLowering& l) {
  int64_t axis = l.ConstantInt(3, "input 3 'axis'");
  const std::string indices =
      l.Apply("Unsqueeze", {l.Int64(1, false), l.Int64Constant("axes", std::array<int64_t, 1>{-1})});
  if (axis == 0) {
    l.Finish("ScatterND", {l.Use(0), indices, l.Use(2)});
  } else {
    const int64_t rank = l.KnownRank(0, "to write along an axis"), count = l.KnownRank(1, "to write along an axis");
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) l.layer().Fail("input 3 'axis'", fmt::format("must be an axis of rank {}", rank));
    const std::vector<int64_t> front = ToFront(rank, axis, 1);
    const std::string data = l.Transposed(l.Use(0), front);
    const std::string updates = l.Transposed(l.Use(2), ToFront(rank - 1 + count, axis, count));
    SetInts(l.Finish("Transpose", {l.Apply("ScatterND", {data, indices, updates})}), "perm", Inverse(front));
  }
  l.SameAs(0);
}

// Sorted by value, not at all, or by index: then the chosen indices are sorted and read again.
void LowerTopK(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  const std::string mode = attrs.String("mode"), sort = attrs.String("sort");
  if (mode != "max" && mode != "min")
    l.layer().Fail("attribute 'mode'", fmt::format("must be max or min, got {}", QuoteForMessage(mode)));
  if (sort != "value" && sort != "index" && sort != "none")
    l.layer().Fail("attribute 'sort'", fmt::format("must be value, index or none, got {}", QuoteForMessage(sort)));
  const int64_t axis = attrs.Int("axis");
  const std::string x = l.Use(0), k = l.Int64(1, true), values = l.output(0).name;
  const std::string indices = l.IndicesName(1, "index_element_type", TensorType::kInt32);
  const auto top_k = [&](const std::string& from, bool largest, std::vector<std::string> outputs) {
    NodeProto& node = l.Node("TopK", {from, k}, std::move(outputs));
    SetInt(node, "axis", axis);
    SetInt(node, "largest", largest ? 1 : 0);
    SetInt(node, "sorted", sort == "none" ? 0 : 1);
  };
  if (sort == "index") {
    const std::string chosen = l.Temporary("chosen");
    top_k(x, mode == "max", {l.Temporary("by_value"), chosen});
    top_k(chosen, false, {indices, l.Temporary("order")});
    SetInt(l.Finish("GatherElements", {x, indices}), "axis", axis);
  } else {
    top_k(x, mode == "max", {values, indices});
  }
  l.FinishIndices(indices, 1);
  l.SameAs(0);
  l.output(1).rank = l.input(0).rank;
}

}  // namespace ONNX_LIGHT_NAMESPACE
