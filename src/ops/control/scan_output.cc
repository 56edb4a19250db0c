// SPDX-License-Identifier: Apache-2.0
#include "ops/control/scan_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "ops/control/carried_values.h"
#include "ops/op_helpers.h"
#include "ops/sequence/copy_elements.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// Room for this much is made at first; a page.
constexpr int64_t kFirstBytes = 4096;
// User space of today's machines ends here.
constexpr int64_t kMostBytes = int64_t{1} << 47;

}  // namespace

void ScanOutput::Start(const RunContext& ctx, const GraphProto& body, int output, const Tensor& first) {
  shape_ = first.shape();
  axis_ = NormalizeAxis(ctx, axis_, first.rank() + 1, "attribute 'scan_output_axes'");
  const int axis = static_cast<int>(axis_);
  outer_ = DimsProduct(shape_.dims(), 0, axis);
  inner_ = DimsProduct(shape_.dims(), axis, shape_.rank());
  const int64_t bytes = std::max<int64_t>(static_cast<int64_t>(first.ByteSize()), 1);
  if (exact_ && CheckedMul(bytes, limit_).value_or(kMostBytes) >= kMostBytes)
    ctx.Fail(BodyOutputSubject(body, static_cast<size_t>(output)),
             fmt::format("is {} in each of {} runs, more than any machine can hold", first.TypeString(), limit_));
  room_ = exact_ ? limit_ : std::clamp<int64_t>(kFirstBytes / bytes, 1, limit_);
  Shape shape = shape_;
  shape.insert(axis, room_);
  stack_ = Tensor(first.dtype(), std::move(shape));
}

void ScanOutput::Grow() {
  const int64_t values = room_;
  room_ = room_ > limit_ / 2 ? limit_ : 2 * room_;
  Shape shape = shape_;
  shape.insert(0, room_);
  Tensor larger(stack_.dtype(), std::move(shape));
  CopyElements(larger, 0, stack_, 0, values * inner_);
  stack_ = std::move(larger);
}

void ScanOutput::Put(const RunContext& ctx, const GraphProto& body, int output, const Value& value, int64_t at,
                     int64_t number) {
  const auto fail = [&](std::string fact) {
    ctx.Fail(BodyOutputSubject(body, static_cast<size_t>(output)), std::move(fact));
  };
  if (!value.IsTensor()) fail(fmt::format("must be a tensor, got {} in iteration {}", value.TypeString(), number));
  const Tensor& tensor = value.tensor();
  if (!stack_.defined()) {
    first_number_ = number;
    Start(ctx, body, output, tensor);
  } else if (tensor.dtype() != stack_.dtype() || !(tensor.shape() == shape_)) {
    fail(fmt::format("is {} in iteration {}, {}{} in iteration {}", tensor.TypeString(), number,
                     onnx_optim::ToTypeString(stack_.dtype()), shape_.ToString(), first_number_));
  }
  if (at == room_) Grow();
  for (int64_t row = 0; row < outer_; ++row)
    CopyElements(stack_, (row * room_ + at) * inner_, tensor, row * inner_, inner_);
}

Tensor ScanOutput::Take(int64_t count) {
  if (count == room_) return std::move(stack_);
  Shape shape = shape_;
  shape.insert(0, count);
  Tensor result(stack_.dtype(), std::move(shape));
  CopyElements(result, 0, stack_, 0, count * inner_);
  return result;
}

}  // namespace ONNX_LIGHT_NAMESPACE
