// SPDX-License-Identifier: Apache-2.0
// Files written whole: a new file beside the old one takes its place once it is on disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// `path`, or what it leads to when it is a symbolic link: writing through a link replaces the file, not the link.
std::string FollowLinks(const std::string& path);

// A file under a name of its own until PutInPlace. What is not put in place is removed with the object; a process that
// is killed leaves NAME.XXXXXX.tmp behind. Every member throws IoError naming the path and the system's reason.
class NewFile {
 public:
  // Creates an empty file in the folder of `path`, whose links are followed already.
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void Write(std::string_view bytes);
  int64_t size() const { return size_; }
  // Syncs the file and renames it to `target`, in the same folder. The mode of a file already there is kept.
  void PutInPlace(const std::string& target);

 private:
  [[noreturn]] void Fail(std::string_view doing) const;
  std::string path_;       // for messages
  std::string temporary_;  // "" once in place
  FileDescriptor file_;
  int64_t size_ = 0;
};

// One file with these bytes at `path`: a reader sees the old file or the new one. Links are followed. Throws IoError
// and leaves no file behind. Thread safe.
ONNXSEQ_API void WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace ONNX_LIGHT_NAMESPACE
