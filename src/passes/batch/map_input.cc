// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/map_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::SequenceInfo;

MapInput::MapInput(const GraphEdit& edit, int v) : edit_(edit), sequence_(v) {
  const SequenceInfo& info = edit.Inferred(v)->SequenceOf();
  count_ = info.length;
  if (!info.elem.IsTensor() || !info.elem.HasRank() || info.elem.Dtype() == TensorType::kUndefined) {
    why_not_ = fmt::format("nothing is known of the dims of the elements of \"{}\"", edit.name(v));
    return;
  }
  const OptimShape& shape = info.elem.Shape();
  BatchInput input;
  input.dtype = info.elem.Dtype();
  int open = -1;
  bool one_open = true;
  for (size_t i = 0; i < shape.Rank(); ++i) {
    input.dims.push_back(shape[i].IsInt() ? shape[i].AsInt() : -1);
    if (shape[i].IsInt()) continue;
    one_open = open < 0;
    open = static_cast<int>(i);
  }
  FindCut(static_cast<int>(shape.Rank()));
  if (open < 0) {
    stacked_ = input;
    stacked_->form = BatchForm::kStacked;
    // Pieces of one axis come apart by Reshape, which does not see how many empty ones there are.
    if (HasLengths() && std::ranges::count(input.dims, 0) > 0) stacked_.reset();
  }
  if (HasLengths() ? open < 0 || (one_open && open == axis_) : open >= 0 && one_open) {
    packed_ = input;
    packed_->form = BatchForm::kPacked;
    packed_->axis = HasLengths() ? axis_ : open;
    if (!HasLengths()) lengths_key_ = fmt::format("of {}", v);
  }
  if (cut_ == Cut::kSlices && packed_) packed_.reset();
  if (!stacked_ && !packed_)
    why_not_ = fmt::format("the elements of \"{}\" are {}: that is neither one known shape nor open along one axis",
                           edit.name(v), shape.ToString());
}

void MapInput::FindCut(int rank) {
  const int n = edit_.producer(sequence_);
  if (n == GraphEdit::kAbsent || !edit_.Is(n, "SplitToSequence")) return;
  const NodeAttributes attrs(edit_.node(n));
  const int sizes = edit_.input(n, 1);
  Cut cut = Cut::kChunks;
  int64_t chunk = 1;
  if (sizes != GraphEdit::kAbsent) {
    const TensorProto* constant = edit_.Constant(sizes);
    const OptimShape shape = edit_.ShapeOf(sizes);
    const bool is_list = constant != nullptr ? constant->dims().size() == 1 : !shape.IsUnknown() && shape.Rank() == 1;
    if (is_list) {
      cut = Cut::kSizes;
    } else {
      const auto given = edit_.ConstantInts(sizes);
      if (!given || given->size() != 1 || given->front() <= 0) return;
      chunk = given->front();
    }
  }
  if (cut == Cut::kChunks && chunk == 1 && attrs.Int("keepdims", 1) == 0) cut = Cut::kSlices;
  const int64_t axis = attrs.Int("axis", 0), axes = rank + (cut == Cut::kSlices ? 1 : 0);
  if (axis < -axes || axis >= axes) return;
  cut_ = cut;
  source_ = edit_.input(n, 0);
  sizes_ = sizes;
  axis_ = static_cast<int>(axis < 0 ? axis + axes : axis);
  chunk_ = chunk;
  if (cut == Cut::kSizes) lengths_key_ = fmt::format("as {}", sizes);
  if (cut == Cut::kChunks) {
    const OptimShape shape = edit_.ShapeOf(source_);
    lengths_key_ = shape.IsUnknown() ? fmt::format("of {}", sequence_)
                                     : fmt::format("{} of {}", chunk, shape[static_cast<size_t>(axis_)].ToString());
  }
}

void MapInput::Stack(Fragment& fragment, const std::string& name) const {
  BatchGraph& made = fragment.made();
  if (cut_ == Cut::kNone) {
    NodeProto& node = made.Node("ConcatFromSequence", {fragment.Of(sequence_)}, {name});
    SetInt(node, "axis", 0);
    SetInt(node, "new_axis", 1);
    return;
  }
  std::string value = fragment.Of(source_);
  if (HasLengths()) {
    std::vector<int64_t> dims = stacked_->dims;
    dims.insert(dims.begin() + axis_, -1);
    value = made.Emit("Reshape", {value, made.Ints(dims)});
  }
  if (axis_ == 0) {
    made.Node("Identity", {value}, {name});
    return;
  }
  std::vector<int64_t> perm(stacked_->dims.size() + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + axis_, perm.begin() + axis_ + 1);
  SetInts(made.Node("Transpose", {value}, {name}), "perm", perm);
}

void MapInput::Pack(Fragment& fragment, const std::string& name) const {
  BatchGraph& made = fragment.made();
  if (cut_ == Cut::kNone) {
    SetInt(made.Node("ConcatFromSequence", {fragment.Of(sequence_)}, {name}), "axis", packed_->axis);
  } else {
    made.Node("Identity", {fragment.Of(source_)}, {name});
  }
}

std::string MapInput::SizeAlong(Fragment& fragment) const {
  return fragment.made().Emit("Shape", {fragment.Of(source_)}, [&](NodeProto& node) {
    SetInt(node, "start", axis_);
    SetInt(node, "end", axis_ + 1);
  });
}

void MapInput::Lengths(Fragment& fragment, const std::string& name) const {
  BatchGraph& made = fragment.made();
  if (cut_ == Cut::kSizes) {
    SetInt(made.Node("Cast", {fragment.Of(sizes_)}, {name}), "to", TensorProto::INT64);
    return;
  }
  const std::string size = SizeAlong(fragment), chunk = made.IntScalar(chunk_);
  const std::string starts =
      made.Emit("Range", {made.IntScalar(0), made.Emit("Squeeze", {size, made.Ints({0})}), chunk});
  made.Node("Min", {made.Emit("Sub", {size, starts}), chunk}, {name});
}

std::string MapInput::Any(Fragment& fragment) const {
  BatchGraph& made = fragment.made();
  if (cut_ == Cut::kNone)
    return made.Emit("Unsqueeze", {made.Emit("SequenceLength", {fragment.Of(sequence_)}), made.Ints({0})});
  return cut_ == Cut::kSizes ? made.Emit("Shape", {fragment.Of(sizes_)}) : SizeAlong(fragment);
}

void MapInput::Count(Fragment& fragment, const std::string& name, bool is_stacked, const std::string& batched) const {
  BatchGraph& made = fragment.made();
  if (is_stacked) {
    NodeProto& node = made.Node("Shape", {batched}, {name});
    SetInt(node, "start", 0);
    SetInt(node, "end", 1);
  } else if (HasLengths()) {
    const std::string lengths = made.NewName("lengths");
    Lengths(fragment, lengths);
    made.Node("Shape", {lengths}, {name});
  } else {
    made.Node("Identity", {Any(fragment)}, {name});
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
