// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/mapped_file.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

// Starts of files that people hand over as models. None is the start of a model: wire types 6 and 7, field 0, or a
// field that no ModelProto has, follow in each.
constexpr Signature kBinary[] = {
    {"\x1f\x8b"sv, "a gzip archive; unpack it first"},
    {"BZh"sv, "a bzip2 archive; unpack it first"},
    {"\xfd"
     "7zXZ"sv,
     "an xz archive; unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd archive; unpack it first"},
    {"\x89"
     "HDF\r\n"sv,
     "an HDF5 file"},
    {"\x93NUMPY"sv, "a numpy array"},
    {"GGUF"sv, "a GGUF file"},
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file it points to; run `git lfs pull`"},
};
constexpr Signature kText[] = {
    {"<!doctype html"sv, "a web page (HTML), perhaps a failed download"},
    {"<html"sv, "a web page (HTML), perhaps a failed download"},
    {"<?xml"sv, "XML, which OpenVINO IR is; give it as a .xml file with its .bin beside it"},
    {"<net "sv, "XML, which OpenVINO IR is; give it as a .xml file with its .bin beside it"},
};

constexpr std::string_view kPyTorch =
    "a PyTorch checkpoint (pickled Python objects); export the model with torch.onnx.export";

// A zip archive by what lies in it first: PyTorch and numpy keep their data in such.
std::string_view ZipKind(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  if (start.find("data.pkl") != start.npos || start.find("/.format_version") != start.npos) return kPyTorch;
  const size_t name = 30;  // the size of the header before the first name
  if (start.size() > name && start.substr(name, 256).find(".npy") != start.npos)
    return "an archive of numpy arrays (.npz)";
  return "a zip archive; unpack it first";
}

// What the bytes are when they are something well known; nothing for what may be a model.
std::optional<std::string_view> KnownAsOther(std::string_view bytes) {
  if (bytes.starts_with("PK\x03\x04")) return ZipKind(bytes);
  for (const auto& [start, what] : kBinary)
    if (bytes.starts_with(start)) return what;
  // A text may begin with a byte order mark and blanks.
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  while (!bytes.empty() && std::isspace(static_cast<unsigned char>(bytes.front()))) bytes.remove_prefix(1);
  if (bytes.starts_with('{') && bytes.find_first_not_of(" \t\r\n", 1) == bytes.find('"')) return "JSON";
  for (const auto& [start, what] : kText) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    if (bytes.size() >= start.size() &&
        std::equal(start.begin(), start.end(), bytes.begin(), [&](char a, char b) { return same(b, a); })) {
      return what;
    }
  }
  return std::nullopt;
}

// What bytes that did not parse as a model look like; "" for nothing in particular.
std::string_view LooksLike(std::string_view bytes) {
  if (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5) return kPyTorch;
  if (bytes.substr(std::min<size_t>(4, bytes.size())).starts_with("TFL3")) return "a TensorFlow Lite model";
  // A length of 64 bits, then JSON.
  if (bytes.size() > 9 && bytes.substr(4, 6) == "\0\0\0\0{\""sv) return "a safetensors file";
  const std::string_view start = bytes.substr(0, 512);
  const bool text = std::ranges::all_of(
      start, [](char c) { return static_cast<unsigned char>(c) >= 0x20 || (c >= '\t' && c <= '\r'); });
  if (!text) return "";
  if (start.find("=>") != start.npos) return "text; ONNX text is read from a file named .onnxtxt";
  return "text";
}

}  // namespace

ModelProto ParseModel(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) throw ModelParseError("not an ONNX model: it is empty", 0, "");
  if (const auto what = KnownAsOther(bytes))
    throw ModelParseError(fmt::format("not an ONNX model: it is {}", *what), 0, "");
  ModelProto model;
  try {
    model = ParseWire<ModelProto>(bytes, owner);  // the bytes are looked at again below
  } catch (const ModelParseError& e) {
    if (const std::string_view what = LooksLike(bytes); !what.empty())
      throw ModelParseError(fmt::format("not an ONNX model: it is {}", what), 0, "");
    // Bytes that make no sense before any field of a model was entered were hardly meant as one.
    if (!e.field_path().empty() || e.fact().starts_with("the data is truncated")) throw;
    throw ModelParseError("not an ONNX model, or a damaged one: " + e.fact(), e.offset(), "");
  }
  if (!model.has_graph()) {
    if (const std::string_view what = LooksLike(bytes); !what.empty())
      throw ModelParseError(fmt::format("not an ONNX model: it is {}", what), 0, "");
    throw ModelParseError("not an ONNX model: there is no graph in it (a tensor or another part of a model, perhaps)",
                          0, "");
  }
  return model;
}

ModelProto ReadModel(const std::string& path) {
  MappedFile file = MapFile(path);
  try {
    return ParseModel(file.bytes, std::move(file.owner));
  } catch (ModelParseError& e) {
    e.AddPath(fmt::format("in \"{}\"", path));
    throw;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
