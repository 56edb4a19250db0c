// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"
#include "ops/infer_node.h"
#include "ops/math/matmul_op.h"
#include "passes/fused_node.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

bool IsPlain(const GraphEdit& edit, int n) {
  CheckNode(*edit.op(n), edit.node(n));
  return UnknownAttributes(*edit.op(n), edit.node(n)).empty();
}

// A constant of `type` and dims [n], or [1,n] where `matrix`.
bool IsRow(const GraphEdit& edit, int v, int32_t type, int64_t n, bool matrix) {
  const TensorProto* row = edit.Constant(v);
  if (row == nullptr || row->data_type() != type) return false;
  return (row->dims_size() == 1 && row->dims(0) == n) ||
         (matrix && row->dims_size() == 2 && row->dims(0) == 1 && row->dims(1) == n);
}

// The one node that uses what n gives; kAbsent when there is none.
int OnlyUser(const GraphEdit& edit, int n) {
  const int v = edit.outputs(n)[0];
  return v != kAbsent && !edit.IsPinned(v) && edit.users(v).size() == 1 ? edit.users(v).front() : kAbsent;
}

bool Fuse(GraphEdit& edit, int n) {
  const bool gemm = edit.Is(n, "Gemm");
  if (!gemm && !edit.Is(n, "MatMul")) return false;
  const TensorProto* factor = edit.Constant(edit.input(n, 1));
  if (factor == nullptr || factor->dims_size() != 2 || !IsPlain(edit, n)) return false;
  const int32_t type = factor->data_type();
  const double bytes = static_cast<double>(factor->dims(0)) * static_cast<double>(factor->dims(1)) *
                       (type == TensorProto::DOUBLE ? 8 : 4);
  if ((type != TensorProto::FLOAT && type != TensorProto::DOUBLE) || bytes > static_cast<double>(kMostPackedBytes))
    return false;
  const NodeAttributes attributes(edit.node(n));
  const bool transposed = attributes.Int("transB", 0) != 0;
  const int64_t columns = factor->dims(transposed ? 0 : 1);
  const int c = edit.input(n, 2);
  if (gemm && (edit.op(n)->since_version < 7 || attributes.Int("transA", 0) != 0 || attributes.Float("alpha", 1) != 1 ||
               attributes.Float("beta", 1) != 1 || (c != kAbsent && !IsRow(edit, c, type, columns, true))))
    return false;
  std::vector<int> group{n};
  int row = kAbsent, next = OnlyUser(edit, n);
  if (next != kAbsent && edit.Is(next, "Add") && edit.op(next)->since_version >= 7) {
    const int other = edit.input(next, edit.input(next, 0) == edit.outputs(n)[0] ? 1 : 0);
    if (!IsRow(edit, other, type, columns, false) || !IsPlain(edit, next)) return false;
    row = other;
    group.push_back(next);
    next = OnlyUser(edit, next);
  }
  const bool relu = next != kAbsent && edit.Is(next, "Relu") && IsPlain(edit, next);
  if (relu) group.push_back(next);
  if (group.size() == 1 || edit.outputs(group.back())[0] == kAbsent) return false;
  NodeProto& fused = FuseNodes(edit, group, "FusedProduct", {edit.input(n, 0), edit.input(n, 1), c, row});
  SetInt(fused, "gemm", gemm ? 1 : 0);
  if (relu) SetInt(fused, "relu", 1);
  if (transposed) SetInt(fused, "transB", 1);
  return true;
}

}  // namespace

int64_t FuseProduct(GraphEdit& edit) {
  int64_t fused = 0;
  for (int n = 0; n < edit.node_size(); ++n) {
    try {
      fused += Fuse(edit, n) ? 1 : 0;
    } catch (const std::exception&) {
      // An attribute of the wrong type: planning says so.
    }
  }
  return fused;
}

}  // namespace ONNX_LIGHT_NAMESPACE
