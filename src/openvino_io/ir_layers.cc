// SPDX-License-Identifier: Apache-2.0
// The layer types that are read, each beside what it becomes (operation pages of OpenVINO, opset1 to opset17).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "openvino_io/ir_lowering.h"
#include "openvino_io/ir_reader.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Elementwise with the same meaning and one result of the first input's type.
template <const char* kOnnxType>
void LowerUnary(IrLowering& l) {
  l.DirectNode(kOnnxType);
  l.output(0).type = l.input(0).type;
  l.output(0).rank = l.input(0).rank;
}
constexpr char kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh";

// Both broadcast as numpy does; "none" only forbids what numpy would allow.
template <const char* kOnnxType>
void LowerBinary(IrLowering& l) {
  const std::string broadcast = l.attrs().String("auto_broadcast", "numpy");
  if (broadcast != "numpy" && broadcast != "none") {
    l.Refuse(fmt::format("attribute 'auto_broadcast' {} has no ONNX operator", QuoteForMessage(broadcast)));
  }
  l.DirectNode(kOnnxType);
  l.output(0).type = l.input(0).type != TensorType::kUndefined ? l.input(0).type : l.input(1).type;
  if (l.input(0).rank >= 0 && l.input(1).rank >= 0) l.output(0).rank = std::max(l.input(0).rank, l.input(1).rank);
}
constexpr char kAdd[] = "Add", kSub[] = "Sub", kMul[] = "Mul", kDiv[] = "Div";

// Integers divide towards minus infinity unless m_pythondiv is off, in ONNX towards zero; unsigned ones do not care.
void LowerDivide(IrLowering& l) {
  const TensorType type = l.input(0).type != TensorType::kUndefined ? l.input(0).type : l.input(1).type;
  if (l.attrs().Bool("m_pythondiv", true) && !onnx_optim::IsFloatTensorType(type)) {
    l.Refuse(type == TensorType::kUndefined ? "its element type must be known: integer division rounds down"
                                            : fmt::format("division of {} that rounds down has no ONNX operator",
                                                          onnx_optim::TensorTypeName(type)));
  }
  LowerBinary<kDiv>(l);
}

void LowerConvert(IrLowering& l) {
  const TensorType type = l.attrs().ElementType("destination_type");
  if (type == TensorType::kUndefined) {
    l.Refuse(fmt::format("element type {} has no ONNX type", QuoteForMessage(l.attrs().String("destination_type"))));
  }
  SetInt(l.Node("Cast", {l.Use(0)}, {l.output(0).name}), "to", onnx_optim::TensorTypeToDataType(type));
  l.output(0).type = type;
  l.output(0).rank = l.input(0).rank;
}

void LowerTranspose(IrLowering& l) {
  const auto order = l.ConstantInts(1);
  if (!order) l.Refuse("input 1 'input_order' must be a constant integer tensor");
  NodeProto& node = l.Node("Transpose", {l.Use(0)}, {l.output(0).name});
  if (!order->empty()) SetInts(node, "perm", *order);  // none reverses, in both
  l.output(0).type = l.input(0).type;
  l.output(0).rank = order->empty() ? l.input(0).rank : static_cast<int>(order->size());
}

void LowerReshape(IrLowering& l) {
  const bool special_zero = l.attrs().Bool("special_zero", false);
  const auto pattern = l.ConstantInts(1);
  if (!special_zero && pattern && std::count(pattern->begin(), pattern->end(), 0) > 0 &&
      std::count(pattern->begin(), pattern->end(), -1) > 0) {
    l.Refuse("a pattern with both 0 and -1 needs special_zero");
  }
  NodeProto& node = l.Node("Reshape", {l.Use(0), l.Int64(1, true)}, {l.output(0).name});
  if (!special_zero) SetInt(node, "allowzero", 1);
  l.output(0).type = l.input(0).type;
  if (pattern) l.output(0).rank = static_cast<int>(pattern->size());
}

void LowerShapeOf(IrLowering& l) {
  const TensorType type = l.attrs().Has("output_type") ? l.attrs().ElementType("output_type") : TensorType::kInt64;
  if (type != TensorType::kInt64 && type != TensorType::kInt32)
    l.layer().Fail("attribute 'output_type'", "must be i64 or i32");
  if (type == TensorType::kInt64) {
    l.Node("Shape", {l.Use(0)}, {l.output(0).name});
  } else {
    const std::string shape = l.Temporary("shape");
    l.Node("Shape", {l.Use(0)}, {shape});
    SetInt(l.Node("Cast", {shape}, {l.output(0).name}), "to", TensorProto::INT32);
  }
  l.output(0).type = type;
  l.output(0).rank = 1;
}

void LowerGather(IrLowering& l) {
  if (l.attrs().Int("batch_dims", 0) != 0) {
    l.Refuse(fmt::format("batch_dims {} has no ONNX operator", l.attrs().Int("batch_dims")));
  }
  const int64_t axis = l.ConstantInt(2, "input 2 'axis'");
  const TensorType type = l.input(1).type;
  const bool is_index = type == TensorType::kInt64 || type == TensorType::kInt32;
  SetInt(l.Node("Gather", {l.Use(0), is_index ? l.Use(1) : l.Int64(1, false)}, {l.output(0).name}), "axis", axis);
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0 && l.input(1).rank >= 0) l.output(0).rank = l.input(0).rank + l.input(1).rank - 1;
}

// Expand broadcasts both ways; where numpy mode accepts a shape the result is the same.
void LowerBroadcast(IrLowering& l) {
  std::string mode = l.attrs().String("mode", "numpy");
  if (mode == "NUMPY") mode = "numpy";
  if (mode != "numpy" && mode != "bidirectional") {
    l.Refuse(fmt::format("mode {} has no ONNX operator", QuoteForMessage(mode)));
  }
  if (l.input_size() != 2) l.layer().Fail("", fmt::format("mode {} takes 2 inputs, got {}", mode, l.input_size()));
  const auto shape = l.ConstantInts(1);
  l.Node("Expand", {l.Use(0), l.Int64(1, true)}, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (shape && (mode == "numpy" || l.input(0).rank >= 0)) {
    l.output(0).rank = std::max(static_cast<int>(shape->size()), l.input(0).rank);
  }
}

void LowerConcat(IrLowering& l) {
  SetInt(l.DirectNode("Concat"), "axis", l.attrs().Int("axis"));
  for (int i = 0; i < l.input_size(); ++i) {
    if (l.output(0).type == TensorType::kUndefined) l.output(0).type = l.input(i).type;
    if (l.output(0).rank < 0) l.output(0).rank = l.input(i).rank;
  }
}

std::vector<std::string> OutputNames(IrLowering& l) {
  std::vector<std::string> names;
  for (size_t i = 0; i < l.layer().outputs.size(); ++i) {
    IrValue& value = l.output(static_cast<int>(i));
    names.push_back(value.name);
    value.type = l.input(0).type;
    value.rank = l.input(0).rank;
  }
  return names;
}

void LowerSplit(IrLowering& l) {
  const int64_t count = l.attrs().Int("num_splits");
  const auto ports = static_cast<int64_t>(l.layer().outputs.size());
  if (count != ports)
    l.layer().Fail("attribute 'num_splits'", fmt::format("is {}, the layer has {} outputs", count, ports));
  const int64_t axis = l.ConstantInt(1, "input 1 'axis'");
  NodeProto& node = l.Node("Split", {l.Use(0)}, OutputNames(l));
  SetInt(node, "axis", axis);
  SetInt(node, "num_outputs", count);
}

void LowerVariadicSplit(IrLowering& l) {
  const int64_t axis = l.ConstantInt(1, "input 1 'axis'");
  const auto lengths = l.ConstantInts(2);
  const size_t ports = l.layer().outputs.size();
  if (lengths && lengths->size() != ports) {
    l.layer().Fail("input 2 'split_lengths'",
                   fmt::format("has {} elements, the layer has {} outputs", lengths->size(), ports));
  }
  std::string split;
  const auto rest = lengths ? std::find(lengths->begin(), lengths->end(), -1) : std::vector<int64_t>::const_iterator();
  if (lengths && rest != lengths->end()) {
    // The part written -1 is what the others leave of the axis.
    int64_t others = 0;
    for (auto length = lengths->begin(); length != lengths->end(); ++length) {
      if (length == rest) continue;
      if (*length < 0) l.layer().Fail("input 2 'split_lengths'", "only one element may be -1, the others must be >= 0");
      if (__builtin_add_overflow(others, *length, &others))
        l.layer().Fail("input 2 'split_lengths'", "the sum is too large");
    }
    const std::string shape = l.Temporary("shape"), size = l.Temporary("size"), left = l.Temporary("left");
    l.Node("Shape", {l.Use(0)}, {shape});
    SetInt(l.Node("Gather", {shape, l.Int64Constant("axis", std::array{axis})}, {size}), "axis", 0);
    l.Node("Sub", {size, l.Int64Constant("others", std::array{others})}, {left});
    std::vector<std::string> parts;
    if (rest != lengths->begin()) parts.push_back(l.Int64Constant("lengths", {lengths->begin(), rest}));
    parts.push_back(left);
    if (rest + 1 != lengths->end()) parts.push_back(l.Int64Constant("lengths", {rest + 1, lengths->end()}));
    split = l.Temporary("split");
    SetInt(l.Node("Concat", parts, {split}), "axis", 0);
  } else {
    split = l.Int64(2, true);
  }
  SetInt(l.Node("Split", {l.Use(0), split}, OutputNames(l)), "axis", axis);
}

void LowerSqueeze(IrLowering& l) {
  if (l.attrs().Bool("allow_axis_skip", false)) l.Refuse("allow_axis_skip has no ONNX operator");
  const auto axes = l.input_size() > 1 ? l.ConstantInts(1) : std::vector<int64_t>();
  std::vector<std::string> inputs{l.Use(0)};
  if (!axes || !axes->empty()) inputs.push_back(l.Int64(1, true));
  l.Node("Squeeze", inputs, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (axes && !axes->empty() && l.input(0).rank >= 0)
    l.output(0).rank = l.input(0).rank - static_cast<int>(axes->size());
}

void LowerUnsqueeze(IrLowering& l) {
  const auto axes = l.ConstantInts(1);
  l.Node("Unsqueeze", {l.Use(0), l.Int64(1, true)}, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (axes && l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank + static_cast<int>(axes->size());
}

void LowerMatMul(IrLowering& l) {
  constexpr const char* kNames[] = {"transpose_a", "transpose_b"};
  std::vector<std::string> operands;
  for (int i = 0; i < 2; ++i) {
    std::string operand = l.Use(i);
    if (l.attrs().Bool(kNames[i], false)) {
      const int rank = l.RankOf(i);
      if (rank < 0) l.Refuse(fmt::format("the rank of input {} must be known to transpose it", i));
      if (rank >= 2) {  // a vector is not transposed
        std::vector<int64_t> perm(static_cast<size_t>(rank));
        for (size_t axis = 0; axis < perm.size(); ++axis) perm[axis] = static_cast<int64_t>(axis);
        std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
        std::string transposed = l.Temporary(kNames[i]);
        SetInts(l.Node("Transpose", {operand}, {transposed}), "perm", perm);
        operand = std::move(transposed);
      }
    }
    operands.push_back(std::move(operand));
  }
  l.Node("MatMul", operands, {l.output(0).name});
  l.output(0).type = l.input(0).type != TensorType::kUndefined ? l.input(0).type : l.input(1).type;
  const int a = l.input(0).rank, b = l.input(1).rank;
  if (a >= 2 && b >= 2) l.output(0).rank = std::max(a, b);
}

// opset8 Slice: the axes are optional in both, the step is not.
void LowerSlice(IrLowering& l) {
  std::vector<std::string> inputs{l.Use(0), l.Int64(1, true), l.Int64(2, true), "", l.Int64(3, true)};
  if (l.input_size() > 4) inputs[3] = l.Int64(4, true);
  l.Node("Slice", inputs, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = l.input(0).rank;
}

void LowerStridedSlice(IrLowering& l) {
  const auto begin = l.ConstantInts(1), end = l.ConstantInts(2);
  const auto strides = l.input_size() > 3 ? l.ConstantInts(3) : std::vector<int64_t>(begin ? begin->size() : 0, 1);
  if (!begin || !end || !strides) l.Refuse("begin, end and strides must be constant integers");
  if (begin->size() != end->size() || begin->size() != strides->size()) {
    l.layer().Fail("", fmt::format("begin, end and strides must be of one length, got {}, {} and {}", begin->size(),
                                   end->size(), strides->size()));
  }
  const size_t count = begin->size();
  const auto mask = [&](const char* name) {
    std::vector<int64_t> bits = l.attrs().Ints(name);
    bits.resize(count, 0);
    return bits;
  };
  for (const char* name : {"new_axis_mask", "ellipsis_mask"}) {
    const std::vector<int64_t> bits = mask(name);
    if (std::any_of(bits.begin(), bits.end(), [](int64_t bit) { return bit != 0; }))
      l.Refuse(fmt::format("{} is not read", name));
  }
  const std::vector<int64_t> begin_mask = mask("begin_mask"), end_mask = mask("end_mask"),
                             shrink = mask("shrink_axis_mask");
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(), kLast = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> starts = *begin, ends = *end, steps = *strides, axes(count), shrunk;
  for (size_t i = 0; i < count; ++i) {
    axes[i] = static_cast<int64_t>(i);
    if (shrink[i] != 0) {  // the one element at begin
      steps[i] = 1;
      ends[i] = starts[i] == -1 ? kLast : starts[i] + 1;
      shrunk.push_back(axes[i]);
      continue;
    }
    if (begin_mask[i] != 0) starts[i] = steps[i] < 0 ? kLast : 0;
    if (end_mask[i] != 0) ends[i] = steps[i] < 0 ? kFirst : kLast;
  }
  const std::string sliced = shrunk.empty() ? l.output(0).name : l.Temporary("sliced");
  l.Node("Slice",
         {l.Use(0), l.Int64Constant("starts", starts), l.Int64Constant("ends", ends), l.Int64Constant("axes", axes),
          l.Int64Constant("steps", steps)},
         {sliced});
  if (!shrunk.empty()) l.Node("Squeeze", {sliced, l.Int64Constant("axes", shrunk)}, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0) l.output(0).rank = l.input(0).rank - static_cast<int>(shrunk.size());
}

constexpr std::array kLayers{
    IrLayerDef{"Add", 2, 2, 1, LowerBinary<kAdd>},
    IrLayerDef{"Broadcast", 2, 3, 1, LowerBroadcast},
    IrLayerDef{"Concat", 1, -1, 1, LowerConcat},
    IrLayerDef{"Convert", 1, 1, 1, LowerConvert},
    IrLayerDef{"Divide", 2, 2, 1, LowerDivide},
    IrLayerDef{"GRUCell", 5, 5, 1, LowerGruCell},
    IrLayerDef{"GRUSequence", 6, 6, 2, LowerGruSequence},
    IrLayerDef{"Gather", 3, 3, 1, LowerGather},
    IrLayerDef{"LSTMCell", 6, 7, 2, LowerLstmCell},
    IrLayerDef{"LSTMSequence", 7, 8, 3, LowerLstmSequence},
    IrLayerDef{"MatMul", 2, 2, 1, LowerMatMul},
    IrLayerDef{"Multiply", 2, 2, 1, LowerBinary<kMul>},
    IrLayerDef{"RNNCell", 5, 5, 1, LowerRnnCell},
    IrLayerDef{"RNNSequence", 6, 6, 2, LowerRnnSequence},
    IrLayerDef{"ReLU", 1, 1, 1, LowerUnary<kRelu>},
    IrLayerDef{"Reshape", 2, 2, 1, LowerReshape},
    IrLayerDef{"ShapeOf", 1, 1, 1, LowerShapeOf},
    IrLayerDef{"Sigmoid", 1, 1, 1, LowerUnary<kSigmoid>},
    IrLayerDef{"Slice", 4, 5, 1, LowerSlice},
    IrLayerDef{"Split", 2, 2, -1, LowerSplit},
    IrLayerDef{"Squeeze", 1, 2, 1, LowerSqueeze},
    IrLayerDef{"StridedSlice", 3, 4, 1, LowerStridedSlice},
    IrLayerDef{"Subtract", 2, 2, 1, LowerBinary<kSub>},
    IrLayerDef{"Tanh", 1, 1, 1, LowerUnary<kTanh>},
    IrLayerDef{"TensorIterator", 1, -1, -1, LowerTensorIterator},
    IrLayerDef{"Transpose", 2, 2, 1, LowerTranspose},
    IrLayerDef{"Unsqueeze", 2, 2, 1, LowerUnsqueeze},
    IrLayerDef{"VariadicSplit", 3, 3, -1, LowerVariadicSplit},
};

}  // namespace

const IrLayerDef* FindIrLayer(std::string_view type) {
  const auto* found =
      std::find_if(kLayers.begin(), kLayers.end(), [type](const IrLayerDef& def) { return def.type == type; });
  return found == kLayers.end() ? nullptr : found;
}

}  // namespace ONNX_LIGHT_NAMESPACE
