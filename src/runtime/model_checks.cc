// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_checks.h"

#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

void CheckModel(ModelProto& model) {
  if (!model.has_graph()) throw InvalidArgument("the model has no graph");
  if (model.ir_version() > kMaxIrVersion)
    throw Unsupported(
        fmt::format("the model has IR version {}, this build reads up to {}", model.ir_version(), kMaxIrVersion));
  if (model.opset_import().empty()) {
    if (!model.has_ir_version() || model.ir_version() >= 3) throw InvalidArgument("the model imports no operator set");
    model.add_opset_import()->set_version(1);
  }
  const auto& imports = model.opset_import();
  for (size_t i = 0; i < imports.size(); ++i) {
    const OperatorSetIdProto& import = imports[i];
    const bool main = import.domain().empty() || import.domain() == "ai.onnx";
    const std::string_view domain = main ? std::string_view("ai.onnx") : std::string_view(import.domain());
    if (import.version() < 1)
      throw InvalidArgument(fmt::format("the model imports {} version {}", domain, import.version()));
    if (main && import.version() > kMaxOpset)
      throw Unsupported(fmt::format("the model imports {} version {}, this build reads up to {}", domain,
                                    import.version(), kMaxOpset));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
