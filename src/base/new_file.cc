// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <random>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// A rename is durable once its folder is; a file system that cannot sync folders has done what it can.
void SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const FileDescriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) (void)::fsync(directory.get());
}

// A new file beside `path`, called `name`; -1 and errno when there is none to be had. Its mode is what the umask
// leaves, and nobody else's while a file is there whose mode it is to take.
int Create(const std::string& path, std::string& name) {
  struct stat status{};
  const mode_t mode = ::stat(path.c_str(), &status) == 0 ? 0600 : 0666;
  std::random_device random;
  for (int tries = 0;; ++tries) {
    name = fmt::format("{}.{:08x}.tmp", path, random());
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST || tries == 100) return file;
  }
}

}  // namespace

std::string FollowLinks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

NewFile::NewFile(const std::string& path) : path_(path), file_(Create(path, temporary_)) {
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
  const bool replaces = ::stat(target.c_str(), &status) == 0;
  if (replaces && !S_ISREG(status.st_mode))
    throw IoError(fmt::format("cannot write \"{}\": it is {}, not a file", path_, KindOf(status.st_mode)));
  // What stands beside another file is for those who may read that.
  if ((replaces || ::stat(path_.c_str(), &status) == 0) && ::fchmod(file_.get(), status.st_mode & 07777) != 0)
    Fail("set the mode of");
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
