// SPDX-License-Identifier: Apache-2.0
// Operators that take parts of a value, turn them around or put something beside them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(), kLast = std::numeric_limits<int64_t>::max();

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

}  // namespace

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
  } else if (lengths) {
    split = l.Int64(2, true);
  } else {
    // Any one of the computed lengths may be -1.
    const std::string given = l.Int64(2, true), zero = l.Int64Constant("zero", {0}),
                      open = l.Apply("Less", {given, zero});
    const std::string others = l.Apply("ReduceSum", {l.Apply("Where", {open, zero, given})});
    const std::string size = l.Apply("Gather", {l.Apply("Shape", {l.Use(0)}), l.Int64Constant("axis", {axis})});
    split = l.Apply("Where", {open, l.Apply("Sub", {size, others}), given});
  }
  SetInt(l.Node("Split", {l.Use(0), split}, OutputNames(l)), "axis", axis);
}

// opset8 Slice: the axes are optional in both, the step is not.
void LowerSlice(IrLowering& l) {
  std::vector<std::string> inputs{l.Use(0), l.Int64(1, true), l.Int64(2, true), "", l.Int64(3, true)};
  if (l.input_size() > 4) inputs[3] = l.Int64(4, true);
  l.Node("Slice", inputs, {l.output(0).name});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = l.input(0).rank;
}

namespace {

// The masks of a StridedSlice over its `count` entries.
struct SliceMasks {
  std::vector<int64_t> begin, end, new_axis, shrink, ellipsis;
  SliceMasks(const IrLowering& l, size_t count) {
    const auto read = [&](const char* name) {
      std::vector<int64_t> bits = l.attrs().Ints(name);
      bits.resize(count, 0);
      return bits;
    };
    begin = read("begin_mask");
    end = read("end_mask");
    new_axis = read("new_axis_mask");
    shrink = read("shrink_axis_mask");
    ellipsis = read("ellipsis_mask");
  }
};

}  // namespace

// Each entry takes a part of the next axis, or makes a new one; an ellipsis stands for the axes that the others leave.
// Of an entry with several masks the ellipsis goes before the new axis, that before shrinking.
void LowerStridedSlice(IrLowering& l) {
  const auto begin = l.ConstantInts(1), end = l.ConstantInts(2);
  const auto strides = l.input_size() > 3 ? l.ConstantInts(3) : std::vector<int64_t>(begin ? begin->size() : 0, 1);
  if (!begin || !end || !strides) l.Refuse("begin, end and strides must be constant integers");
  if (begin->size() != end->size() || begin->size() != strides->size()) {
    l.layer().Fail("", fmt::format("begin, end and strides must be of one length, got {}, {} and {}", begin->size(),
                                   end->size(), strides->size()));
  }
  const size_t count = begin->size();
  const SliceMasks masks(l, count);
  std::vector<int64_t> starts, ends, steps, axes, shrunk, added;
  int64_t axis = 0, out_axis = 0;  // of the input; of the output, were nothing shrunk
  for (size_t i = 0; i < count; ++i) {
    if (masks.ellipsis[i] != 0) {
      int64_t others = 0;
      for (size_t k = i + 1; k < count; ++k) {
        if (masks.ellipsis[k] != 0) l.layer().Fail("attribute 'ellipsis_mask'", "has more than one ellipsis");
        if (masks.new_axis[k] == 0) ++others;
      }
      if (i + 1 == count) break;
      const int64_t after = l.KnownRank(0, "to know what the ellipsis stands for") - others;
      if (after < axis) l.layer().Fail("", "has more entries than its input has axes");
      out_axis += after - axis;
      axis = after;
      continue;
    }
    if (masks.new_axis[i] != 0) {
      added.push_back(out_axis++);
      continue;
    }
    int64_t start = (*begin)[i], stop = (*end)[i], step = (*strides)[i];
    if (masks.shrink[i] != 0) {  // the one element at begin
      if (masks.begin[i] != 0) start = step < 0 ? -1 : 0;
      step = 1;
      stop = start == -1 || start == kLast ? kLast : start + 1;
      shrunk.push_back(axis);
    } else {
      if (masks.begin[i] != 0) start = step < 0 ? kLast : 0;
      if (masks.end[i] != 0) stop = step < 0 ? kFirst : kLast;
      ++out_axis;
    }
    starts.push_back(start);
    ends.push_back(stop);
    steps.push_back(step);
    axes.push_back(axis++);
  }
  std::string value = l.Use(0);
  const auto step = [&](bool last, const char* hint) { return last ? l.output(0).name : l.Temporary(hint); };
  if (!axes.empty() || (shrunk.empty() && added.empty())) {
    const std::string sliced = step(shrunk.empty() && added.empty(), "sliced");
    l.Node("Slice",
           {value, l.Int64Constant("starts", starts), l.Int64Constant("ends", ends), l.Int64Constant("axes", axes),
            l.Int64Constant("steps", steps)},
           {sliced});
    value = sliced;
  }
  if (!shrunk.empty()) {
    const std::string squeezed = step(added.empty(), "squeezed");
    l.Node("Squeeze", {value, l.Int64Constant("axes", shrunk)}, {squeezed});
    value = squeezed;
  }
  if (!added.empty()) l.Finish("Unsqueeze", {value, l.Int64Constant("axes", added)});
  l.output(0).type = l.input(0).type;
  if (l.input(0).rank >= 0)
    l.output(0).rank = l.input(0).rank - static_cast<int>(shrunk.size()) + static_cast<int>(added.size());
}

namespace {

// The elements beside an edge again, that at the edge first: axis by axis.
void PadSymmetric(IrLowering& l) {
  const auto begin = l.ConstantInts(1), end = l.ConstantInts(2);
  if (!begin || !end || begin->size() != end->size())
    l.Refuse("the pads of pad_mode \"symmetric\" must be constant, as many before as behind");
  constexpr size_t kMostAxes = 64;
  if (begin->size() > kMostAxes)
    l.layer().Fail("input 1 'pads_begin'",
                   fmt::format("has {} elements, at most {} are possible", begin->size(), kMostAxes));
  std::string value = l.Use(0);
  for (size_t i = 0; i < begin->size(); ++i) {
    const int64_t before = (*begin)[i], behind = (*end)[i];
    if (before < 0 || behind < 0) l.Refuse("pads of pad_mode \"symmetric\" below 0 have no ONNX operator");
    if (before == 0 && behind == 0) continue;
    const std::string axis = l.Int64Constant("axes", {static_cast<int64_t>(i)}), back = l.Int64Constant("steps", {-1});
    const auto mirrored = [&](int64_t from, int64_t to) {
      return l.Apply("Slice", {value, l.Int64Constant("from", {from}), l.Int64Constant("to", {to}), axis, back});
    };
    std::vector<std::string> parts;
    if (before > 0) parts.push_back(mirrored(before - 1, kFirst));
    parts.push_back(value);
    if (behind > 0) parts.push_back(mirrored(kLast, -behind - 1));
    value = l.Along("Concat", parts, static_cast<int64_t>(i));
  }
  l.Finish("Identity", {value});
  l.SameAs(0);
}

}  // namespace

void LowerPad(IrLowering& l) {
  const std::string mode = l.attrs().String("pad_mode", "constant");
  if (mode == "symmetric") return PadSymmetric(l);
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    l.layer().Fail("attribute 'pad_mode'",
                   fmt::format("must be constant, edge, reflect or symmetric, got {}", QuoteForMessage(mode)));
  std::string pads;
  const auto begin = l.ConstantInts(1), end = l.ConstantInts(2);
  if (begin && end) {
    std::vector<int64_t> both = *begin;
    both.insert(both.end(), end->begin(), end->end());
    pads = l.Int64Constant("pads", both);
  } else {
    pads = l.Temporary("pads");
    SetInt(l.Node("Concat", {l.Int64(1, true), l.Int64(2, true)}, {pads}), "axis", 0);
  }
  std::vector<std::string> inputs{l.Use(0), pads};
  if (mode == "constant" && l.input_size() > 3) inputs.push_back(l.Use(3));
  SetString(l.Finish("Pad", inputs), "mode", mode);
  l.SameAs(0);
}

void LowerReverse(IrLowering& l) {
  const auto given = l.ConstantInts(1);
  const std::string mode = l.attrs().String("mode", "index");
  if (mode != "index" && mode != "mask")
    l.layer().Fail("attribute 'mode'", fmt::format("must be index or mask, got {}", QuoteForMessage(mode)));
  if (!given) l.Refuse("input 1 must be constant");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < given->size(); ++i) {
    if (mode == "index") {
      axes.push_back((*given)[i]);
    } else if ((*given)[i] != 0) {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  const size_t count = axes.size();
  const auto all = [&](const char* hint, int64_t value) {
    return l.Int64Constant(hint, std::vector<int64_t>(count, value));
  };
  l.Finish("Slice",
           {l.Use(0), all("starts", kLast), all("ends", kFirst), l.Int64Constant("axes", axes), all("steps", -1)});
  l.SameAs(0);
}

// ONNX has the batch and the steps as the first two axes, in either order.
void LowerReverseSequence(IrLowering& l) {
  int64_t batch = l.attrs().Int("batch_axis", 0), time = l.attrs().Int("seq_axis", 1);
  std::string value = l.Use(0);
  const bool in_front = std::min(batch, time) == 0 && std::max(batch, time) == 1;
  std::vector<int64_t> perm, back;
  if (!in_front) {
    const int64_t rank = l.KnownRank(0, "to bring two axes to the front");
    for (int64_t* axis : {&batch, &time}) {
      if (*axis < 0) *axis += rank;
      if (*axis < 0 || *axis >= rank)
        l.layer().Fail(fmt::format("attribute '{}'", axis == &batch ? "batch_axis" : "seq_axis"),
                       fmt::format("must be an axis of rank {}", rank));
    }
    if (batch == time) l.layer().Fail("attribute 'seq_axis'", "must not be that of the batch");
    perm = {batch, time};
    for (int64_t axis = 0; axis < rank; ++axis)
      if (axis != batch && axis != time) perm.push_back(axis);
    back.resize(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    value = l.Transposed(value, perm);
    batch = 0;
    time = 1;
  }
  const std::string lengths = l.Int64(1, true), reversed = in_front ? l.output(0).name : l.Temporary("reversed");
  NodeProto& node = l.Node("ReverseSequence", {value, lengths}, {reversed});
  SetInt(node, "batch_axis", batch);
  SetInt(node, "time_axis", time);
  if (!in_front) SetInts(l.Finish("Transpose", {reversed}), "perm", back);
  l.SameAs(0);
}

}  // namespace ONNX_LIGHT_NAMESPACE
