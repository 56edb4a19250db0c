// SPDX-License-Identifier: Apache-2.0
// The .npz format: arrays by name in a zip file.
#pragma once

#include <map>
#include <string>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// The arrays of the file by name ("x" for the entry "x.npy"), stored or deflated, zip64 or not. Throws IoError when it
// cannot be read, InvalidArgument when it is no .npz file, is damaged (checksums are compared), or holds what ReadNpy
// refuses.
std::map<std::string, Tensor> ReadNpz(const std::string& path);

// Writes the arrays, stored uncompressed, replacing the file. Throws IoError.
void WriteNpz(const std::string& path, const std::map<std::string, Tensor>& arrays);

// The bytes of a file; IoError when it cannot be read.
std::string ReadFileBytes(const std::string& path);
// Replaces the file by `bytes`; IoError.
void WriteFileBytes(const std::string& path, std::string_view bytes);

}  // namespace ONNX_LIGHT_NAMESPACE
