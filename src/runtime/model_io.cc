// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/model_io.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "base/new_file.h"
#include "onnx_io/external_data.h"
#include "onnx_io/reader.h"
#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"
#include "onnx_io/writer.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"
#include "openvino_io/ir_standard.h"
#include "passes/optimize.h"
#include "runtime/inferred_types.h"
#include "runtime/save_ir.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

bool IsText(const std::string& path) { return path.ends_with(".onnxtxt"); }

ModelProto ReadText(const std::string& path) {
  const MappedFile file = MapFile(path);
  try {
    return ParseModelText(file.bytes);
  } catch (Error& e) {
    e.AddPath(fmt::format("in \"{}\"", path));
    throw;
  }
}

}  // namespace

ModelProto ReadModelFile(const std::string& path, ExternalDataReport* report) {
  return TranslateErrors([&] {
    if (path.ends_with(".xml")) return ReadIr(path);
    ModelProto model = IsText(path) ? ReadText(path) : ReadModel(path);
    const size_t loaded =
        LoadExternalData(model, DataFoldersOf(path), report == nullptr || report->need_all ? nullptr : &report->missing)
            .size();
    if (report != nullptr) report->loaded = loaded;
    return model;
  });
}

void LoadExternalData(ModelProto& model, const std::string& folder) {
  TranslateErrors([&] {
    std::error_code error;
    const std::vector<std::filesystem::path> folders{std::filesystem::canonical(folder, error)};
    if (error)
      throw IoError(fmt::format("cannot open the folder \"{}\": {}", folder, error.message()), {}, error.value());
    LoadExternalData(model, folders);
  });
}

ModelProto OptimizeModel(ModelProto model) {
  return TranslateErrors([&] {
    ModelProto optimized = model;
    InferredTypes types(model, CustomOps({}));
    types.AddCopy(model.graph(), optimized.graph());
    try {
      static_cast<void>(OptimizeGraphs(optimized, types, {.standard_only = true, .flush_denormals = false}));
      return optimized;
    } catch (const Error&) {
      return model;
    }
  });
}

ModelProto BatchSequenceMaps(ModelProto model, std::vector<std::string>* notes) {
  ModelProto optimized = OptimizeModel(std::move(model));
  return TranslateErrors([&] {
    ModelProto batched = optimized;
    InferredTypes types(optimized, CustomOps({}));
    types.AddCopy(optimized.graph(), batched.graph());
    try {
      OptimizeReport report = BatchAllSequenceMaps(batched, types);
      if (notes != nullptr) *notes = std::move(report.notes);
    } catch (const Error&) {
      return optimized;
    }
    return OptimizeModel(std::move(batched));
  });
}

WriteModelOptions AsRead(const ExternalDataReport& report) {
  WriteModelOptions options;
  if (report.loaded > 0) options.external_bytes = kExternalDataBytes;
  return options;
}

void WriteModelFile(const ModelProto& model, const std::string& path, const WriteModelOptions& options) {
  if (options.external_bytes && *options.external_bytes < 0)
    throw InvalidArgument(fmt::format("external data from {} bytes, but 0 is the least", *options.external_bytes));
  if (options.ir_version && !path.ends_with(".xml"))
    throw InvalidArgument(
        fmt::format("an IR version, {}, is of an OpenVINO IR, which \"{}\" is not", *options.ir_version, path));
  TranslateErrors([&] {
    if (options.lower && !path.ends_with(".xml")) {
      ModelProto lowered = model;
      LayersToOnnx(lowered);
      return WriteModelFile(lowered, path, {.external_bytes = options.external_bytes});
    }
    if (path.ends_with(".xml")) {
      SaveIr(model, path, {.lower = options.lower, .version = options.ir_version.value_or(11)});
    } else if (IsText(path)) {
      WriteFileAtomically(path, PrintModelText(model));
    } else {
      WriteModel(model, path, options.external_bytes);
    }
  });
}

Value ReadValueFile(const std::string& path, ValueFileKind kind) {
  return TranslateErrors([&]() -> Value {
    const MappedFile file = MapFile(path);
    try {
      switch (kind) {
        case ValueFileKind::kSequence:
          return SequenceFromProto(ParseMessage<SequenceProto>(file.bytes, file.owner));
        case ValueFileKind::kOptional:
          return ValueFromProto(ParseMessage<OptionalProto>(file.bytes, file.owner));
        case ValueFileKind::kMap:
          return MapFromProto(ParseMessage<MapProto>(file.bytes, file.owner));
        case ValueFileKind::kTensor:
          break;
      }
      return TensorFromProto(ParseMessage<TensorProto>(file.bytes, file.owner));
    } catch (Error& e) {
      e.AddPath(fmt::format("in \"{}\"", path));
      throw;
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
