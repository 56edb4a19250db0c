// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include "base/new_file.h"
#include "model/wire.h"
#include "onnx_io/external_data.h"
#include "onnx_io/tensor_walk.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;

// Mapped pages start at multiples of it, and so do the tensors.
constexpr int64_t kAlignment = 4096;

// A hash of 64 bits over the data of tensors, each with its size. It tells states of one model apart; it need not
// withstand anybody who looks for equal ones.
class DataHash {
 public:
  void Add(std::string_view bytes) {
    Mix(bytes.size());
    while (bytes.size() >= sizeof(uint64_t)) {
      Mix(Word(bytes, sizeof(uint64_t)));
      bytes.remove_prefix(sizeof(uint64_t));
    }
    if (!bytes.empty()) Mix(Word(bytes, bytes.size()));
  }
  std::string Hex() const { return fmt::format("{:016x}", Scramble(state_)); }

 private:
  static uint64_t Word(std::string_view bytes, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), size);
    return word;
  }
  // A bijection in which every bit of the input reaches every bit of the output.
  static uint64_t Scramble(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
  }
  void Mix(uint64_t word) { state_ = Scramble(state_ ^ word) + 0x9e3779b97f4a7c15u; }
  uint64_t state_ = 0;
};

constexpr std::string_view kDataSuffix = ".data";
constexpr size_t kHashDigits = 16;

// Whether `name` is NAME.HASH.data for the model file NAME.
bool IsDataFileOf(const std::string& model_name, std::string_view name) {
  if (!name.starts_with(model_name)) return false;
  name.remove_prefix(model_name.size());
  if (name.size() != 1 + kHashDigits + kDataSuffix.size() || name.front() != '.' || !name.ends_with(kDataSuffix))
    return false;
  return std::ranges::all_of(name.substr(1, kHashDigits),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The data of a tensor as raw_data has it; nothing when it is small, of strings, or elsewhere already.
std::optional<Bytes> LargeData(const TensorProto& tensor, int64_t least) {
  if (tensor.data_location() == TensorProto::EXTERNAL || tensor.data_type() == TensorProto::STRING) return std::nullopt;
  if (!tensor.raw_data().empty()) {
    if (tensor.raw_data().size() < static_cast<uint64_t>(least)) return std::nullopt;
    return tensor.raw_data();
  }
  Bytes data = TensorToProto(TensorFromProto(tensor)).raw_data();
  if (data.size() < static_cast<uint64_t>(least) || data.empty()) return std::nullopt;
  return data;
}

// Moves the data of large initializers to a new file beside `target`.
void MoveDataOut(ModelProto& model, const std::string& target, int64_t least) {
  struct Part {
    TensorProto* tensor;
    int64_t offset;
    int64_t length;
  };
  std::vector<Part> parts;
  std::optional<NewFile> file;
  DataHash hash;
  ForEachTensor(model, [&](TensorProto& tensor, const NodeProto* node) {
    if (node != nullptr) return;
    const std::optional<Bytes> data = LargeData(tensor, least);
    if (!data) return;
    if (!file) file.emplace(target);
    const std::string padding(static_cast<size_t>((kAlignment - file->size() % kAlignment) % kAlignment), '\0');
    file->Write(padding);
    parts.push_back({&tensor, file->size(), static_cast<int64_t>(data->size())});
    file->Write(*data);
    hash.Add(*data);
  });
  if (!file) return;
  const std::string name = fmt::format("{}.{}{}", fs::path(target).filename().string(), hash.Hex(), kDataSuffix);
  CheckDataLocation(name);
  for (const auto& [tensor, offset, length] : parts) {
    for (const auto clear :
         {&TensorProto::clear_raw_data, &TensorProto::clear_float_data, &TensorProto::clear_int32_data,
          &TensorProto::clear_int64_data, &TensorProto::clear_double_data, &TensorProto::clear_uint64_data,
          &TensorProto::clear_external_data})
      (tensor->*clear)();
    const auto add = [&, to = tensor](const char* key, std::string value) {
      StringStringEntryProto& entry = to->external_data().add();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    add("location", name);
    add("offset", std::to_string(offset));
    add("length", std::to_string(length));
    tensor->set_data_location(TensorProto::EXTERNAL);
  }
  file->PutInPlace((fs::path(target).parent_path() / name).string());
}

// Data files of former states of the model at `target`. What cannot be removed stays: the model is written.
void RemoveOldData(const std::string& target, const std::unordered_set<std::string>& used) {
  const fs::path path(target);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (IsDataFileOf(path.filename().string(), name) && !used.contains(name)) fs::remove(it->path(), ignored);
  }
}

}  // namespace

std::string SerializeModel(const ModelProto& model) { return SerializeWire(model); }

void WriteModel(const ModelProto& model, const std::string& path, std::optional<int64_t> external_bytes) {
  const std::string target = FollowLinks(path);
  if (!external_bytes && WireSize(model) > kMaxModelBytes) external_bytes = kExternalDataBytes;
  ModelProto written = model;  // raw_data is shared
  if (external_bytes) MoveDataOut(written, target, *external_bytes);
  WriteFileAtomically(target, SerializeModel(written));
  std::unordered_set<std::string> used;
  ForEachTensor(written, [&](TensorProto& tensor, const NodeProto*) {
    for (const StringStringEntryProto& entry : std::as_const(tensor).external_data())
      if (entry.key() == "location") used.insert(entry.value());
  });
  RemoveOldData(target, used);
}

}  // namespace ONNX_LIGHT_NAMESPACE
