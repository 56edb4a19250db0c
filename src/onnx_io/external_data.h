// SPDX-License-Identifier: Apache-2.0
// Data of tensors in files beside the model.
//
// A tensor names its file by `location`, its bytes by `offset` (0 when absent) and `length` (the rest of the file when
// absent). The location is a plain relative path, and what it leads to, links followed, lies under the model's folder:
// under the one its path names, or the one the model file itself is in once links are followed (a cache that keeps
// files under the hash of their content, with links to them, has both). Other keys, `checksum` among them, are ignored:
// verifying one would read the whole file. A model may be anybody's: nothing outside these folders is ever opened.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// The folders below which the data of the model at `path` may lie.
ONNXSEQ_API std::vector<std::filesystem::path> DataFoldersOf(const std::string& path);

// Throws InvalidArgument unless `location` is a plain relative path: no root, drive, `..`, backslash or NUL.
void CheckDataLocation(const std::string& location);

// Where the data of a tensor was, so that it can be written back.
class ExternalReferences {
 public:
  size_t size() const { return entries_.size(); }
  // Puts the references back in place of the data. The model must hold the tensors still; more may have come.
  void Restore() const;
  void Add(TensorProto& tensor);

 private:
  struct Entry {
    TensorProto* tensor;
    RepeatedMessages<StringStringEntryProto> external_data;
  };
  std::vector<Entry> entries_;
};

// Gives every tensor of the model that lies in an external file its data: raw_data becomes a view into the file, mapped
// once and kept alive by the tensors; nothing is read until it is looked at. Thread safe.
//
// Throws, naming tensor, file and the values that disagree: InvalidArgument for a location as above, an offset or
// length that is no number or outside the file, a length that does not fit the tensor, a string tensor, data in the
// model as well; IoError for a file that is not there, is no regular file (a pipe is not waited for), or cannot be
// read. With `missing`, such tensors stay as they are and the reasons are added there, one for each file.
ONNXSEQ_API ExternalReferences LoadExternalData(ModelProto& model, const std::vector<std::filesystem::path>& folders,
                                                std::vector<std::string>* missing = nullptr);

}  // namespace ONNX_LIGHT_NAMESPACE
