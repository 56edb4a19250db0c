// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// A rename is durable once its folder is; a file system that cannot sync folders has done what it can.
void SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const FileDescriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) (void)::fsync(directory.get());
}

}  // namespace

std::string FollowLinks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

NewFile::NewFile(const std::string& path)
    : path_(path), temporary_(path + ".XXXXXX.tmp"), file_(::mkostemps(temporary_.data(), 4, O_CLOEXEC)) {
  if (file_.get() < 0) FailIo("create a file beside", path_, errno);
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::Fail(std::string_view doing) const { FailIo(doing, path_, errno); }

void NewFile::Write(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      Fail("write");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void NewFile::PutInPlace(const std::string& target) {
  struct stat status{};
  mode_t mode = 0644;  // mkostemps gave 0600; the umask cannot be read without changing it under other threads
  if (::stat(target.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      throw IoError(fmt::format("cannot write \"{}\": it is {}, not a file", path_, KindOf(status.st_mode)));
    mode = status.st_mode & 07777;
  }
  if (::fchmod(file_.get(), mode) != 0) Fail("set the mode of");
  if (::fsync(file_.get()) != 0) Fail("write");
  if (file_.Close() != 0) Fail("write");
  if (::rename(temporary_.c_str(), target.c_str()) != 0) Fail("replace");
  temporary_.clear();
  SyncFolderOf(target);
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string target = FollowLinks(path);
  NewFile file(target);
  file.Write(bytes);
  file.PutInPlace(target);
}

}  // namespace ONNX_LIGHT_NAMESPACE
