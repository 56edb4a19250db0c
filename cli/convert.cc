// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "commands.h"
#include "onnxseq/model_io.h"

namespace ONNX_LIGHT_NAMESPACE {

int ConvertCommand(const ConvertArguments& arguments) {
  ExternalDataReport external;
  external.need_all = true;
  ModelProto model = ReadModelFile(arguments.input, &external);
  if (arguments.optimize) model = OptimizeModel(std::move(model));
  WriteModelOptions options = AsRead(external);
  if (arguments.external_bytes) options.external_bytes = arguments.external_bytes;
  options.lower = arguments.lower;
  options.ir_version = arguments.ir_version;
  WriteModelFile(model, arguments.output, options);
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
