// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "onnx_io/tensor_walk.h"
#include "onnx_optim/tensor_type.h"
#include "onnxseq/errors.h"
#include "onnxseq/value.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;

bool LiesUnder(const fs::path& path, const fs::path& folder) {
  const auto [rest, end] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return end == folder.end() && rest != path.end();
}

// The entries of external_data that mean something here.
struct Reference {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

int64_t ReadNumber(const StringStringEntryProto& entry) {
  const std::string& text = entry.value();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw InvalidArgument(fmt::format("{} \"{}\" of its external data is no number from 0 to {}",
                                      std::string_view(entry.key()), text, INT64_MAX));
  }
  return value;
}

Reference ReadReference(const TensorProto& tensor) {
  Reference reference;
  std::unordered_set<std::string_view> seen;
  for (const StringStringEntryProto& entry : tensor.external_data()) {
    const std::string_view key = entry.key();
    if (key != "location" && key != "offset" && key != "length") continue;
    if (!seen.insert(key).second) throw InvalidArgument(fmt::format("has two {}s of external data", key));
    if (key == "location") reference.location = entry.value();
    if (key == "offset") reference.offset = ReadNumber(entry);
    if (key == "length") reference.length = ReadNumber(entry);
  }
  if (!seen.contains("location")) throw InvalidArgument("has external data without a location");
  return reference;
}

bool HoldsData(const TensorProto& tensor) {
  return tensor.has_float_data() || tensor.has_int32_data() || tensor.has_int64_data() || tensor.has_double_data() ||
         tensor.has_uint64_data() || tensor.has_string_data() || !tensor.raw_data().empty();
}

// The bytes the tensor takes; nothing when type and dims do not say, which whoever reads the tensor reports.
std::optional<int64_t> BytesNeeded(const TensorProto& tensor) {
  const TensorType type = onnx_optim::DataTypeToTensorType(tensor.data_type());
  if (onnx_optim::BitsOf(type) == 0 || std::ranges::any_of(tensor.dims(), [](int64_t dim) { return dim < 0; }))
    return std::nullopt;
  const auto elements = CheckedProduct(std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()));
  return elements ? RawBytes(type, *elements) : std::nullopt;
}

std::string Describe(const TensorProto& tensor) {
  const TensorType type = onnx_optim::DataTypeToTensorType(tensor.data_type());
  return onnx_optim::ToTypeString(type) +
         Shape(std::span<const int64_t>(tensor.dims().data(), tensor.dims().size())).ToString();
}

class Loader {
 public:
  explicit Loader(const std::vector<fs::path>& folders) : folders_(folders) {}

  void Load(TensorProto& tensor, ExternalReferences& references) {
    if (tensor.data_type() == TensorProto::STRING)
      throw InvalidArgument("has its strings in an external file, which the format does not allow");
    if (HoldsData(tensor)) throw InvalidArgument("has data in the model and in an external file");
    const Reference reference = ReadReference(tensor);
    const MappedFile& file = Map(reference.location);
    const auto size = static_cast<int64_t>(file.bytes.size());
    if (reference.offset > size || reference.length.value_or(0) > size - reference.offset) {
      throw InvalidArgument(
          fmt::format("has external data from byte {}{} of \"{}\", which has {} bytes", reference.offset,
                      reference.length ? fmt::format(", {} bytes,", *reference.length) : "", reference.location, size));
    }
    int64_t length = reference.length.value_or(size - reference.offset);
    if (const std::optional<int64_t> needed = BytesNeeded(tensor)) {
      // Without a length the data starts at the offset, and something else may follow it.
      if (reference.length ? length != *needed : length < *needed) {
        throw InvalidArgument(fmt::format("has {} bytes of external data in \"{}\", {} needs {}", length,
                                          reference.location, Describe(tensor), *needed));
      }
      length = *needed;
    }
    references.Add(tensor);
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(Bytes::Shared(
        file.bytes.substr(static_cast<size_t>(reference.offset), static_cast<size_t>(length)), file.owner));
  }

 private:
  const MappedFile& Map(const std::string& location) {
    const auto known = by_location_.find(location);
    if (known != by_location_.end()) return known->second;
    CheckDataLocation(location);
    const std::string path = Resolve(location).string();
    auto file = by_path_.find(path);
    if (file == by_path_.end()) file = by_path_.emplace(path, MapFile(path)).first;
    return by_location_.emplace(location, file->second).first->second;
  }

  // The file itself, links followed.
  fs::path Resolve(const std::string& location) const {
    std::error_code error = std::make_error_code(std::errc::no_such_file_or_directory);
    for (const fs::path& folder : folders_) {
      const fs::path real = fs::canonical(folder / location, error);
      if (error) continue;
      if (std::ranges::none_of(folders_, [&](const fs::path& allowed) { return LiesUnder(real, allowed); }))
        throw InvalidArgument(fmt::format("has its data in \"{}\", which leads out of the model's folder", location));
      return real;
    }
    throw IoError(fmt::format("has its data in \"{}\", which cannot be opened: {}",
                              folders_.empty() ? location : (folders_.front() / location).string(), error.message()),
                  {}, error.value());
  }

  const std::vector<fs::path>& folders_;
  std::unordered_map<std::string, MappedFile> by_location_;
  std::unordered_map<std::string, MappedFile> by_path_;
};

// The error with the tensor as its subject.
template <class E>
E About(const TensorProto& tensor, const NodeProto* node, const E& error) {
  ErrorWhere where{.op_type = {},
                   .node_name = {},
                   .subject = fmt::format("tensor \"{}\"", std::string_view(tensor.name())),
                   .path = {}};
  E named = [&] {
    if constexpr (std::is_same_v<E, IoError>)
      return E(error.fact(), std::move(where), error.error_number());
    else
      return E(error.fact(), std::move(where));
  }();
  if (node != nullptr) named.AddNode(node->op_type(), node->name());
  return named;
}

}  // namespace

std::vector<fs::path> DataFoldersOf(const std::string& path) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  const fs::path logical = fs::canonical(parent.empty() ? "." : parent, error);
  if (!error) folders.push_back(logical);
  const fs::path real = fs::canonical(path, error).parent_path();
  if (!error && real != logical) folders.push_back(real);
  return folders;
}

void CheckDataLocation(const std::string& location) {
  const auto refuse = [&](std::string_view why) {
    throw InvalidArgument(
        fmt::format("has its data in \"{}\", which {}; it must be a plain path below the model's folder",
                    location.substr(0, location.find('\0')), why));
  };
  if (location.empty()) refuse("is empty");
  if (location.find('\0') != std::string::npos) refuse("has a NUL in it");
  if (location.find('\\') != std::string::npos) refuse("has a backslash in it");
  if (location.front() == '/') refuse("is absolute");
  if (location.size() > 1 && location[1] == ':') refuse("names a drive");
  const fs::path path(location);
  if (std::ranges::find(path, fs::path("..")) != path.end()) refuse("has \"..\" in it");
}

void ExternalReferences::Add(TensorProto& tensor) { entries_.push_back({&tensor, tensor.external_data()}); }

void ExternalReferences::Restore() const {
  for (const auto& [tensor, external_data] : entries_) {
    tensor->clear_raw_data();
    tensor->ref_external_data() = external_data;
    tensor->set_data_location(TensorProto::EXTERNAL);
  }
}

ExternalReferences LoadExternalData(ModelProto& model, const std::vector<fs::path>& folders,
                                    std::vector<std::string>* missing) {
  ExternalReferences references;
  Loader loader(folders);
  std::unordered_set<std::string> reported;
  ForEachTensor(model, [&](TensorProto& tensor, const NodeProto* node) {
    if (tensor.data_location() != TensorProto::EXTERNAL) return;
    const auto report = [&](const auto& error) {
      const auto named = About(tensor, node, error);
      if (missing == nullptr) throw named;
      if (reported.insert(error.fact()).second) missing->push_back(named.what());
    };
    try {
      loader.Load(tensor, references);
    } catch (const InvalidArgument& error) {
      report(error);
    } catch (const IoError& error) {
      report(error);
    }
  });
  return references;
}

}  // namespace ONNX_LIGHT_NAMESPACE
