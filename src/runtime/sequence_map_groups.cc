// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "runtime/sequence_map_call.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kMaxGroups = SequenceMapPlans::kMaxBatches / 2;

// The dims in which elements of an input differ, as bits; nothing when their ranks do, or there are too many.
std::optional<uint64_t> Differing(const Sequence& sequence) {
  const Shape& first = sequence[0].shape();
  uint64_t differing = 0;
  for (const Tensor& element : sequence.elements()) {
    const Shape& shape = element.shape();
    if (shape.rank() != first.rank() || shape.rank() > 63) return std::nullopt;
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] != first[i]) differing |= uint64_t{1} << i;
  }
  return differing;
}

BatchInput Uniform(const Tensor& tensor) {
  BatchInput input;
  input.dtype = tensor.dtype();
  for (int i = 0; i < tensor.rank(); ++i) input.dims.push_back(tensor.dim(i));
  return input;
}

void Describe(std::string& text, const BatchInput& input) {
  text += fmt::format("{}:{}", static_cast<int>(input.form), static_cast<int>(input.dtype));
  for (size_t i = 0; i < input.dims.size(); ++i) {
    if (input.form == BatchForm::kPacked && static_cast<int>(i) == input.axis) {
      text += fmt::format(",L{}", input.lengths);
    } else {
      text += fmt::format(",{}", input.dims[i]);
    }
  }
  text += ';';
}

}  // namespace

bool SequenceMapPlans::Call::Look() {
  if (ctx_.input_size() != plans_.body_.input_size() || ctx_.output_size() != plans_.body_.output_size()) return false;
  if (!ctx_.HasInput(0) || !ctx_.input(0).IsSequence()) return false;
  count_ = ctx_.sequence(0).size();
  if (count_ < (IsAuto() ? 2 : 1)) return false;
  for (int i = 0; i < ctx_.input_size(); ++i) {
    if (!ctx_.HasInput(i)) return false;
    const Value& value = ctx_.input(i);
    walked_.push_back(value.IsSequence() ? &value.sequence() : nullptr);
    if (value.IsSequence()) {
      const Sequence& sequence = value.sequence();
      if (sequence.size() != count_ || !sequence.HoldsTensors() || sequence.dtype() == TensorType::kUndefined ||
          sequence.dtype() == TensorType::kString)
        return false;
    } else if (!value.IsTensor()) {
      return false;
    }
  }
  return std::ranges::all_of(captured_, [](const Value* value) { return value->IsTensor(); });
}

bool SequenceMapPlans::Call::Group() {
  Elements all;
  all.numbers.resize(static_cast<size_t>(count_));
  std::iota(all.numbers.begin(), all.numbers.end(), 0);
  bool ragged = false, mixed = false;
  std::vector<int> axes(walked_.size(), -1);  // along which they are packed
  for (size_t i = 0; i < walked_.size(); ++i) {
    if (walked_[i] == nullptr) continue;
    const std::optional<uint64_t> differing = Differing(*walked_[i]);
    if (!differing || (*differing & (*differing - 1)) != 0) {
      mixed = true;
    } else if (*differing != 0) {
      ragged = true;
      axes[i] = std::countr_zero(*differing);
    }
  }
  if (!mixed && !(ragged && strategy() == SequenceMapStrategy::kStacked)) {
    for (const std::vector<int>& way : WaysToPack(axes)) {
      if (!Prepare(all, way)) continue;
      groups_.push_back(std::move(all));
      return true;
    }
  }
  if ((mixed || ragged) && strategy() != SequenceMapStrategy::kPacked && GroupByShape()) return true;
  if (mixed) {
    const std::lock_guard lock(plans_.mutex_);
    plans_.differed_ = true;
  }
  return false;
}

std::vector<std::vector<int>> SequenceMapPlans::Call::WaysToPack(const std::vector<int>& axes) const {
  std::vector<std::vector<int>> ways;
  if (IsAuto()) {
    std::vector<int> open = axes;
    for (size_t i = 0; i < walked_.size(); ++i)
      if (walked_[i] != nullptr && open[i] < 0 && plans_.open_axes_[i] < (*walked_[i])[0].rank())
        open[i] = plans_.open_axes_[i];
    if (open != axes) ways.push_back(std::move(open));
    // Weights of recurrent nodes are packed once for each plan.
    const bool one_input = std::ranges::count(walked_, nullptr) + 1 == static_cast<int64_t>(walked_.size());
    if (plans_.is_recurrent_ && one_input && axes[0] < 0 && ways.empty()) {
      for (int axis = 0; axis < (*walked_[0])[0].rank(); ++axis) {
        ways.push_back(axes);
        ways.back()[0] = axis;
      }
    }
  }
  ways.push_back(axes);
  return ways;
}

bool SequenceMapPlans::Call::GroupByShape() {
  std::map<std::vector<int64_t>, std::vector<int64_t>> by_shape;
  std::vector<int64_t> key;
  for (int64_t e = 0; e < count_; ++e) {
    key.clear();
    for (const Sequence* sequence : walked_) {
      if (sequence == nullptr) continue;
      const Shape& shape = (*sequence)[e].shape();
      key.push_back(shape.rank());
      for (int i = 0; i < shape.rank(); ++i) key.push_back(shape[i]);
    }
    by_shape[key].push_back(e);
    if (IsAuto() && (by_shape.size() > kMaxGroups || static_cast<int64_t>(by_shape.size()) * kFewElements > count_))
      return false;
  }
  const std::vector<int> stacked(walked_.size(), -1);
  for (auto& [shape, numbers] : by_shape) {
    Elements& group = groups_.emplace_back();
    group.numbers = std::move(numbers);
    if (!Prepare(group, stacked)) return false;
  }
  return true;
}

bool SequenceMapPlans::Call::Prepare(Elements& group, const std::vector<int>& axes) const {
  group.length = 0;
  BatchRequest request;
  std::vector<std::vector<int64_t>> lengths;
  std::string signature;
  for (size_t i = 0; i < walked_.size(); ++i) {
    const Sequence* sequence = walked_[i];
    request.inputs.push_back(
        Uniform(sequence == nullptr ? ctx_.tensor(static_cast<int>(i)) : (*sequence)[group.numbers[0]]));
    BatchInput& input = request.inputs.back();
    if (sequence != nullptr) input.form = axes[i] < 0 ? BatchForm::kStacked : BatchForm::kPacked;
    if (axes[i] >= 0) {
      input.axis = axes[i];
      std::vector<int64_t> sizes;
      for (const int64_t e : group.numbers) sizes.push_back((*sequence)[e].dim(input.axis));
      const auto same = std::ranges::find(lengths, sizes);
      input.lengths = static_cast<int>(same - lengths.begin());
      if (same == lengths.end()) lengths.push_back(std::move(sizes));
    }
    Describe(signature, input);
  }
  for (size_t i = 0; i < captured_.size(); ++i) {
    request.captures.emplace_back(plans_.captures_.values[i].first, Uniform(captured_[i]->tensor()));
    Describe(signature, request.captures.back().second);
  }
  bool has_empty = false;
  for (const std::vector<int64_t>& sizes : lengths) {
    has_empty = has_empty || std::ranges::find(sizes, 0) != sizes.end();
    double sum = 0;
    for (const int64_t size : sizes) sum += static_cast<double>(size);
    group.length = std::max(group.length, sum / static_cast<double>(sizes.size()));
  }
  group.batch = plans_.Find(signature, [&] { return plans_.Make(request); });
  return group.batch->body && (group.batch->body->takes_empty || !has_empty);
}

}  // namespace ONNX_LIGHT_NAMESPACE
