// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file_descriptor.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

MappedFile MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe nobody writes to would wait for ever.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

}  // namespace ONNX_LIGHT_NAMESPACE
