// SPDX-License-Identifier: Apache-2.0
// Model files written: deterministic bytes, replaced whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Initializers of this many bytes go to an external file when a model has one and nobody says otherwise.
inline constexpr int64_t kExternalDataBytes = 1024;
// Files of more bytes are not read by protobuf, hence by no other tool.
inline constexpr uint64_t kMaxModelBytes = (uint64_t{1} << 31) - 1;

// The bytes of the model: fields by number, unknown ones last in their message. Equal models give equal bytes, and a
// file written by protobuf, read and serialised, is the same file. Throws MemoryError through the caller's translation
// when there is no room.
ONNXSEQ_API std::string SerializeModel(const ModelProto& model);

// Writes the model to `path` through a new file, synced and renamed over it: the old model or the new one, never a
// part. The model may be one read from that very file. Links are followed. Throws IoError naming the path and the
// reason.
//
// With `external_bytes`, the data of initializers of at least that many bytes, bodies' included, goes to a file
// beside the model, each at a multiple of 4096; a model whose file would pass kMaxModelBytes is written so in any case.
// The file is named NAME.HASH.data after the model's file and the data, and is on disk before the model that refers to
// it; older files of that pattern, which only a former state of this model can have left, are removed afterwards.
// References to other files in the model stay as they are. One model is to be written by one caller at a time.
ONNXSEQ_API void WriteModel(const ModelProto& model, const std::string& path,
                            std::optional<int64_t> external_bytes = std::nullopt);

}  // namespace ONNX_LIGHT_NAMESPACE
