// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/batch_rules.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr BatchRule kElementwise{"elementwise", BatchElementwise};
constexpr BatchRule kReduce{"reduce", BatchReduce};
constexpr BatchRule kSoftmax{"softmax", BatchSoftmax};
constexpr BatchRule kAxis{"shift axis", BatchAxisAttribute};
constexpr BatchRule kNormalize{"normalize", BatchNormalizedAxes};
constexpr BatchRule kCumulative{"cumulate", BatchCumulative};
constexpr BatchRule kReshape{"reshape", BatchReshape};
constexpr BatchRule kFirstAxis{"batch axis", BatchFirstAxis};
constexpr BatchRule kRecurrent{"recurrent", BatchRecurrent};

struct Entry {
  std::string_view op_type;
  BatchRule rule;
};
// Of ai.onnx, sorted. Operators that OpDef::elementwise marks go by that.
constexpr Entry kRules[] = {
    {"ArgMax", kAxis},
    {"ArgMin", kAxis},
    {"AveragePool", kFirstAxis},
    {"BatchNormalization", kFirstAxis},
    {"Cast", kElementwise},
    {"Concat", {"concat", BatchConcat}},
    {"ConstantOfShape", {"expand", BatchExpand}},
    {"Conv", kFirstAxis},
    {"ConvTranspose", kFirstAxis},
    {"CumProd", kCumulative},
    {"CumSum", kCumulative},
    {"DepthToSpace", kFirstAxis},
    {"Expand", {"expand", BatchExpand}},
    {"Flatten", kReshape},
    {"GRU", kRecurrent},
    {"Gather", {"gather", BatchGather}},
    {"Gemm", {"gemm", BatchGemm}},
    {"GlobalAveragePool", kFirstAxis},
    {"GlobalLpPool", kFirstAxis},
    {"GlobalMaxPool", kFirstAxis},
    {"GroupNormalization", kFirstAxis},
    {"Hardmax", kAxis},
    {"Identity", kElementwise},
    {"InstanceNormalization", kFirstAxis},
    {"LRN", kFirstAxis},
    {"LSTM", kRecurrent},
    {"LayerNormalization", kNormalize},
    {"LogSoftmax", kSoftmax},
    {"LpNormalization", kAxis},
    {"LpPool", kFirstAxis},
    {"MatMul", {"matmul", BatchMatMul}},
    {"Max", kElementwise},
    {"MaxPool", kFirstAxis},
    {"Mean", kElementwise},
    {"Min", kElementwise},
    {"Pad", {"pad", BatchPad}},
    {"RMSNormalization", kNormalize},
    {"RNN", kRecurrent},
    {"ReduceL1", kReduce},
    {"ReduceL2", kReduce},
    {"ReduceLogSum", kReduce},
    {"ReduceLogSumExp", kReduce},
    {"ReduceMax", kReduce},
    {"ReduceMean", kReduce},
    {"ReduceMin", kReduce},
    {"ReduceProd", kReduce},
    {"ReduceSum", kReduce},
    {"ReduceSumSquare", kReduce},
    {"Reshape", kReshape},
    {"Slice", {"slice", BatchSlice}},
    {"Softmax", kSoftmax},
    {"SpaceToDepth", kFirstAxis},
    {"Split", {"split", BatchSplit}},
    {"Squeeze", kReshape},
    {"Sum", kElementwise},
    {"Tile", {"tile", BatchTile}},
    {"TopK", kAxis},
    {"Transpose", {"transpose", BatchTranspose}},
    {"Unsqueeze", kReshape},
};
static_assert(std::ranges::is_sorted(kRules, {}, &Entry::op_type));

}  // namespace

BatchRule FindBatchRule(const OpDef& op) {
  if (op.elementwise != 0) return kElementwise;
  if (!op.domain.empty()) return {};
  const auto it = std::ranges::lower_bound(kRules, op.type, {}, &Entry::op_type);
  return it != std::end(kRules) && it->op_type == op.type ? it->rule : BatchRule{};
}

}  // namespace ONNX_LIGHT_NAMESPACE
