// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ops/evaluate.h"
#include "ops/infer_node.h"
#include "passes/passes.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Bytes of the elements as the message's dims and type have it; too many when they are not to be known.
int64_t BytesOf(const TensorProto& tensor) {
  constexpr int64_t kTooMany = kMaxFoldedRead + 1;
  const TensorType type = onnx_optim::DataTypeToTensorType(tensor.data_type());
  if (type == TensorType::kString) {
    int64_t bytes = 0;
    for (const auto& text : tensor.string_data()) bytes += static_cast<int64_t>(text.size() + sizeof(std::string));
    return bytes;
  }
  int64_t count = 1;
  for (const int64_t dim : tensor.dims()) {
    if (dim == 0) return 0;
    if (dim < 0 || dim > kTooMany) return kTooMany;
    count = std::min(count * dim, kTooMany);
  }
  return std::min(kTooMany, count * (onnx_optim::BitsOf(type) + 7) / 8);
}

// The tensor of a Constant that holds one as it is.
const TensorProto* HeldBy(const NodeProto& node) {
  if (node.attribute_size() != 1 || !node.attribute(0).has_t() || node.attribute(0).name() != "value") return nullptr;
  return &node.attribute(0).t();
}

// What the node gives; nothing when it is not to be folded.
std::optional<TensorProto> Folded(const GraphEdit& edit, int n) {
  int64_t bytes = 0;
  for (const int v : edit.inputs(n)) {
    if (v == GraphEdit::kAbsent) continue;
    if (edit.Constant(v) == nullptr) return std::nullopt;
    bytes += BytesOf(*edit.Constant(v));
    if (bytes > kMaxFoldedRead) return std::nullopt;
  }
  try {
    std::vector<Value> inputs;
    for (const int v : edit.inputs(n))
      inputs.push_back(v == GraphEdit::kAbsent ? Value() : Value(TensorFromProto(*edit.Constant(v))));
    const std::optional<Tensor> tensor = FoldNode(edit, n, std::move(inputs));
    return tensor ? std::optional(TensorToProto(*tensor)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Tensor> FoldNode(const GraphEdit& edit, int n, std::vector<Value> inputs) {
  const OpDef* op = edit.op(n);
  const NodeProto& node = edit.node(n);
  if (op == nullptr || !IsFoldable(*op, node) || edit.outputs(n).size() != 1) return std::nullopt;
  try {
    CheckNode(*op, node);
    if (!UnknownAttributes(*op, node).empty()) return std::nullopt;
    size_t bytes = 0;
    for (const Value& input : inputs) bytes += input.IsTensor() ? input.tensor().ByteSize() : 0;
    const bool flush = edit.context().flush_denormals;
    const std::unique_ptr<OpState> state = PrepareOn(*op, node, edit.Opset(op->domain), inputs, flush);
    const std::optional<std::vector<Value>> outputs =
        Fold(*op, node, state.get(), std::move(inputs), InputChecks(*op, node), flush,
             static_cast<int64_t>(bytes) + kMaxFoldedGrowth);
    return outputs && outputs->at(0).IsTensor() ? std::optional(outputs->at(0).tensor()) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

int64_t FoldConstants(GraphEdit& edit) {
  int64_t folded = 0;
  for (int n = 0; n < edit.node_size(); ++n) {
    const OpDef* op = edit.alive(n) ? edit.op(n) : nullptr;
    if (op == nullptr || !IsFoldable(*op, edit.node(n)) || edit.outputs(n).size() != 1) continue;
    const int v = edit.outputs(n)[0];
    if (v == GraphEdit::kAbsent || edit.IsOutput(v)) continue;
    const bool is_constant = edit.Is(n, "Constant");
    if (!is_constant && edit.inputs(n).empty()) continue;
    const TensorProto* held = is_constant ? HeldBy(edit.node(n)) : nullptr;
    std::optional<TensorProto> tensor = held != nullptr ? std::optional(*held) : Folded(edit, n);
    if (!tensor) continue;
    edit.MakeConstant(v, *std::move(tensor));
    ++folded;
  }
  return folded;
}

}  // namespace ONNX_LIGHT_NAMESPACE
