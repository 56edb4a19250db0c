// SPDX-License-Identifier: Apache-2.0
// Attribute texts to values, the same in every locale.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/lower_case.h"
#include "openvino_io/ir_document.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kMaxRank = 64;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// The elements between commas, trimmed; none in an empty or blank text.
std::vector<std::string_view> Elements(std::string_view text) {
  std::vector<std::string_view> elements;
  if (Trim(text).empty()) return elements;
  for (size_t begin = 0;;) {
    const size_t comma = text.find(',', begin);
    elements.push_back(Trim(text.substr(begin, comma == std::string_view::npos ? comma : comma - begin)));
    if (comma == std::string_view::npos) return elements;
    begin = comma + 1;
  }
}

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<IrDim> ParseDim(std::string_view text) {
  if (text == "?" || text == "-1") return IrDim{0, -1};
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto value = ParseNumber<int64_t>(text);
    if (!value || *value < 0) return std::nullopt;
    return IrDim{*value, *value};
  }
  IrDim dim;
  const std::string_view low = Trim(text.substr(0, dots)), high = Trim(text.substr(dots + 2));
  if (low.empty() && high.empty()) return std::nullopt;
  if (!low.empty()) {
    const auto value = ParseNumber<int64_t>(low);
    if (!value || *value < 0) return std::nullopt;
    dim.min = *value;
  }
  if (!high.empty()) {
    const auto value = ParseNumber<int64_t>(high);
    if (!value || *value < dim.min) return std::nullopt;
    dim.max = *value;
  }
  return dim;
}

struct ElementTypeName {
  std::string_view name;
  std::string_view precision;  // as ports say it
  TensorType type;
};
// kUndefined: IR has it, ONNX does not (or packs it in another order).
constexpr std::array kElementTypes{
    ElementTypeName{"f32", "FP32", TensorType::kFloat},
    ElementTypeName{"f16", "FP16", TensorType::kFloat16},
    ElementTypeName{"bf16", "BF16", TensorType::kBfloat16},
    ElementTypeName{"f64", "FP64", TensorType::kDouble},
    ElementTypeName{"i64", "I64", TensorType::kInt64},
    ElementTypeName{"i32", "I32", TensorType::kInt32},
    ElementTypeName{"i16", "I16", TensorType::kInt16},
    ElementTypeName{"i8", "I8", TensorType::kInt8},
    ElementTypeName{"i4", "I4", TensorType::kInt4},
    ElementTypeName{"u64", "U64", TensorType::kUint64},
    ElementTypeName{"u32", "U32", TensorType::kUint32},
    ElementTypeName{"u16", "U16", TensorType::kUint16},
    ElementTypeName{"u8", "U8", TensorType::kUint8},
    ElementTypeName{"u4", "U4", TensorType::kUint4},
    ElementTypeName{"boolean", "BOOL", TensorType::kBool},
    ElementTypeName{"string", "STRING", TensorType::kString},
    ElementTypeName{"f8e4m3", "F8E4M3", TensorType::kFloat8e4m3fn},
    ElementTypeName{"f8e5m2", "F8E5M2", TensorType::kFloat8e5m2},
    ElementTypeName{"f4e2m1", "F4E2M1", TensorType::kFloat4e2m1},
    ElementTypeName{"f8e8m0", "F8E8M0", TensorType::kFloat8e8m0},
    ElementTypeName{"u1", "U1", TensorType::kUndefined},
    ElementTypeName{"u2", "U2", TensorType::kUndefined},
    ElementTypeName{"i2", "I2", TensorType::kUndefined},
    ElementTypeName{"u3", "U3", TensorType::kUndefined},
    ElementTypeName{"u6", "U6", TensorType::kUndefined},
    ElementTypeName{"nf4", "NF4", TensorType::kUndefined},
    ElementTypeName{"dynamic", "DYNAMIC", TensorType::kUndefined},
    ElementTypeName{"undefined", "UNDEFINED", TensorType::kUndefined},
};

const ElementTypeName* FindElementType(TensorType type) {
  const auto* found = std::ranges::find(kElementTypes, type, &ElementTypeName::type);
  return type == TensorType::kUndefined || found == kElementTypes.end() ? nullptr : found;
}

}  // namespace

std::string_view IrElementName(TensorType type) {
  const ElementTypeName* found = FindElementType(type);
  return found == nullptr ? std::string_view() : found->name;
}
TensorType IrElementType(std::string_view name) {
  const auto* found = std::ranges::find(kElementTypes, name, &ElementTypeName::name);
  return found == kElementTypes.end() ? TensorType::kUndefined : found->type;
}
std::string_view IrPrecision(TensorType type) {
  const ElementTypeName* found = FindElementType(type);
  return found == nullptr ? "UNSPECIFIED" : found->precision;
}

void IrAttributes::FailAttribute(const char* name, const std::string& fact) const {
  layer_->Fail(fmt::format("attribute '{}'", name), fact);
}

std::string IrAttributes::String(const char* name) const {
  const pugi::xml_attribute attribute = layer_->data.attribute(name);
  if (attribute.empty()) FailAttribute(name, "is missing");
  return attribute.value();
}

std::string IrAttributes::String(const char* name, std::string_view absent) const {
  return Has(name) ? String(name) : std::string(absent);
}

int64_t IrAttributes::Int(const char* name) const {
  const std::string text = String(name);
  const auto value = ParseNumber<int64_t>(text);
  if (!value) FailAttribute(name, fmt::format("must be an integer, got {}", QuoteForMessage(text)));
  return *value;
}

int64_t IrAttributes::Int(const char* name, int64_t absent) const { return Has(name) ? Int(name) : absent; }

float IrAttributes::Float(const char* name, float absent) const {
  if (!Has(name)) return absent;
  const std::string text = String(name);
  const auto value = ParseNumber<float>(text);
  if (!value) FailAttribute(name, fmt::format("must be a number, got {}", QuoteForMessage(text)));
  return *value;
}

double IrAttributes::Double(const char* name) const {
  const std::string text = String(name);
  const auto value = ParseNumber<double>(text);
  if (!value) FailAttribute(name, fmt::format("must be a number, got {}", QuoteForMessage(text)));
  return *value;
}

bool IrAttributes::Bool(const char* name, bool absent) const {
  if (!Has(name)) return absent;
  const std::string text = String(name), lower = LowerCase(std::string(Trim(text)));
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  FailAttribute(name, fmt::format("must be true or false, got {}", QuoteForMessage(text)));
}

std::vector<int64_t> IrAttributes::Ints(const char* name) const {
  std::vector<int64_t> values;
  const std::string text = String(name, "");
  for (const std::string_view element : Elements(text)) {
    const auto value = ParseNumber<int64_t>(element);
    if (!value) FailAttribute(name, fmt::format("must be integers with commas between, got {}", QuoteForMessage(text)));
    values.push_back(*value);
  }
  return values;
}

std::vector<float> IrAttributes::Floats(const char* name) const {
  std::vector<float> values;
  const std::string text = String(name, "");
  for (const std::string_view element : Elements(text)) {
    const auto value = ParseNumber<float>(element);
    if (!value) FailAttribute(name, fmt::format("must be numbers with commas between, got {}", QuoteForMessage(text)));
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> IrAttributes::Strings(const char* name) const {
  const std::string text = String(name, "");
  const std::vector<std::string_view> elements = Elements(text);
  return {elements.begin(), elements.end()};
}

std::vector<int64_t> IrAttributes::FixedShape(const char* name) const {
  const std::vector<IrDim> dims = PartialShape(name).value_or(std::vector<IrDim>{IrDim{}});
  std::vector<int64_t> shape;
  for (const IrDim& dim : dims) {
    if (!dim.fixed()) FailAttribute(name, fmt::format("must be fixed dims, got {}", QuoteForMessage(String(name))));
    shape.push_back(dim.min);
  }
  return shape;
}

std::optional<std::vector<IrDim>> IrAttributes::PartialShape(const char* name) const {
  const std::string text = String(name);
  if (Trim(text) == "...") return std::nullopt;
  std::vector<IrDim> dims;
  for (const std::string_view element : Elements(text)) {
    const auto dim = ParseDim(element);
    if (!dim) {
      FailAttribute(name, fmt::format("{} is no dim: must be an integer >= 0, ?, -1 or bounds as 1..8, got {}",
                                      QuoteForMessage(element), QuoteForMessage(text)));
    }
    dims.push_back(*dim);
  }
  if (dims.size() > kMaxRank)
    FailAttribute(name, fmt::format("has {} dims, at most {} are possible", dims.size(), kMaxRank));
  return dims;
}

TensorType IrAttributes::ElementType(const char* name) const {
  const std::string text = String(name);
  const auto* found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const ElementTypeName& entry) { return entry.name == text; });
  if (found == kElementTypes.end()) {
    FailAttribute(name, fmt::format("must be an element type as f32 or i64, got {}", QuoteForMessage(text)));
  }
  return found->type;
}

}  // namespace ONNX_LIGHT_NAMESPACE
