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
    {"PK\x03\x04"sv, "a zip archive; unpack it first"},
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
    {"{\""sv, "JSON"},
};

// What the bytes are when they are something well known; nothing for what may be a model.
std::optional<std::string_view> KnownAsOther(std::string_view bytes) {
  for (const auto& [start, what] : kBinary)
    if (bytes.starts_with(start)) return what;
  // A text may begin with a byte order mark and blanks.
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  while (!bytes.empty() && std::isspace(static_cast<unsigned char>(bytes.front()))) bytes.remove_prefix(1);
  for (const auto& [start, what] : kText) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    if (bytes.size() >= start.size() &&
        std::equal(start.begin(), start.end(), bytes.begin(), [&](char a, char b) { return same(b, a); })) {
      return what;
    }
  }
  return std::nullopt;
}

}  // namespace

ModelProto ParseModel(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) throw ModelParseError("not an ONNX model: it is empty", 0, "");
  if (const auto what = KnownAsOther(bytes))
    throw ModelParseError(fmt::format("not an ONNX model: it is {}", *what), 0, "");
  ModelProto model;
  try {
    model = ParseWire<ModelProto>(bytes, std::move(owner));
  } catch (const ModelParseError& e) {
    // Bytes that make no sense before any field of a model was entered were hardly meant as one.
    if (!e.field_path().empty() || e.fact().starts_with("the data is truncated")) throw;
    throw ModelParseError("not an ONNX model, or a damaged one: " + e.fact(), e.offset(), "");
  }
  if (!model.has_graph()) {
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
