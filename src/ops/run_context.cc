// SPDX-License-Identifier: Apache-2.0
#include "ops/run_context.h"

#include <fmt/format.h>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

std::string RunContext::InputSubject(int i) const {
  const std::vector<Formal>& formals = op().inputs;
  const std::string name = i < node().input_size() ? std::string(node().input(static_cast<size_t>(i))) : std::string();
  std::string subject = fmt::format("input {}", i);
  if (!formals.empty()) {
    const size_t formal = std::min(static_cast<size_t>(i), formals.size() - 1);
    if (formal == static_cast<size_t>(i) || formals[formal].count == FormalCount::kVariadic)
      subject += fmt::format(" '{}'", formals[formal].name);
  }
  if (!name.empty()) subject += fmt::format(" (\"{}\")", name);
  return subject;
}

void RunContext::Fail(std::string subject, std::string fact) const {
  throw InvalidArgument(std::move(fact),
                        ErrorWhere{.op_type = {}, .node_name = {}, .subject = std::move(subject), .path = {}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
