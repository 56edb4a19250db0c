// SPDX-License-Identifier: Apache-2.0
// What opening, reading and writing files have in common. Private to base.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <system_error>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

[[noreturn]] inline void FailIo(std::string_view doing, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} \"{}\": {}", doing, path, std::generic_category().message(error)), {}, error);
}

// What a path that is no regular file leads to, for messages.
inline const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  int Close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
