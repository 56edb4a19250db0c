// SPDX-License-Identifier: Apache-2.0
#include "feeds.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <optional>
#include <set>

#include "base/checked.h"
#include "npy.h"
#include "npz.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "ops/as_type.h"
#include "ops/op_def.h"
#include "print_value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void Fail(const std::string& subject, const std::string& fact) {
  throw InvalidArgument(fact, ErrorWhere{.op_type = {}, .node_name = {}, .subject = subject, .path = {}});
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Which message a .pb file for a value of that type holds.
ValueFileKind KindOf(const std::string& type) {
  return type.starts_with("seq(")        ? ValueFileKind::kSequence
         : type.starts_with("map(")      ? ValueFileKind::kMap
         : type.starts_with("optional(") ? ValueFileKind::kOptional
                                         : ValueFileKind::kTensor;
}

// splitmix64: tiny, good enough for test values, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In (0, 1].
  double Unit() { return static_cast<double>((Bits() >> 11) + 1) * 0x1p-53; }
  double Normal() { return std::sqrt(-2 * std::log(Unit())) * std::cos(2 * std::numbers::pi * Unit()); }

 private:
  uint64_t state_;
};

template <class T, class Fn>
void Fill(Tensor& tensor, Fn&& next) {
  for (T& element : tensor.MutableView<T>()) element = T(next());
}

Tensor RandomTensor(TensorType type, Shape shape, Random& random, const std::string& subject) {
  Tensor tensor(type, std::move(shape));
  const auto normal = [&] { return random.Normal(); };
  const auto narrow_normal = [&] { return static_cast<float>(random.Normal()); };
  const auto bit = [&] { return random.Bits() & 1; };
  switch (type) {
    case TensorType::kFloat:
      Fill<float>(tensor, narrow_normal);
      break;
    case TensorType::kDouble:
      Fill<double>(tensor, normal);
      break;
    case TensorType::kFloat16:
      Fill<Float16>(tensor, narrow_normal);
      break;
    case TensorType::kBfloat16:
      Fill<BFloat16>(tensor, narrow_normal);
      break;
    case TensorType::kInt8:
      Fill<int8_t>(tensor, bit);
      break;
    case TensorType::kInt16:
      Fill<int16_t>(tensor, bit);
      break;
    case TensorType::kInt32:
      Fill<int32_t>(tensor, bit);
      break;
    case TensorType::kInt64:
      Fill<int64_t>(tensor, bit);
      break;
    case TensorType::kUint8:
      Fill<uint8_t>(tensor, bit);
      break;
    case TensorType::kUint16:
      Fill<uint16_t>(tensor, bit);
      break;
    case TensorType::kUint32:
      Fill<uint32_t>(tensor, bit);
      break;
    case TensorType::kUint64:
      Fill<uint64_t>(tensor, bit);
      break;
    case TensorType::kBool:
      Fill<bool>(tensor, bit);
      break;
    case TensorType::kString:
    case TensorType::kComplex64:
    case TensorType::kComplex128:
    case TensorType::kUndefined:
      Fail(subject, fmt::format("there are no random values of type {}", onnx_optim::ToTypeString(type)));
    default: {  // types without a C++ type of their own
      const bool floating = onnx_optim::IsFloatTensorType(type);
      return AsType(RandomTensor(floating ? TensorType::kFloat : TensorType::kInt8, tensor.shape(), random, subject),
                    type);
    }
  }
  return tensor;
}

Shape SizedShape(const TypeProto::Tensor& type, const std::map<std::string, int64_t>& sizes,
                 const std::string& subject) {
  if (!type.has_shape()) Fail(subject, "its rank is unknown, so it has no random values");
  Shape shape;
  for (const auto& dim : type.shape().dim()) {
    if (dim.has_dim_value()) {
      shape.push_back(dim.dim_value());
      continue;
    }
    const std::string name = dim.dim_param();
    const auto size = sizes.find(name);
    if (name.empty()) Fail(subject, fmt::format("dim {} has no name to give it a size by", shape.rank()));
    if (size == sizes.end()) Fail(subject, fmt::format("dim '{0}' has no size: add {0}=... to --random", name));
    shape.push_back(size->second);
  }
  if (!CheckedProduct(shape.dims())) Fail(subject, fmt::format("shape {} is no shape of a tensor", shape.ToString()));
  return shape;
}

Value RandomValue(const TypeProto& type, const std::map<std::string, int64_t>& sizes, Random& random,
                  const std::string& subject) {
  if (type.has_optional_type()) return RandomValue(type.optional_type().elem_type(), sizes, random, subject);
  const bool is_sequence = type.has_sequence_type();
  const TypeProto& elem = is_sequence ? type.sequence_type().elem_type() : type;
  if (!elem.has_tensor_type()) Fail(subject, "there are no random values of its type");
  const TensorType dtype = onnx_optim::DataTypeToTensorType(elem.tensor_type().elem_type());
  const auto next = [&] {
    return RandomTensor(dtype, SizedShape(elem.tensor_type(), sizes, subject), random, subject);
  };
  if (!is_sequence) return next();
  constexpr int kElements = 3;
  Sequence sequence(dtype);
  for (int i = 0; i < kElements; ++i) sequence.Append(next());
  return sequence;
}

// Bytes as codes of the type that `declared` ("tensor(int4)", "seq(tensor(int4))") says, where numpy has no name for
// it.
Tensor AsDeclared(Tensor tensor, std::string_view declared) {
  constexpr std::string_view kTensor = "tensor(";
  const size_t start = declared.find(kTensor);
  if (start == std::string_view::npos) return tensor;
  declared.remove_prefix(start + kTensor.size());
  const TensorType type = onnx_optim::TensorTypeFromName(declared.substr(0, declared.find(')')));
  if (!kNarrowTypes.Has(type) || (tensor.dtype() != TensorType::kInt8 && tensor.dtype() != TensorType::kUint8))
    return tensor;
  Tensor codes(type, tensor.shape());
  if (codes.ByteSize() > 0) std::memcpy(codes.mutable_data(), tensor.data(), codes.ByteSize());
  return codes;
}

std::string TensorDifference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape()) {
    return fmt::format("expected {}, got {}", expected.TypeString(), got.TypeString());
  }
  for (int64_t i = 0; i < got.NumElements(); ++i) {
    const std::string a = ElementText(got, i), b = ElementText(expected, i);
    if (a == b) continue;
    double x = 0, y = 0;
    const bool numbers = std::from_chars(a.data(), a.data() + a.size(), x).ptr == a.data() + a.size() &&
                         std::from_chars(b.data(), b.data() + b.size(), y).ptr == b.data() + b.size();
    if (!numbers || !(std::abs(x - y) <= 1e-5 + 1e-3 * std::abs(y))) {
      return fmt::format("element {}: expected {}, got {}", i, b, a);
    }
  }
  return "";
}

}  // namespace

Value ReadFeedFile(const std::string& path, const ValueDescription& input) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".npy") return AsDeclared(ReadNpy(ReadFileBytes(path), path), input.type);
  if (suffix == ".npz") {
    ValueMap values = ValuesFromArrays(ReadNpz(path), {&input, 1});
    auto found = values.find(input.name);
    if (found == values.end() && values.size() == 1) found = values.begin();
    if (found == values.end())
      Fail(path, fmt::format("holds {} values, none of them named '{}'", values.size(), input.name));
    return std::move(found->second);
  }
  return ReadValueFile(path, KindOf(input.type));
}

ValueMap ValuesFromArrays(const std::map<std::string, Tensor>& arrays, std::span<const ValueDescription> known) {
  std::map<std::string_view, std::string_view> types;
  for (const ValueDescription& value : known) types.emplace(value.name, value.type);
  const auto type_of = [&](const std::string& name) {
    const auto found = types.find(name);
    return found == types.end() ? std::string_view() : found->second;
  };
  ValueMap values;
  std::map<std::string, std::map<int64_t, Tensor>> lists;
  for (const auto& [name, tensor] : arrays) {
    const size_t slash = name.rfind('/');
    const std::string stem = name.substr(0, slash == std::string::npos ? 0 : slash);
    const std::string_view last = std::string_view(name).substr(slash + 1);
    const std::optional<int64_t> index = ParseInt(last);
    if (slash == std::string::npos || types.contains(name)) {
      values.insert_or_assign(name, AsDeclared(tensor, type_of(name)));
    } else if (index && *index >= 0) {
      lists[stem].emplace(*index, AsDeclared(tensor, type_of(stem)));
    } else if (last == "none") {
      values.insert_or_assign(stem, Value());
    } else if (last == "dtype") {
      const std::string dtype =
          tensor.dtype() == TensorType::kString && tensor.NumElements() == 1 ? tensor.View<std::string>()[0] : "";
      const TensorType type = onnx_optim::TensorTypeFromName(dtype);
      if (type == TensorType::kUndefined) Fail(name, fmt::format("'{}' names no element type", dtype));
      values.try_emplace(stem, Sequence(type));
    } else {
      values.insert_or_assign(name, tensor);
    }
  }
  for (const auto& [name, elements] : lists) {
    std::vector<Tensor> list;
    for (const auto& [index, tensor] : elements) {
      if (index != static_cast<int64_t>(list.size()))
        Fail(name, fmt::format("element {} of the sequence is missing", list.size()));
      if (!list.empty() && tensor.dtype() != list.front().dtype())
        Fail(name, fmt::format("element {} is {}, element 0 {}", index, onnx_optim::ToTypeString(tensor.dtype()),
                               onnx_optim::ToTypeString(list.front().dtype())));
      list.push_back(tensor);
    }
    values.insert_or_assign(name, Sequence(std::move(list)));
  }
  return values;
}

std::map<std::string, Tensor> ArraysFromValues(const ValueMap& values) {
  std::map<std::string, Tensor> arrays;
  for (const auto& [name, value] : values) {
    if (value.IsNone()) {
      arrays.emplace(name + "/none", Tensor::Scalar(true));
    } else if (value.IsTensor()) {
      arrays.emplace(name, value.tensor());
    } else if (value.IsMap() || !value.sequence().HoldsTensors()) {
      throw Unsupported(fmt::format("is {}: .npz files hold tensors and sequences of tensors", value.TypeName()),
                        ErrorWhere{.op_type = {}, .node_name = {}, .subject = fmt::format("\"{}\"", name), .path = {}});
    } else {
      const Sequence& sequence = value.sequence();
      for (int64_t i = 0; i < sequence.size(); ++i) arrays.emplace(fmt::format("{}/{}", name, i), sequence[i]);
      const std::string dtype(onnx_optim::NumpyTypeName(sequence.dtype()));
      if (sequence.empty()) arrays.emplace(name + "/dtype", Tensor::Scalar(dtype));
    }
  }
  return arrays;
}

std::map<std::string, int64_t> ParseSizes(const std::string& text) {
  std::map<std::string, int64_t> sizes;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t equals = part.find('=');
    const auto size = ParseInt(equals == std::string::npos ? "" : std::string_view(part).substr(equals + 1));
    if (!size || *size < 0 || equals == 0) Fail("'" + part + "'", "is not of the form NAME=SIZE");
    sizes[part.substr(0, equals)] = *size;
    at = end + 1;
  }
  return sizes;
}

void AddRandomFeeds(const ModelProto& model, const std::map<std::string, int64_t>& sizes, uint64_t seed,
                    ValueMap& feeds) {
  std::set<std::string> constants;
  for (const TensorProto& tensor : model.graph().initializer()) constants.insert(tensor.name());
  Random random(seed);
  for (const ValueInfoProto& input : model.graph().input()) {
    const std::string name = input.name();
    if (feeds.contains(name) || constants.contains(name)) continue;
    feeds.emplace(name, RandomValue(input.type(), sizes, random, fmt::format("input '{}'", name)));
  }
}

TestData ReadTestData(const std::string& folder, std::span<const ValueDescription> inputs,
                      std::span<const ValueDescription> outputs) {
  TestData data;
  const auto read = [&](std::string_view kind, std::span<const ValueDescription> described, ValueMap& into) {
    for (size_t i = 0; i < described.size(); ++i) {
      const std::filesystem::path path = std::filesystem::path(folder) / fmt::format("{}_{}.pb", kind, i);
      if (std::filesystem::exists(path))
        into[described[i].name] = ReadValueFile(path.string(), KindOf(described[i].type));
    }
  };
  read("input", inputs, data.inputs);
  read("output", outputs, data.outputs);
  if (data.inputs.empty() && data.outputs.empty()) Fail(folder, "holds no input_0.pb and no output_0.pb");
  return data;
}

std::string Difference(const Value& got, const Value& expected) {
  if (got.IsTensor() && expected.IsTensor()) return TensorDifference(got.tensor(), expected.tensor());
  if (got.IsNone() && expected.IsNone()) return "";
  const bool maps = got.IsMap() && expected.IsMap(), sequences = got.IsSequence() && expected.IsSequence();
  if (!maps && !sequences) return fmt::format("expected {}, got {}", expected.TypeString(), got.TypeString());
  if (maps) {
    const std::string difference = TensorDifference(got.map().keys(), expected.map().keys());
    if (!difference.empty()) return "keys: " + difference;
  }
  const Sequence& a = maps ? got.map().values() : got.sequence();
  const Sequence& b = maps ? expected.map().values() : expected.sequence();
  if (a.size() != b.size()) return fmt::format("expected {}, got {}", expected.TypeString(), got.TypeString());
  for (int64_t i = 0; i < a.size(); ++i) {
    const std::string difference = Difference(a.ValueAt(i), b.ValueAt(i));
    if (!difference.empty())
      return fmt::format("[{}] {}", maps ? ElementText(got.map().keys(), i) : fmt::format("{}", i), difference);
  }
  return "";
}

}  // namespace ONNX_LIGHT_NAMESPACE
