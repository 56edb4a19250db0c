// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/map_output.h"

#include <algorithm>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"

namespace ONNX_LIGHT_NAMESPACE {

MapOutput::MapOutput(const GraphEdit& edit, size_t i, int v, const BatchOutput& form)
    : edit_(edit), i_(i), v_(v), form_(form) {
  const onnx_optim::shapes::ShapeValue* known = edit.Inferred(v);
  if (known != nullptr && known->IsSequence()) element_ = known->SequenceOf().elem.Shape();
  if (!edit.IsPinned(v) && std::ranges::all_of(edit.users(v), [&](int user) { return IsJoin(user); }))
    joins_ = edit.users(v);
}

MapOutput::Place MapOutput::PlaceOf(int join) const {
  const NodeAttributes attrs(edit_.node(join));
  const bool is_new = attrs.Int("new_axis", 0) != 0;
  const int64_t axis = attrs.Int("axis", 0), axes = static_cast<int64_t>(element_.Rank()) + (is_new ? 1 : 0);
  return {axis < 0 ? axis + axes : axis, is_new};
}

bool MapOutput::IsJoin(int user) const {
  if (!edit_.Is(user, "ConcatFromSequence") || element_.IsUnknown()) return false;
  const Place place = PlaceOf(user);
  if (place.axis < 0 || place.axis >= static_cast<int64_t>(element_.Rank()) + (place.is_new ? 1 : 0)) return false;
  if (form_.form == BatchForm::kPacked) return !place.is_new && place.axis == form_.axis;
  // Reshape does not see how many elements of no size there are.
  return element_.IsFullyKnown() && (place.is_new || std::ranges::find(element_, OptimDim(0)) == element_.end());
}

bool MapOutput::Give(Fragment& fragment, const std::vector<std::string>& outputs,
                     std::vector<std::string>& given) const {
  BatchGraph& made = fragment.made();
  std::string value = outputs[i_];
  if (form_.form == BatchForm::kUniform) {
    Batched uniform;
    uniform.name = value;
    uniform.shape = element_;
    const std::optional<Batched> stacked = made.Stack(uniform);
    if (!stacked) return false;
    value = stacked->name;
  }
  const bool is_packed = form_.form == BatchForm::kPacked;
  if (joins_.empty()) {
    std::vector<std::string> inputs = {value};
    if (is_packed) inputs.push_back(outputs[static_cast<size_t>(form_.lengths)]);
    given.push_back(fragment.Of(v_));
    NodeProto& split = made.Node("SplitToSequence", inputs, {given.back()});
    SetInt(split, "axis", is_packed ? form_.axis : 0);
    if (!is_packed) SetInt(split, "keepdims", 0);
  }
  for (const int join : joins_) {
    given.push_back(fragment.Of(edit_.outputs(join)[0]));
    if (is_packed) {
      made.Node("Identity", {value}, {given.back()});
    } else {
      Join(made, value, PlaceOf(join), given.back());
    }
  }
  return true;
}

// A stacked value as ConcatFromSequence would have it.
void MapOutput::Join(BatchGraph& made, std::string value, const Place& place, const std::string& name) const {
  std::vector<int64_t> perm, dims;
  for (size_t i = 0; i < element_.Rank(); ++i) {
    perm.push_back(static_cast<int64_t>(i) + 1);
    dims.push_back(element_[i].AsInt());
  }
  perm.insert(perm.begin() + place.axis, 0);
  if (place.axis != 0) value = made.Emit("Transpose", {value}, [&](NodeProto& node) { SetInts(node, "perm", perm); });
  if (place.is_new) {
    made.Node("Identity", {value}, {name});
  } else {
    dims[static_cast<size_t>(place.axis)] = -1;
    made.Node("Reshape", {value, made.Ints(dims)}, {name});
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
