// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailIo(std::string_view doing, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} \"{}\": {}", doing, path, std::generic_category().message(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

MappedFile MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe nobody writes to would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) FailIo("open", path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) FailIo("examine", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw IoError(fmt::format("cannot read \"{}\": it is {}, not a file", path, KindOf(status.st_mode)));
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {std::make_shared<char>('\0'), {}};
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) FailIo("map", path, errno);
  std::shared_ptr<const void> owner(data, [size](void* mapped) { ::munmap(mapped, size); });
  return {std::move(owner), {static_cast<const char*>(data), size}};
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) {
  // A link keeps pointing to the file: what it names is replaced.
  std::error_code ignored;
  std::string target = path;
  if (std::filesystem::is_symlink(path, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target = resolved.string();
  }
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) FailIo("create a file beside", path, errno);
  const auto fail = [&](std::string_view doing) {
    const int error = errno;
    ::unlink(temporary.c_str());
    FailIo(doing, path, error);
  };
  struct stat status{};
  mode_t mode = 0;
  if (::stat(target.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      ::unlink(temporary.c_str());
      throw IoError(fmt::format("cannot write \"{}\": it is {}, not a file", path, KindOf(status.st_mode)));
    }
    mode = status.st_mode & 07777;
  } else {
    mode = 0644;  // mkostemp gave 0600; the umask cannot be read without changing it under other threads
  }
  if (::fchmod(file.get(), mode) != 0) fail("set the mode of");
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(file.get()) != 0) fail("write");
  if (file.Close() != 0) fail("write");
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("replace");
  // The rename itself is durable once the folder is; a file system that cannot sync folders has done what it can.
  const std::string folder = std::filesystem::path(target).parent_path().string();
  const Descriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) (void)::fsync(directory.get());
}

}  // namespace ONNX_LIGHT_NAMESPACE
