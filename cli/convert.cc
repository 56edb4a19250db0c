// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "onnxseq/model_io.h"

namespace ONNX_LIGHT_NAMESPACE {

int ConvertCommand(const ConvertArguments& arguments) {
  const bool to_ir = arguments.output.ends_with(".xml");
  if (arguments.ir_version && !to_ir) throw UsageError("--ir-version: OUT is no OpenVINO IR, whose name ends in .xml");
  if (arguments.external_bytes && to_ir) throw UsageError("--external-data: an OpenVINO IR has its weights in a .bin");
  ExternalDataReport external;
  external.need_all = true;
  ModelProto model = ReadModelFile(arguments.input, &external);
  if (arguments.batch_sequence_map) {
    std::vector<std::string> notes;
    model = BatchSequenceMaps(std::move(model), &notes);
    for (const std::string& note : notes) std::fprintf(stderr, "onnxseq: %s\n", note.c_str());
  } else if (arguments.optimize) {
    model = OptimizeModel(std::move(model));
  }
  WriteModelOptions options = AsRead(external);
  if (arguments.external_bytes) options.external_bytes = arguments.external_bytes;
  options.lower = arguments.lower;
  options.ir_version = arguments.ir_version;
  WriteModelFile(model, arguments.output, options);
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
