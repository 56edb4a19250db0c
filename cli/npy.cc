// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

bool IsComplex(TensorType type) { return type == TensorType::kComplex64 || type == TensorType::kComplex128; }

[[noreturn]] void Fail(const std::string& what, const std::string& fact) {
  throw InvalidArgument(fact, ErrorWhere{.op_type = {}, .node_name = {}, .subject = what, .path = {}});
}

// What stands after `'key':` in the header, which is a Python dict literal.
std::string_view HeaderField(std::string_view header, std::string_view key, const std::string& what) {
  size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) at = header.find(fmt::format("\"{}\"", key));
  if (at == std::string_view::npos) Fail(what, fmt::format("the .npy header has no '{}'", key));
  at = header.find(':', at);
  if (at == std::string_view::npos) Fail(what, "the .npy header is cut short");
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string_view::npos) Fail(what, "the .npy header is cut short");
  return header.substr(at);
}

struct ElementFormat {
  TensorType type = TensorType::kUndefined;
  size_t size = 0;
  bool swapped = false;
  bool unicode = false;  // for strings: UCS-4 code points, else bytes
};

ElementFormat ParseDescr(std::string_view field, const std::string& what) {
  const char quote = field[0];
  const size_t end = field.find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
    Fail(what, "structured element types cannot be read");
  }
  const std::string_view descr = field.substr(1, end - 1);
  const auto unknown = [&]() { Fail(what, fmt::format("element type '{}' cannot be read", descr)); };
  if (descr.size() < 2 || descr.size() > 11) unknown();
  const std::string_view digits = descr.substr(2);
  size_t size = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') unknown();
    size = size * 10 + static_cast<size_t>(c - '0');
  }
  ElementFormat format{.type = TensorType::kUndefined, .size = size, .swapped = descr[0] == '>', .unicode = false};
  struct Known {
    char kind;
    size_t size;
    TensorType type;
  };
  static constexpr std::array<Known, 16> kKnown{{{'f', 4, TensorType::kFloat},
                                                 {'f', 8, TensorType::kDouble},
                                                 {'f', 2, TensorType::kFloat16},
                                                 {'i', 1, TensorType::kInt8},
                                                 {'i', 2, TensorType::kInt16},
                                                 {'i', 4, TensorType::kInt32},
                                                 {'i', 8, TensorType::kInt64},
                                                 {'u', 1, TensorType::kUint8},
                                                 {'u', 2, TensorType::kUint16},
                                                 {'u', 4, TensorType::kUint32},
                                                 {'u', 8, TensorType::kUint64},
                                                 {'b', 1, TensorType::kBool},
                                                 {'c', 8, TensorType::kComplex64},
                                                 {'c', 16, TensorType::kComplex128},
                                                 {'V', 2, TensorType::kBfloat16},
                                                 {'V', 1, TensorType::kUint8}}};
  for (const Known& known : kKnown) {
    if (descr[1] == known.kind && size == known.size) format.type = known.type;
  }
  if (descr[1] == 'U' || descr[1] == 'S') {
    format.type = TensorType::kString;
    format.unicode = descr[1] == 'U';
    format.size = format.unicode ? size * 4 : size;
  }
  if (format.type == TensorType::kUndefined) unknown();
  return format;
}

Shape ParseShape(std::string_view field, const std::string& what) {
  if (field[0] != '(') Fail(what, "the .npy header's shape is no tuple");
  Shape shape;
  std::optional<int64_t> number;
  for (const char c : field.substr(1)) {
    if (c >= '0' && c <= '9') {
      const auto tens = CheckedMul(number.value_or(0), 10);
      number = tens ? CheckedAdd(*tens, c - '0') : std::nullopt;
      if (!number) Fail(what, "a dim of the .npy header does not fit 64 bits");
    } else if (c == ',' || c == ')') {
      if (number) shape.push_back(*number);
      number.reset();
      if (c == ')') return shape;
    } else if (c != ' ') {
      break;
    }
  }
  Fail(what, "the .npy header's shape is no tuple of numbers");
}

void SwapBytes(char* data, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t a = 0, b = size - 1; a < b; ++a, --b) std::swap(data[i * size + a], data[i * size + b]);
  }
}

// dst[row-major i] = src[column-major i], elements of `size` bytes.
void FromFortranOrder(const char* src, char* dst, const Shape& shape, size_t size) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  const int64_t count = shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) from = from * shape[axis] + index[static_cast<size_t>(axis)];
    std::memcpy(dst + static_cast<size_t>(i) * size, src + static_cast<size_t>(from) * size, size);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < shape[axis]) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | ((code >> 18) & 7));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The code points of UTF-8 text; a byte that is none stands for itself.
std::vector<uint32_t> CodePoints(std::string_view text) {
  std::vector<uint32_t> codes;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = byte >= 0xf0 && byte < 0xf8   ? 4
                          : byte >= 0xe0 && byte < 0xf0 ? 3
                          : byte >= 0xc0 && byte < 0xe0 ? 2
                                                        : 1;
    uint32_t code = length == 1 ? byte : byte & (0xffu >> (length + 1));
    size_t read = 1;
    while (read < length && i + read < text.size() && (static_cast<unsigned char>(text[i + read]) & 0xc0) == 0x80) {
      code = (code << 6) | (static_cast<unsigned char>(text[i + read]) & 0x3f);
      ++read;
    }
    if (read < length) {
      code = byte;
      read = 1;
    }
    codes.push_back(code);
    i += read;
  }
  return codes;
}

void ReadStrings(const char* data, const ElementFormat& format, std::span<std::string> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const char* element = data + i * format.size;
    if (!format.unicode) {
      out[i].assign(element, format.size);
    } else {
      for (size_t at = 0; at < format.size; at += 4) {
        uint32_t code;
        std::memcpy(&code, element + at, 4);
        if (format.swapped) code = __builtin_bswap32(code);
        AppendUtf8(out[i], code);
      }
    }
    while (!out[i].empty() && out[i].back() == '\0') out[i].pop_back();
  }
}

std::string NpyHeader(std::string_view descr, const Shape& shape) {
  std::string dims;
  for (const int64_t dim : shape) dims += fmt::format("{}, ", dim);
  if (shape.rank() == 1) dims = fmt::format("{},", shape[0]);
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  const size_t total = (kMagic.size() + 4 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - kMagic.size() - 4 - header.size() - 1, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

}  // namespace

Tensor ReadNpy(std::string_view bytes, const std::string& what) {
  if (bytes.size() < 10 || bytes.substr(0, kMagic.size()) != kMagic) Fail(what, "this is no .npy array");
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) Fail(what, fmt::format(".npy version {} cannot be read", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) Fail(what, "the .npy header is cut short");
  size_t header_size = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    header_size |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  const size_t start = 8 + length_bytes;
  if (header_size > bytes.size() - start) Fail(what, "the .npy header is cut short");
  const std::string_view header = bytes.substr(start, header_size);
  const ElementFormat format = ParseDescr(HeaderField(header, "descr", what), what);
  const bool fortran = HeaderField(header, "fortran_order", what).substr(0, 4) == "True";
  Shape shape = ParseShape(HeaderField(header, "shape", what), what);

  const std::string_view data = bytes.substr(start + header_size);
  const auto count = CheckedProduct(shape.dims());
  const auto size = count ? CheckedMul(*count, static_cast<int64_t>(format.size)) : std::nullopt;
  // Strings of no characters take no bytes; their number is bounded by something all the same.
  const bool justified = format.size != 0 || (count && *count <= 1 << 20);
  if (!size || *size != static_cast<int64_t>(data.size()) || !justified) {
    Fail(what, fmt::format("shape {} of {}-byte elements does not fit the {} bytes of data", shape.ToString(),
                           format.size, data.size()));
  }
  std::string reordered;
  const char* elements = data.data();
  if (fortran && shape.rank() > 1) {
    reordered.resize(data.size());
    FromFortranOrder(data.data(), reordered.data(), shape, format.size);
    elements = reordered.data();
  }
  Tensor tensor(format.type, std::move(shape));
  if (format.type == TensorType::kString) {
    ReadStrings(elements, format, tensor.MutableView<std::string>());
    return tensor;
  }
  if (*size > 0) std::memcpy(tensor.mutable_data(), elements, static_cast<size_t>(*size));
  if (format.swapped) {
    const size_t parts = IsComplex(format.type) ? 2 : 1;
    SwapBytes(static_cast<char*>(tensor.mutable_data()), static_cast<size_t>(*count) * parts, format.size / parts);
  }
  return tensor;
}

std::string WriteNpy(const Tensor& tensor) {
  const TensorType type = tensor.dtype();
  if (type == TensorType::kString) {
    std::vector<std::vector<uint32_t>> texts;
    size_t longest = 1;
    for (const std::string& text : tensor.View<std::string>()) {
      texts.push_back(CodePoints(text));
      longest = std::max(longest, texts.back().size());
    }
    std::string out = NpyHeader(fmt::format("<U{}", longest), tensor.shape());
    for (std::vector<uint32_t>& text : texts) {
      text.resize(longest);
      out.append(reinterpret_cast<const char*>(text.data()), longest * 4);
    }
    return out;
  }
  // numpy has no name for whole numbers of less than a byte.
  if (type == TensorType::kInt4 || type == TensorType::kInt2) return WriteNpy(AsType(tensor, TensorType::kInt8));
  const size_t size = BytesOf(type);
  std::string descr = fmt::format("|V{}", size);
  if (type == TensorType::kBool) {
    descr = "|b1";
  } else if (IsComplex(type)) {
    descr = fmt::format("<c{}", size);
  } else if (IsIntegerTensorType(type)) {
    const bool is_signed = TensorTypeName(type)[0] == 'i';
    descr = fmt::format("{}{}{}", size == 1 ? '|' : '<', is_signed ? 'i' : 'u', size);
  } else if (type == TensorType::kFloat || type == TensorType::kDouble || type == TensorType::kFloat16) {
    descr = fmt::format("<f{}", size);
  }
  std::string out = NpyHeader(descr, tensor.shape());
  if (tensor.ByteSize() > 0) out.append(static_cast<const char*>(tensor.data()), tensor.ByteSize());
  return out;
}

}  // namespace ONNX_LIGHT_NAMESPACE
