// SPDX-License-Identifier: Apache-2.0
// The nine documented functions: each runs its operator's one rule on the context.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx_optim/shapes/sequence/shape_sequence.h"
#include "onnxseq/errors.h"
#include "onnxseq/versions.h"
#include "ops/infer_graph.h"
#include "ops/infer_node.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

constexpr std::array<std::string_view, 9> kDocumentedOps = {"ConcatFromSequence", "SequenceAt",    "SequenceConstruct",
                                                            "SequenceEmpty",      "SequenceErase", "SequenceInsert",
                                                            "SequenceLength",     "SequenceMap",   "SplitToSequence"};

void Infer(ShapesContext& ctx, const NodeProto& node, std::string_view op_type) {
  if (node.op_type() != op_type) {
    InvalidArgument error(fmt::format("must be a {} node", op_type));
    error.AddNode(node.op_type().empty() ? std::string_view("node without op_type") : std::string_view(node.op_type()),
                  node.name());
    throw error;
  }
  // Whatever operator sets the context has: the function was asked for by name.
  GraphInference(GraphInference::Mode::kThrow).Rule(ctx, node, *FindOp("", op_type, kMaxOpset));
}

}  // namespace

bool IsDocumentedOp(const OpDef& op) {
  return op.domain.empty() && std::find(kDocumentedOps.begin(), kDocumentedOps.end(), op.type) != kDocumentedOps.end();
}

namespace onnx_optim {
namespace shapes {
namespace sequence {

void ComputeShapeSequenceConstruct(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceConstruct"); }
void ComputeShapeConcatFromSequence(ShapesContext& ctx, const NodeProto& node) {
  Infer(ctx, node, "ConcatFromSequence");
}
void ComputeShapeSequenceLength(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceLength"); }
void ComputeShapeSequenceEmpty(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceEmpty"); }
void ComputeShapeSequenceErase(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceErase"); }
void ComputeShapeSequenceAt(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceAt"); }
void ComputeShapeSequenceInsert(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceInsert"); }
void ComputeShapeSequenceMap(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SequenceMap"); }
void ComputeShapeSplitToSequence(ShapesContext& ctx, const NodeProto& node) { Infer(ctx, node, "SplitToSequence"); }

}  // namespace sequence
}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
