// SPDX-License-Identifier: Apache-2.0
// ScanOutput: values of one shape, one from each run of a body, stacked along a new axis as they come.
#pragma once

#include <cstdint>
#include <optional>

#include "onnxseq/value.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

class ScanOutput {
 public:
  // At most `limit` values will come, exactly as many when `exact`: then they go where they stay. Otherwise the room
  // grows, for axis 0 only. `axis` is one of the result's, in [-rank, rank-1].
  ScanOutput(int64_t limit, bool exact, int64_t axis = 0) : limit_(limit), exact_(exact), axis_(axis) {}

  // Puts output `output` of the body at `at`, not past the values that are there already unless `exact`. Throws
  // InvalidArgument for what is no tensor, has another type or shape than the first, whose run was number `first`, or
  // would need more room than there can be.
  void Put(const RunContext& ctx, const GraphProto& body, int output, const Value& value, int64_t at, int64_t number);
  bool empty() const { return !stack_.defined(); }
  // The `count` values that came, one at least.
  Tensor Take(int64_t count);

 private:
  void Start(const RunContext& ctx, const GraphProto& body, int output, const Tensor& first);
  void Grow();

  int64_t limit_;
  bool exact_;
  int64_t axis_;
  int64_t first_number_ = 0;
  Shape shape_;        // of one value
  int64_t outer_ = 1;  // elements of one value: outer_ rows of inner_
  int64_t inner_ = 1;
  Tensor stack_;
  int64_t room_ = 0;  // values it has room for
};

}  // namespace ONNX_LIGHT_NAMESPACE
