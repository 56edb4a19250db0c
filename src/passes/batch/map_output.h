// SPDX-License-Identifier: Apache-2.0
// A sequence that a SequenceMap gives, and how it, or what becomes of it, is made of all elements at once.
#pragma once

#include <string>
#include <vector>

#include "passes/batch/batch_body.h"
#include "passes/batch/fragment.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

class MapOutput {
 public:
  // `v`: output `i` of the node.
  MapOutput(const GraphEdit& edit, size_t i, int v, const BatchOutput& form);

  size_t i() const { return i_; }
  int v() const { return v_; }
  // The ConcatFromSequence nodes that are all that uses it, where these need no sequence: they are given, not it.
  const std::vector<int>& joins() const { return joins_; }
  void NeedSequence() { joins_.clear(); }

  // Adds nodes that make what is given of the batched graph's `outputs`; their names are added to `given`. Returns
  // false where the dims of one that is the same for all elements are not known.
  bool Give(Fragment& fragment, const std::vector<std::string>& outputs, std::vector<std::string>& given) const;

 private:
  struct Place {
    int64_t axis;
    bool is_new;
  };
  Place PlaceOf(int join) const;
  bool IsJoin(int user) const;
  void Join(BatchGraph& made, std::string value, const Place& place, const std::string& name) const;

  const GraphEdit& edit_;
  const size_t i_;
  const int v_;
  const BatchOutput form_;
  OptimShape element_ = OptimShape::Unknown();
  std::vector<int> joins_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
