// SPDX-License-Identifier: Apache-2.0
// Reading and writing at indices, and what counts.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Reduction(IrNodeWriter& w) {
  const std::string reduction = w.String("reduction", "none");
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  return reduction;
}

IrType Indices(const IrType& like) { return {.element = TensorType::kInt64, .ranked = like.ranked, .dims = like.dims}; }

}  // namespace

void WriteGather(IrNodeWriter& w) {
  w.Finish("Gather", "opset8", {w.In(0), w.In(1), w.Int64("axis", w.Int("axis", 0))}, {{"batch_dims", "0"}});
}
void WriteGatherElements(IrNodeWriter& w) {
  w.Finish("GatherElements", "opset6", {w.In(0), w.In(1)}, {{"axis", std::to_string(w.Int("axis", 0))}});
}
void WriteGatherNd(IrNodeWriter& w) {
  w.Finish("GatherND", "opset8", {w.In(0), w.In(1)}, {{"batch_dims", std::to_string(w.Int("batch_dims", 0))}});
}

void WriteScatterElements(IrNodeWriter& w) {
  const std::string reduction = Reduction(w);
  const IrRef axis = w.Int64("axis", w.Int("axis", 0));
  if (reduction == "none") return w.Finish("ScatterElementsUpdate", "opset3", {w.In(0), w.In(1), w.In(2), axis});
  w.Finish("ScatterElementsUpdate", "opset12", {w.In(0), w.In(1), w.In(2), axis},
           {{"reduction", reduction}, {"use_init_val", "true"}});
}

void WriteScatterNd(IrNodeWriter& w) {
  const std::string reduction = Reduction(w);
  if (reduction == "none") return w.Finish("ScatterNDUpdate", "opset4", {w.In(0), w.In(1), w.In(2)});
  w.Finish("ScatterNDUpdate", "opset15", {w.In(0), w.In(1), w.In(2)}, {{"reduction", reduction}});
}

// Of equal values the first comes first.
void WriteTopK(IrNodeWriter& w) {
  const bool sorted = w.Int("sorted", 1) != 0;
  const IrRef k = w.Attribute("k") != nullptr ? w.Int64("k", w.Int("k", 1)) : w.AsScalar(w.In(1));
  w.Finish("TopK", "opset11", {w.In(0), k},
           {{"axis", std::to_string(w.Int("axis", -1))},
            {"mode", w.Int("largest", 1) != 0 ? "max" : "min"},
            {"sort", sorted ? "value" : "none"},
            {"index_element_type", "i64"},
            {"stable", IrText(sorted)}},
           2);
}

namespace {

// Where the first of the greatest or least elements along the axis is; its size stays as 1.
IrRef FirstOf(IrNodeWriter& w, const char* mode, int64_t axis) {
  const IrRef x = w.In(0);
  IrType kept = *x.type;
  if (kept.ranked) {
    const auto at = static_cast<size_t>(w.Axis(axis, kept));
    if (at >= kept.dims.size()) w.RefuseAttribute("axis", fmt::format("{} is no axis of rank {}", axis, kept.rank()));
    kept.dims[at] = 1;
  }
  const IrData data{{"axis", std::to_string(axis)},
                    {"mode", mode},
                    {"sort", "value"},
                    {"index_element_type", "i64"},
                    {"stable", "true"}};
  return w.Steps("top", "TopK", "opset11", {x, w.Int64("one", 1)}, data, {kept, Indices(kept)})[1];
}

}  // namespace

void WriteArgMax(IrNodeWriter& w) {
  if (w.Int("select_last_index", 0) != 0)
    w.RefuseAttribute("select_last_index", "TopK gives the first of equal values");
  const int64_t axis = w.Int("axis", 0);
  const IrRef found = FirstOf(w, w.node().op_type() == "ArgMax" ? "max" : "min", axis);
  if (w.Int("keepdims", 1) != 0) return w.Alias(0, found);
  w.Finish("Squeeze", "opset1", {found, w.Int64s("axis", {axis})});
}

void WriteHardmax(IrNodeWriter& w) {
  if (w.opset() < 13) w.Refuse("", fmt::format("in operator set {} it is over several axes", w.opset()));
  const IrType x = w.Type(0);
  const int64_t axis = w.Int("axis", -1), at = w.Axis(axis, x);
  const IrRef found = FirstOf(w, "max", axis);
  IrType places = *found.type;
  places.dims.erase(places.dims.begin() + at);
  const IrRef place = w.Step("place", "Squeeze", "opset1", {found, w.Int64s("axis", {axis})}, {}, places);
  const IrRef depth = w.SizeAt(w.ShapeOf(w.In(0)), at);
  w.Finish("OneHot", "opset1", {place, depth, w.Scalar("on", x.element, 1), w.Scalar("off", x.element, 0)},
           {{"axis", std::to_string(at)}});
}

void WriteNonZero(IrNodeWriter& w) { w.Finish("NonZero", "opset3", {w.In(0)}, {{"output_type", "i64"}}); }

// Indices below 0 count from the depth, in IR they choose nothing.
void WriteOneHot(IrNodeWriter& w) {
  const IrRef indices = w.Converted(w.In(0), TensorType::kInt64);
  const IrRef depth = w.AsScalar(w.Converted(w.In(1), TensorType::kInt64)), values = w.In(2);
  IrType negative = *indices.type;
  negative.element = TensorType::kBool;
  const IrRef below = w.Binary("Less", indices, w.Int64("zero", 0), negative);
  const IrRef from_end = w.Binary("Add", indices, depth, *indices.type);
  const IrRef at =
      w.Step("at", "Select", "opset1", {below, from_end, indices}, {{"auto_broadcast", "numpy"}}, *indices.type);
  const auto value = [&](const char* hint, int64_t i) {
    return w.Step(hint, "Gather", "opset8", {values, w.Int64("at", i), w.Int64("axis", 0)}, {{"batch_dims", "0"}},
                  IrType::Tensor(values.type->element, {}));
  };
  w.Finish("OneHot", "opset1", {at, depth, value("on", 1), value("off", 0)},
           {{"axis", std::to_string(w.Int("axis", -1))}});
}

void WriteCumSum(IrNodeWriter& w) {
  w.Finish("CumSum", "opset3", {w.In(0), w.AsScalar(w.In(1))},
           {{"exclusive", IrText(w.Int("exclusive", 0) != 0)}, {"reverse", IrText(w.Int("reverse", 0) != 0)}});
}

// The 16 bit types, which Range of older operator sets does not have, as float.
void WriteRange(IrNodeWriter& w) {
  const TensorType type = w.Element(0);
  const bool narrow = type == TensorType::kFloat16 || type == TensorType::kBfloat16;
  const TensorType wide = narrow ? TensorType::kFloat : type;
  const auto number = [&](int i) { return w.Converted(w.AsScalar(w.In(i)), wide); };
  const std::vector<IrRef> numbers{number(0), number(1), number(2)};
  const IrData data{{"output_type", std::string(IrElementName(wide))}};
  if (!narrow) return w.Finish("Range", "opset4", numbers, data);
  const IrRef range = w.Step("range", "Range", "opset4", numbers, data, IrType::Tensor(wide, w.OutputType(0).dims));
  w.Finish("Convert", "opset1", {range}, {{"destination_type", std::string(IrElementName(type))}});
}

void WriteEyeLike(IrNodeWriter& w) {
  w.Ignore("dtype");
  const IrRef shape = w.ShapeOf(w.In(0)), rows = w.SizeAt(shape, 0), columns = w.SizeAt(shape, 1);
  w.Finish("Eye", "opset9", {rows, columns, w.Int64("k", w.Int("k", 0))},
           {{"output_type", std::string(IrElementName(w.OutputType(0).element))}});
}

void WriteUnique(IrNodeWriter& w) {
  std::vector<IrRef> inputs{w.In(0)};
  if (w.Attribute("axis") != nullptr) inputs.push_back(w.Int64("axis", w.Int("axis", 0)));
  const IrType found = w.Gives(0) ? w.OutputType(0) : IrType{.element = w.Element(0), .ranked = false, .dims = {}};
  const IrType places = IrType::Tensor(TensorType::kInt64, {-1});
  const auto outputs = w.Steps(
      "found", "Unique", "opset10", inputs,
      {{"sorted", IrText(w.Int("sorted", 1) != 0)}, {"index_element_type", "i64"}, {"count_element_type", "i64"}},
      {found, places, places, places});
  for (int i = 0; i < 4; ++i)
    if (w.Gives(i)) w.Alias(i, outputs[static_cast<size_t>(i)]);
}

namespace {

// The k of Trilu within bounds that no matrix reaches and to which a row can be added.
IrRef Diagonal(IrNodeWriter& w) {
  constexpr int64_t kFar = int64_t{1} << 48;
  if (!w.Has(1)) return w.Int64("k", 0);
  if (const auto known = w.ConstantInts(1); known && known->size() == 1) {
    w.MarkUsed(1);
    return w.Int64("k", std::clamp(known->front(), -kFar, kFar));
  }
  const IrRef k = w.AsScalar(w.In(1));
  return w.Step("k", "Clamp", "opset1", {k}, {{"min", std::to_string(-kFar)}, {"max", std::to_string(kFar)}}, *k.type);
}

}  // namespace

// An element is kept by its row and column: column - row >= k, or <= k.
void WriteTrilu(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  if (w.Rank(0) < 2) w.Refuse("input 0 'input'", "must have rank 2 or more");
  const bool upper = w.Int("upper", 1) != 0;
  const IrRef k = Diagonal(w);
  const IrRef shape = w.ShapeOf(x);
  const auto numbers = [&](const char* hint, int64_t axis) {
    const IrRef size = w.SizeAt(shape, axis);
    return w.Step(hint, "Range", "opset4", {w.Int64("zero", 0), size, w.Int64("one", 1)}, {{"output_type", "i64"}},
                  IrType::Tensor(TensorType::kInt64, {x.type->dims[static_cast<size_t>(x.type->rank() + axis)]}));
  };
  const int64_t rows = x.type->dims[x.type->dims.size() - 2], columns = x.type->dims.back();
  const IrRef row = w.Step("row", "Unsqueeze", "opset1", {numbers("rows", -2), w.Int64s("axis", {1})}, {},
                           IrType::Tensor(TensorType::kInt64, {rows, 1}));
  const IrRef least = w.Binary("Add", row, k, *row.type);
  const IrRef keep = w.Binary(upper ? "GreaterEqual" : "LessEqual", numbers("columns", -1), least,
                              IrType::Tensor(TensorType::kBool, {rows, columns}));
  const TensorType type = w.Element(0);
  const IrRef zero =
      w.Const("zero", type, {}, type == TensorType::kBool ? Bytes(std::string(1, '\0')) : *ScalarBytes(type, 0));
  w.Finish("Select", "opset1", {keep, x, zero}, {{"auto_broadcast", "numpy"}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
