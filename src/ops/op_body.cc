// SPDX-License-Identifier: Apache-2.0
#include "ops/op_body.h"

#include <fmt/format.h>

#include "onnx_io/text_parser.h"

namespace ONNX_LIGHT_NAMESPACE {

FunctionProto OpBody(const OpDef& op, const NodeProto& node, int64_t opset) {
  const std::string own = op.domain.empty() ? "" : fmt::format(", \"{}\" : {}", op.domain, op.since_version);
  return ParseFunctionText(fmt::format("<domain: \"{}\", opset_import: [\"\" : {}{}]> {} {}", op.domain, opset, own,
                                       op.type, op.body(node, opset)));
}

}  // namespace ONNX_LIGHT_NAMESPACE
