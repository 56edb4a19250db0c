// SPDX-License-Identifier: Apache-2.0
#include "npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "npy.h"
#include "onnxseq/errors.h"
#include "parse.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Record sizes and signatures as the zip specification (APPNOTE 6.3) numbers them.
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr uint32_t kElsewhere32 = 0xffffffff;  // the number stands in the zip64 record

[[noreturn]] void FailZip(const std::string& path, const std::string& fact) { FailAbout(path, fact); }
[[noreturn]] void FailIo(const std::string& path, std::string_view doing) {
  throw IoError(fmt::format("cannot be {}: {}", doing, std::strerror(errno)),
                ErrorWhere{.op_type = {}, .node_name = {}, .subject = path, .path = {}});
}

// Little-endian numbers at checked places of the file.
class ZipBytes {
 public:
  ZipBytes(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::string_view Part(uint64_t at, uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) FailZip(path_, "this .npz file is cut short");
    return bytes_.substr(at, size);
  }
  uint64_t Number(uint64_t at, size_t size) const {
    const std::string_view part = Part(at, size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(part[i])) << (8 * i);
    return value;
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& path_;
};

struct Entry {
  std::string name;
  uint64_t method = 0, crc = 0, packed_size = 0, size = 0, offset = 0;
};

// Numbers that did not fit the 32-bit fields, in the order of the specification.
void ReadZip64Extra(const ZipBytes& zip, uint64_t at, uint64_t size, Entry& entry) {
  for (const uint64_t end = at + size; at + 4 <= end;) {
    const uint64_t id = zip.Number(at, 2), length = zip.Number(at + 2, 2);
    at += 4;
    if (id == 1) {
      for (uint64_t* field : {&entry.size, &entry.packed_size, &entry.offset}) {
        if (*field != kElsewhere32) continue;
        *field = zip.Number(at, 8);
        at += 8;
      }
      return;
    }
    at += length;
  }
}

std::vector<Entry> ReadDirectory(const ZipBytes& zip, const std::string& path) {
  // The end record is followed by a comment of at most 65,535 bytes.
  std::optional<uint64_t> end;
  for (uint64_t back = kEndSize; back <= zip.size() && back <= kEndSize + 65535; ++back) {
    if (zip.Number(zip.size() - back, 4) == kEnd) {
      end = zip.size() - back;
      break;
    }
  }
  if (!end) FailZip(path, "this is no .npz file");
  uint64_t count = zip.Number(*end + 10, 2), at = zip.Number(*end + 16, 4);
  if (*end >= kLocator64Size && zip.Number(*end - kLocator64Size, 4) == kLocator64) {
    const uint64_t end64 = zip.Number(*end - kLocator64Size + 8, 8);
    if (end64 > zip.size() || zip.Number(end64, 4) != kEnd64) FailZip(path, "this .npz file is cut short");
    count = zip.Number(end64 + 32, 8);
    at = zip.Number(end64 + 48, 8);
  }
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > zip.size() || zip.Number(at, 4) != kCentral) FailZip(path, "the directory of this .npz file is damaged");
    Entry entry;
    entry.method = zip.Number(at + 10, 2);
    entry.crc = zip.Number(at + 16, 4);
    entry.packed_size = zip.Number(at + 20, 4);
    entry.size = zip.Number(at + 24, 4);
    entry.offset = zip.Number(at + 42, 4);
    const uint64_t name_size = zip.Number(at + 28, 2), extra_size = zip.Number(at + 30, 2),
                   note_size = zip.Number(at + 32, 2);
    entry.name = zip.Part(at + kCentralSize, name_size);
    ReadZip64Extra(zip, at + kCentralSize + name_size, extra_size, entry);
    at += kCentralSize + name_size + extra_size + note_size;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string Inflate(std::string_view packed, uint64_t size, const std::string& what) {
  // Deflate packs at most 1032 to 1: a larger claim is a lie and not worth its memory.
  if (size / 1032 > packed.size()) FailZip(what, fmt::format("{} bytes cannot unpack to {}", packed.size(), size));
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw MemoryError("out of memory");
  int status = Z_OK;
  size_t read = 0, written = 0;
  while (status == Z_OK) {
    // zlib counts in 32 bits: it is fed a gigabyte at a time.
    constexpr size_t kStep = size_t{1} << 30;
    const size_t in = std::min(kStep, packed.size() - read), room = std::min(kStep, out.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || written != size) FailZip(what, "the compressed data is damaged");
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Put(std::string& out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

}  // namespace

std::string ReadFileBytes(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) FailIo(path, "opened");
  std::string bytes;
  char block[1 << 16];
  while (const size_t got = std::fread(block, 1, sizeof(block), file.get())) bytes.append(block, got);
  if (std::ferror(file.get())) FailIo(path, "read");
  return bytes;
}

void WriteFileBytes(const std::string& path, std::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) FailIo(path, "opened for writing");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) FailIo(path, "written");
}

std::map<std::string, Tensor> ReadNpz(const std::string& path) {
  const std::string bytes = ReadFileBytes(path);
  const ZipBytes zip(bytes, path);
  std::map<std::string, Tensor> arrays;
  for (const Entry& entry : ReadDirectory(zip, path)) {
    const std::string what = fmt::format("{}, entry '{}'", path, entry.name);
    if (entry.offset > zip.size() || zip.Number(entry.offset, 4) != kLocal) FailZip(what, "the entry is damaged");
    const uint64_t data =
        entry.offset + kLocalSize + zip.Number(entry.offset + 26, 2) + zip.Number(entry.offset + 28, 2);
    const std::string_view packed = zip.Part(data, entry.packed_size);
    std::string unpacked;
    std::string_view content = packed;
    if (entry.method == 8) {
      unpacked = Inflate(packed, entry.size, what);
      content = unpacked;
    } else if (entry.method != 0) {
      FailZip(what, fmt::format("compression method {} cannot be read", entry.method));
    }
    if (Crc(content) != entry.crc) FailZip(what, "the checksum does not fit the data");
    std::string name = entry.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.insert_or_assign(std::move(name), ReadNpy(content, what));
  }
  return arrays;
}

void WriteNpz(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  // Every entry carries its sizes as zip64, so that arrays above 4 GiB take no path of their own.
  std::string out, directory;
  for (const auto& [name, tensor] : arrays) {
    const std::string content = WriteNpy(tensor), entry = name + ".npy";
    const uint64_t offset = out.size();
    const uint32_t crc = Crc(content);
    // Version needed 4.5, names in UTF-8, stored, dated 1980-01-01: equal arrays give equal files.
    const auto put_common = [&](std::string& to) {
      Put(to, 45, 2);
      Put(to, 1 << 11, 2);
      Put(to, 0, 2);
      Put(to, 0, 2);
      Put(to, 33, 2);
      Put(to, crc, 4);
      Put(to, kElsewhere32, 4);
      Put(to, kElsewhere32, 4);
      Put(to, entry.size(), 2);
    };
    Put(out, kLocal, 4);
    put_common(out);
    Put(out, 20, 2);
    out += entry;
    Put(out, 1, 2);
    Put(out, 16, 2);
    Put(out, content.size(), 8);
    Put(out, content.size(), 8);
    out += content;

    Put(directory, kCentral, 4);
    Put(directory, 45, 2);
    put_common(directory);
    Put(directory, 28, 2);  // extra
    Put(directory, 0, 2);   // comment
    Put(directory, 0, 2);   // disk
    Put(directory, 0, 2);   // internal attributes
    Put(directory, 0, 4);   // external attributes
    Put(directory, kElsewhere32, 4);
    directory += entry;
    Put(directory, 1, 2);
    Put(directory, 24, 2);
    Put(directory, content.size(), 8);
    Put(directory, content.size(), 8);
    Put(directory, offset, 8);
  }
  const uint64_t directory_at = out.size(), end64_at = directory_at + directory.size();
  out += directory;
  Put(out, kEnd64, 4);
  Put(out, kEnd64Size - 12, 8);
  Put(out, 45, 2);
  Put(out, 45, 2);
  Put(out, 0, 4);
  Put(out, 0, 4);
  Put(out, arrays.size(), 8);
  Put(out, arrays.size(), 8);
  Put(out, directory.size(), 8);
  Put(out, directory_at, 8);
  Put(out, kLocator64, 4);
  Put(out, 0, 4);
  Put(out, end64_at, 8);
  Put(out, 1, 4);
  Put(out, kEnd, 4);
  Put(out, 0, 4);
  Put(out, 0xffff, 2);
  Put(out, 0xffff, 2);
  Put(out, kElsewhere32, 4);
  Put(out, kElsewhere32, 4);
  Put(out, 0, 2);
  WriteFileBytes(path, out);
}

}  // namespace ONNX_LIGHT_NAMESPACE
