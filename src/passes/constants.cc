// SPDX-License-Identifier: Apache-2.0
#include "passes/constants.h"

#include "passes/passes.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

Tensor ReadConstant(const GraphEdit& edit, int v, TensorType type) {
  const TensorProto* constant = edit.Constant(v);
  if (constant == nullptr || onnx_optim::DataTypeToTensorType(constant->data_type()) != type) return {};
  double bytes = static_cast<double>(onnx_optim::BytesOf(type));
  for (const int64_t dim : constant->dims()) bytes *= static_cast<double>(dim);
  if (!(bytes >= 0) || bytes > static_cast<double>(kMaxFoldedRead)) return {};
  try {
    return TensorFromProto(*constant);
  } catch (const std::exception&) {
    return {};  // planning says what is wrong
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
