// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/text_words.h"

#include <map>
#include <string>
#include <utility>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The names of an enum's values in lower case, as the text spells them.
using EnumNames = std::map<std::string, int32_t, std::less<>>;
EnumNames NamesOf(std::string_view message, std::string_view type) {
  struct Row {
    std::string_view message, type, name;
    int32_t number;
  };
  static constexpr Row kRows[] = {
#define ONNXSEQ_ENUM_VALUE(M, E, name, number) {#M, #E, #name, number},
#include "onnx_proto/model/fields.inc"
  };
  EnumNames names;
  for (const Row& row : kRows) {
    if (row.message != message || row.type != type || row.number == 0) continue;
    std::string lower(row.name);
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    names.emplace(std::move(lower), row.number);
  }
  return names;
}

const EnumNames& ElementTypes() {
  static const EnumNames& names = *new EnumNames(NamesOf("TensorProto", "DataType"));
  return names;
}
const EnumNames& AttributeTypes() {
  static const EnumNames& names = *new EnumNames(NamesOf("AttributeProto", "AttributeType"));
  return names;
}
std::string_view NameOf(const EnumNames& names, int32_t number) {
  for (const auto& [name, value] : names)
    if (value == number) return name;
  return "undefined";
}
std::optional<int32_t> Find(const EnumNames& names, std::string_view name) {
  const auto it = names.find(name);
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::optional<int32_t> FindElementType(std::string_view name) { return Find(ElementTypes(), name); }
std::string_view ElementTypeName(int32_t number) { return NameOf(ElementTypes(), number); }
std::optional<int32_t> FindAttributeType(std::string_view name) { return Find(AttributeTypes(), name); }
std::string_view AttributeTypeName(int32_t number) { return NameOf(AttributeTypes(), number); }

bool IsTypeWord(std::string_view word) {
  return ElementTypes().contains(word) || word == "seq" || word == "map" || word == "optional" ||
         word == "sparse_tensor" || word == "opaque";
}

}  // namespace ONNX_LIGHT_NAMESPACE
