// SPDX-License-Identifier: Apache-2.0
// A sequence that a SequenceMap walks along, and how a graph gets all its elements at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "passes/batch/batch_body.h"
#include "passes/batch/fragment.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

class MapInput {
 public:
  // `v`: a sequence, of which inference knows something.
  MapInput(const GraphEdit& edit, int v);

  int sequence() const { return sequence_; }
  // All elements have this one shape.
  const std::optional<BatchInput>& stacked() const { return stacked_; }
  // They differ, or are said to, along one axis.
  const std::optional<BatchInput>& packed() const { return packed_; }
  // What can be said against both.
  const std::string& why_not() const { return why_not_; }

  bool HasLengths() const { return cut_ == Cut::kSizes || cut_ == Cut::kChunks; }
  // Sizes along that axis may be 0.
  bool MayHaveEmptyOnes() const { return cut_ != Cut::kChunks && !stacked_; }
  // Equal keys are equal sizes along the axis of packed().
  const std::string& lengths_key() const { return lengths_key_; }
  const onnx_optim::OptimDim& count() const { return count_; }
  // It is cut from a tensor: nothing is wrong with having no elements.
  bool IsCut() const { return cut_ != Cut::kNone; }

  // Adds nodes that make `name` of the sequence, or of what it is cut from.
  void Stack(Fragment& fragment, const std::string& name) const;
  void Pack(Fragment& fragment, const std::string& name) const;
  // int64 [N]: the sizes along the axis. HasLengths().
  void Lengths(Fragment& fragment, const std::string& name) const;
  // int64 [1]: 0 when there are no elements, and only then.
  std::string Any(Fragment& fragment) const;
  // int64 [1]: their number, `batched` being what Stack, Pack made.
  void Count(Fragment& fragment, const std::string& name, bool is_stacked, const std::string& batched) const;

 private:
  // By SplitToSequence: not at all, into slices without the axis, into pieces of sizes that are given, of one size.
  enum class Cut { kNone, kSlices, kSizes, kChunks };
  void FindCut(int rank);
  std::string SizeAlong(Fragment& fragment) const;

  const GraphEdit& edit_;
  const int sequence_;
  onnx_optim::OptimDim count_;
  std::optional<BatchInput> stacked_, packed_;
  std::string why_not_;
  Cut cut_ = Cut::kNone;
  int source_ = GraphEdit::kAbsent, sizes_ = GraphEdit::kAbsent;
  int axis_ = 0;
  int64_t chunk_ = 0;
  std::string lengths_key_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
