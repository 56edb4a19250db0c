// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The bytes of a file for as long as somebody holds `owner`. The file must not be cut while it is mapped; replacing it
// by rename, as WriteModel does, leaves the mapped bytes as they were.
struct MappedFile {
  std::shared_ptr<const void> owner;  // never null
  std::string_view bytes;
};

// Maps the regular file at `path`, symlinks followed; an empty file gives empty bytes. Throws IoError naming the path
// and the system's reason, and for a directory, pipe, socket or device. Thread safe.
ONNXSEQ_API MappedFile MapFile(const std::string& path);

}  // namespace ONNX_LIGHT_NAMESPACE
