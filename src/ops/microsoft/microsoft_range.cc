// SPDX-License-Identifier: Apache-2.0
// Range of com.microsoft: that of ai.onnx 11; delta is 1 where it is absent, which needs operator set 15 of ai.onnx.
// Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Range
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  if (HasInput(node, 2)) return "(start, limit, delta) => (Y) {\n  Y = Range (start, limit, delta)\n}";
  if (opset < 15) FailUnsupported("input 2 'delta'", "is needed before operator set 15 of ai.onnx");
  return R"((start, limit, delta) => (Y) {
  one = Constant <value: tensor = int32 {1}> ()
  step = CastLike (one, start)
  Y = Range (start, limit, step)
})";
}

constexpr TypeSet kRangeTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kInt16, TensorType::kInt32,
                              TensorType::kInt64};

}  // namespace

std::span<const OpDef> microsoft_range_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "Range",
       .since_version = 1,
       .inputs = {{"start", kRangeTypes, "T"}, {"limit", kRangeTypes, "T"}, Optional("delta", kRangeTypes, "T")},
       .outputs = {{"Y", kRangeTypes, "T"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
