// SPDX-License-Identifier: Apache-2.0
// Operators that leave the elements as they are, in another shape, order or number.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

IrType Vector(int64_t size) { return IrType::Tensor(TensorType::kInt64, {size}); }

// The product of the sizes of axes [from, to), a vector of one.
IrRef Product(IrNodeWriter& w, const IrRef& value, int64_t from, int64_t to) {
  int64_t product = 1;
  for (int64_t i = from; i < to; ++i) {
    const int64_t dim = value.type->dims[static_cast<size_t>(i)];
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) product = -1;
    if (product < 0) break;
  }
  if (product >= 0) return w.Int64s("size", {product});
  std::vector<int64_t> axes(static_cast<size_t>(to - from));
  std::iota(axes.begin(), axes.end(), from);
  const IrRef sizes =
      w.Step("sizes", "Gather", "opset8", {w.ShapeOf(value), w.Int64s("axes", axes), w.Int64("axis", 0)},
             {{"batch_dims", "0"}}, Vector(to - from));
  return w.Step("size", "ReduceProd", "opset1", {sizes, w.Int64s("axes", {0})}, {{"keep_dims", "true"}}, Vector(1));
}

}  // namespace

void WriteReshape(IrNodeWriter& w) {
  const bool zero_is_size = w.Int("allowzero", 0) != 0;
  w.Finish("Reshape", "opset1", {w.In(0), w.List(1, "shape")}, {{"special_zero", IrText(!zero_is_size)}});
}

void WriteFlatten(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  const int64_t rank = w.Rank(0), axis = w.Axis(w.Int("axis", 1), *x.type);
  const IrRef shape = w.Step("new_shape", "Concat", "opset1", {Product(w, x, 0, axis), Product(w, x, axis, rank)},
                             {{"axis", "0"}}, Vector(2));
  w.Finish("Reshape", "opset1", {x, shape}, {{"special_zero", "false"}});
}

// Without an order it reverses the axes, and so does an empty one.
void WriteTranspose(IrNodeWriter& w) { w.Finish("Transpose", "opset1", {w.In(0), w.Int64s("order", w.Ints("perm"))}); }

void WriteSqueeze(IrNodeWriter& w) {
  std::vector<IrRef> inputs{w.In(0)};
  if (w.HasList(1, "axes")) inputs.push_back(w.List(1, "axes"));
  w.Finish("Squeeze", "opset1", inputs);
}

void WriteUnsqueeze(IrNodeWriter& w) { w.Finish("Unsqueeze", "opset1", {w.In(0), w.List(1, "axes")}); }

void WriteConcat(IrNodeWriter& w) {
  std::vector<IrRef> inputs;
  for (int i = 0; i < w.input_size(); ++i) inputs.push_back(w.In(i));
  w.Finish("Concat", "opset1", inputs, {{"axis", std::to_string(w.Int("axis", 1))}});
}

void WriteSplit(IrNodeWriter& w) {
  const int64_t axis = w.Int("axis", 0), parts = w.output_size();
  w.Ignore("num_outputs");  // as many as there are outputs
  if (parts == 0) w.Refuse("", "it has no outputs");
  const IrRef along = w.Int64("axis", axis);
  if (w.HasList(1, "split"))
    return w.Finish("VariadicSplit", "opset1", {w.In(0), along, w.List(1, "split")}, {}, static_cast<int>(parts));
  const IrType x = w.Type(0);
  if (x.ranked && w.Axis(axis, x) >= x.rank()) w.RefuseAttribute("axis", "is past the last axis");
  const int64_t size = x.ranked ? x.dims[static_cast<size_t>(w.Axis(axis, x))] : -1;
  // From operator set 18 on the last part may be smaller.
  if (size < 0 && w.opset() >= 18)
    w.RefuseAttribute("num_outputs", "the size of the axis must be known: the last part may be smaller");
  if (size >= 0 && size % parts != 0) {
    const int64_t each = (size + parts - 1) / parts;
    std::vector<int64_t> lengths(static_cast<size_t>(parts), each);
    lengths.back() = size - each * (parts - 1);
    return w.Finish("VariadicSplit", "opset1", {w.In(0), along, w.Int64s("lengths", lengths)}, {},
                    static_cast<int>(parts));
  }
  w.Finish("Split", "opset1", {w.In(0), along}, {{"num_splits", std::to_string(parts)}}, static_cast<int>(parts));
}

void WriteSlice(IrNodeWriter& w) {
  const IrRef x = w.In(0), starts = w.List(1, "starts"), ends = w.List(2, "ends");
  const TensorType type = starts.type->element;
  const int64_t count = starts.type->rank() == 1 ? starts.type->dims[0] : -1;
  IrRef steps;
  if (w.Has(4)) {
    steps = w.In(4);
  } else {
    constexpr int64_t kMostAxes = 64;
    if (count < 0 || count > kMostAxes)
      w.Refuse("input 1 'starts'", "the number of its elements must be known, as steps are left out");
    steps = w.Converted(w.Int64s("steps", std::vector<int64_t>(static_cast<size_t>(count), 1)), type);
  }
  std::vector<IrRef> inputs{x, starts, ends, steps};
  if (w.HasList(3, "axes")) inputs.push_back(w.List(3, "axes"));
  w.Finish("Slice", "opset8", inputs);
}

void WriteExpand(IrNodeWriter& w) { w.Finish("Broadcast", "opset3", {w.In(0), w.In(1)}, {{"mode", "bidirectional"}}); }

// With repeats that are not constant the CPU plugin of OpenVINO leaves parts of what Tile gives as they were in memory:
// then each axis gets one of size 1 in front, which is broadcast.
void WriteTile(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  const int64_t rank = x.type->rank();
  if (rank < 1 || w.Constant(1)) return w.Finish("Tile", "opset1", {x, w.In(1)});
  const IrRef repeats = w.Converted(w.In(1), TensorType::kInt64);
  std::vector<int64_t> axes, dims;
  for (int64_t i = 0; i < rank; ++i) {
    axes.push_back(2 * i);
    dims.insert(dims.end(), {1, x.type->dims[static_cast<size_t>(i)]});
  }
  const TensorType type = x.type->element;
  const IrRef wide = w.Step("wide", "Unsqueeze", "opset1", {x, w.Int64s("axes", axes)}, {}, IrType::Tensor(type, dims));
  const IrRef column = w.Step("column", "Unsqueeze", "opset1", {repeats, w.Int64s("axis", {1})}, {},
                              IrType::Tensor(TensorType::kInt64, {rank, 1}));
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  const IrRef pairs = w.Step(
      "pairs", "Concat", "opset1",
      {column, w.Const("ones", TensorType::kInt64, {rank, 1}, Bytes(ones.data(), ones.size() * sizeof(int64_t)))},
      {{"axis", "1"}}, IrType::Tensor(TensorType::kInt64, {rank, 2}));
  const IrRef target = w.Reshaped(pairs, {2 * rank});
  const IrRef repeated = w.Step("repeated", "Broadcast", "opset3", {wide, target}, {{"mode", "bidirectional"}},
                                IrType::Tensor(type, std::vector<int64_t>(static_cast<size_t>(2 * rank), -1)));
  const IrRef shape = w.Binary("Multiply", w.ShapeOf(x), repeats, Vector(rank));
  w.Finish("Reshape", "opset1", {repeated, shape}, {{"special_zero", "false"}});
}

void WriteShape(IrNodeWriter& w) {
  const IrRef x = w.In(0);
  const AttributeProto* end = w.Attribute("end");
  const int64_t start = w.Int("start", 0);
  if (start == 0 && end == nullptr) return w.Finish("ShapeOf", "opset3", {x}, {{"output_type", "i64"}});
  const int64_t stop = end == nullptr ? std::numeric_limits<int64_t>::max() : end->i();
  w.Finish("Slice", "opset8",
           {w.ShapeOf(x), w.Int64s("start", {start}), w.Int64s("end", {stop}), w.Int64s("step", {1})});
}

void WriteSize(IrNodeWriter& w) {
  w.Finish("ReduceProd", "opset1", {w.ShapeOf(w.In(0)), w.Int64s("axes", {0})}, {{"keep_dims", "false"}});
}

void WriteConstantOfShape(IrNodeWriter& w) {
  TensorProto value;
  if (const AttributeProto* given = w.Attribute("value")) {
    value = given->t();
    value.clear_dims();
  } else {
    value.set_data_type(TensorProto::FLOAT);
    value.set_raw_data(*ScalarBytes(TensorType::kFloat, 0));
  }
  value.set_name(w.name() + "/value");
  w.Finish("Broadcast", "opset3", {w.graph().AddConst(value), w.In(0)}, {{"mode", "numpy"}});
}

void WriteDepthToSpace(IrNodeWriter& w) {
  const std::string mode = w.String("mode", "DCR");
  w.Finish("DepthToSpace", "opset1", {w.In(0)},
           {{"block_size", std::to_string(w.Int("blocksize", 1))},
            {"mode", mode == "CRD" ? "depth_first" : "blocks_first"}});
}
void WriteSpaceToDepth(IrNodeWriter& w) {
  w.Finish("SpaceToDepth", "opset1", {w.In(0)},
           {{"block_size", std::to_string(w.Int("blocksize", 1))}, {"mode", "blocks_first"}});
}

void WriteReverseSequence(IrNodeWriter& w) {
  w.Finish(
      "ReverseSequence", "opset1", {w.In(0), w.In(1)},
      {{"batch_axis", std::to_string(w.Int("batch_axis", 1))}, {"seq_axis", std::to_string(w.Int("time_axis", 0))}});
}

namespace {

// The axes that Pad names, counted from 0.
std::vector<int64_t> PaddedAxes(IrNodeWriter& w) {
  auto axes = w.ConstantInts(3);
  if (!axes) w.Refuse("input 3 'axes'", "must be constant");
  w.MarkUsed(3);
  const int64_t rank = w.Rank(0);
  for (int64_t& axis : *axes) {
    const int64_t given = axis;
    axis = w.Axis(given, w.Type(0));
    if (axis < 0 || axis >= rank) w.Refuse("input 3 'axes'", fmt::format("{} is no axis of rank {}", given, rank));
  }
  return *axes;
}

// The pads of all axes: begins, then ends.
std::vector<int64_t> OfAllAxes(std::span<const int64_t> pads, std::span<const int64_t> axes, int64_t rank) {
  std::vector<int64_t> all(static_cast<size_t>(2 * rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    all[static_cast<size_t>(axes[i])] = pads[i];
    all[static_cast<size_t>(axes[i] + rank)] = pads[i + axes.size()];
  }
  return all;
}

}  // namespace

void WritePad(IrNodeWriter& w) {
  const std::string mode = w.String("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    w.RefuseAttribute("mode", fmt::format("Pad knows constant, edge and reflect, not \"{}\"", mode));
  std::optional<std::vector<int64_t>> pads = w.ListInts(1, "pads");
  IrRef begin, end;
  bool cuts = true;
  std::vector<int64_t> axes;
  if (w.Has(3)) {
    axes = PaddedAxes(w);
    if (pads && pads->size() != 2 * axes.size())
      w.Refuse("input 1 'pads'", fmt::format("has {} numbers for {} axes", pads->size(), axes.size()));
    if (pads) pads = OfAllAxes(*pads, axes, w.Rank(0));
  }
  if (pads) {
    const auto half = static_cast<std::ptrdiff_t>(pads->size() / 2);
    begin = w.Int64s("begin", std::vector<int64_t>(pads->begin(), pads->begin() + half));
    end = w.Int64s("end", std::vector<int64_t>(pads->begin() + half, pads->end()));
    cuts = std::ranges::any_of(*pads, [](int64_t pad) { return pad < 0; });
  } else {
    const IrRef both = w.In(1);
    const int64_t size = both.type->rank() == 1 && both.type->dims[0] >= 0 ? both.type->dims[0] / 2 : -1;
    const auto halves = w.Steps("pads", "Split", "opset1", {both, w.Int64("axis", 0)}, {{"num_splits", "2"}},
                                {Vector(size), Vector(size)});
    begin = halves[0];
    end = halves[1];
    if (w.Has(3)) {
      const IrRef none = w.Int64s("none", std::vector<int64_t>(static_cast<size_t>(w.Rank(0)), 0));
      const IrRef at = w.Int64s("axes", axes), axis = w.Int64("axis", 0);
      begin = w.Step("begin", "ScatterUpdate", "opset3", {none, at, begin, axis}, {}, *none.type);
      end = w.Step("end", "ScatterUpdate", "opset3", {none, at, end, axis}, {}, *none.type);
    }
  }
  std::vector<IrRef> inputs{w.In(0), begin, end};
  if (w.Has(2) && mode == "constant") inputs.push_back(w.AsScalar(w.In(2)));
  w.MarkUsed(2);  // means nothing in other modes
  if (const AttributeProto* value = w.Attribute("value"); value != nullptr && mode == "constant")
    inputs.push_back(w.Scalar("value", w.Element(0), static_cast<double>(value->f())));
  w.Finish("Pad", cuts ? "opset12" : "opset1", inputs, {{"pad_mode", mode}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
