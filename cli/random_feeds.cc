// SPDX-License-Identifier: Apache-2.0
#include "random_feeds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <vector>

#include "base/checked.h"
#include "onnxseq/shapes.h"
#include "ops/as_type.h"
#include "ops/op_def.h"
#include "parse.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::ShapeValue;
using Range = std::pair<int64_t, int64_t>;

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
  int64_t In(const Range& range) {
    const auto count = static_cast<uint64_t>(range.second) - static_cast<uint64_t>(range.first) + 1;  // 0: 2^64
    const uint64_t bits = Bits();
    return static_cast<int64_t>(static_cast<uint64_t>(range.first) + (count == 0 ? bits : bits % count));
  }

 private:
  uint64_t state_;
};

template <class T, class Fn>
void Fill(Tensor& tensor, Fn&& next) {
  for (T& element : tensor.MutableView<T>()) element = T(next());
}

// One input, or the elements of a sequence that is one.
struct RandomInput {
  std::string name;
  TensorType dtype = TensorType::kUndefined;
  Shape shape;
  bool is_sequence = false;

  std::string Subject() const { return fmt::format("input '{}'", name); }
};

Tensor RandomTensor(TensorType type, const Shape& shape, const Range& range, Random& random,
                    const std::string& subject) {
  Tensor tensor(type, shape);
  const auto normal = [&] { return random.Normal(); };
  const auto narrow_normal = [&] { return static_cast<float>(random.Normal()); };
  const auto whole = [&]<class T>(std::type_identity<T>) {
    if (!std::in_range<T>(range.first) || !std::in_range<T>(range.second))
      FailAbout(subject, fmt::format("{}..{} is more than {} can hold", range.first, range.second,
                                     onnx_optim::ToTypeString(type)));
    Fill<T>(tensor, [&] { return static_cast<T>(random.In(range)); });
  };
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
      whole(std::type_identity<int8_t>());
      break;
    case TensorType::kInt16:
      whole(std::type_identity<int16_t>());
      break;
    case TensorType::kInt32:
      whole(std::type_identity<int32_t>());
      break;
    case TensorType::kInt64:
      whole(std::type_identity<int64_t>());
      break;
    case TensorType::kUint8:
      whole(std::type_identity<uint8_t>());
      break;
    case TensorType::kUint16:
      whole(std::type_identity<uint16_t>());
      break;
    case TensorType::kUint32:
      whole(std::type_identity<uint32_t>());
      break;
    case TensorType::kUint64:
      whole(std::type_identity<uint64_t>());
      break;
    case TensorType::kBool:
      Fill<bool>(tensor, [&] { return (random.Bits() & 1) != 0; });
      break;
    case TensorType::kString:
    case TensorType::kComplex64:
    case TensorType::kComplex128:
    case TensorType::kUndefined:
      FailAbout(subject, fmt::format("there are no random values of type {}", onnx_optim::ToTypeString(type)));
    default: {  // types without a C++ type of their own; the narrowest of whole numbers hold 0 and 1
      const bool floating = onnx_optim::IsFloatTensorType(type);
      return AsType(RandomTensor(floating ? TensorType::kFloat : TensorType::kInt8, shape, {0, 1}, random, subject),
                    type);
    }
  }
  return tensor;
}

// Looks inputs up in what is inferred once the given sizes and values are put in.
class Sizes {
 public:
  Sizes(const ModelProto& model, const RandomChoices& choices, const ValueMap& feeds)
      : given_(choices.sizes), inferred_(InferShapes(model, Known(model, choices, feeds))) {}

  Shape ShapeOf(const RandomInput& input, const TypeProto::Tensor& type) {
    if (!type.has_shape()) FailAbout(input.Subject(), "its rank is unknown, so it has no random values");
    const auto found = inferred_.graphs.front().values.find(input.name);
    const ShapeValue* const value = found == inferred_.graphs.front().values.end() ? nullptr : &found->second;
    const bool known =
        value != nullptr && value->IsTensor() && value->HasRank() && value->Shape().Rank() == type.shape().dim().size();
    Shape shape;
    for (size_t i = 0; i < type.shape().dim().size(); ++i)
      shape.push_back(SizeOf(input, i, type.shape().dim(i), known ? value->Shape()[i].ToString() : std::string()));
    if (!CheckedProduct(shape.dims()))
      FailAbout(input.Subject(), fmt::format("shape {} is no shape of a tensor", shape.ToString()));
    return shape;
  }

 private:
  static ShapeOptions Known(const ModelProto& model, const RandomChoices& choices, const ValueMap& feeds) {
    ShapeOptions known{.dims = choices.sizes, .shapes = {}};
    for (const ValueInfoProto& input : model.graph().input()) {
      const auto feed = feeds.find(std::string(input.name()));
      if (feed == feeds.end() || !feed->second.IsTensor() || !input.type().has_tensor_type()) continue;
      std::vector<std::string>& shape = known.shapes[feed->first];
      for (const int64_t size : feed->second.tensor().shape()) shape.push_back(std::to_string(size));
    }
    return known;
  }
  int64_t SizeOf(const RandomInput& input, size_t i, const TensorShapeProto::Dimension& dim,
                 const std::string& inferred) {
    if (dim.has_dim_value()) return dim.dim_value();
    const std::string name = dim.dim_param();
    if (const auto size = given_.find(name); size != given_.end()) return size->second;
    if (const auto size = ParseInt(inferred)) return *size;
    if (name.empty())
      FailAbout(input.Subject(),
                fmt::format("dim {} has no name to give it a size by: give the input with --input", i));
    FailAbout(input.Subject(), fmt::format("dim '{0}' has no size: add {0}=... to --random", name));
  }

  const std::map<std::string, int64_t>& given_;
  InferredShapes inferred_;
};

const TypeProto& ElementType(const TypeProto& declared) {
  const TypeProto& type = declared.has_optional_type() ? declared.optional_type().elem_type() : declared;
  return type.has_sequence_type() ? type.sequence_type().elem_type() : type;
}

// Of all inputs.
std::set<std::string> DimNames(const ModelProto& model) {
  std::set<std::string> names;
  for (const ValueInfoProto& input : model.graph().input()) {
    const TypeProto& type = ElementType(input.type());
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) continue;
    for (const auto& dim : type.tensor_type().shape().dim())
      if (dim.has_dim_param() && !dim.dim_param().empty()) names.insert(dim.dim_param());
  }
  return names;
}

RandomInput Describe(const std::string& name, const TypeProto& declared, Sizes& sizes) {
  RandomInput input;
  input.name = name;
  const TypeProto& type = declared.has_optional_type() ? declared.optional_type().elem_type() : declared;
  input.is_sequence = type.has_sequence_type();
  const TypeProto& elem = ElementType(declared);
  if (!elem.has_tensor_type()) FailAbout(input.Subject(), "there are no random values of its type");
  input.dtype = onnx_optim::DataTypeToTensorType(elem.tensor_type().elem_type());
  input.shape = sizes.ShapeOf(input, elem.tensor_type());
  return input;
}

// Of whole numbers that nobody has said anything of.
Range SmallNumbers(const std::vector<RandomInput>& inputs) {
  int64_t most = 9;
  for (const RandomInput& input : inputs)
    for (const int64_t size : input.shape) most = std::min(most, std::max<int64_t>(size - 1, 1));
  return {0, most};
}

}  // namespace

RandomChoices ParseRandomChoices(const std::string& text) {
  constexpr std::string_view kTo = "..";
  RandomChoices choices;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = part.find('=');
    const std::string_view value = equals == part.npos ? "" : std::string_view(part).substr(equals + 1);
    const size_t to = value.find(kTo);
    if (equals != 0 && to == value.npos) {
      if (const auto size = ParseInt(value); size && *size >= 0) {
        choices.sizes[part.substr(0, equals)] = *size;
        continue;
      }
    } else if (equals != 0) {
      const auto least = ParseInt(value.substr(0, to)), most = ParseInt(value.substr(to + kTo.size()));
      if (least && most && *least <= *most) {
        choices.ranges[part.substr(0, equals)] = {*least, *most};
        continue;
      }
    }
    FailAbout("'" + part + "'", "is not of the form NAME=SIZE or INPUT=LEAST..MOST");
  }
  return choices;
}

void AddRandomFeeds(const ModelProto& model, const RandomChoices& choices, uint64_t seed, ValueMap& feeds) {
  std::set<std::string> constants;
  for (const TensorProto& tensor : model.graph().initializer()) constants.insert(tensor.name());
  Sizes sizes(model, choices, feeds);
  std::vector<RandomInput> inputs;
  for (const ValueInfoProto& input : model.graph().input()) {
    const std::string name = input.name();
    if (!feeds.contains(name) && !constants.contains(name)) inputs.push_back(Describe(name, input.type(), sizes));
  }
  const std::set<std::string> dims = DimNames(model);
  for (const auto& [name, size] : choices.sizes)
    if (!dims.contains(name))
      FailAbout("--random", fmt::format("no input has a dim '{}', there are: {}", name, fmt::join(dims, ", ")));
  for (const auto& [name, range] : choices.ranges)
    if (std::ranges::none_of(inputs, [&](const RandomInput& input) {
          return input.name == name && onnx_optim::IsIntegerTensorType(input.dtype);
        }))
      FailAbout("--random", fmt::format("'{}' is no input of whole numbers that needs a value", name));
  const Range small = SmallNumbers(inputs);
  Random random(seed);
  for (const RandomInput& input : inputs) {
    const auto range = choices.ranges.find(input.name);
    const auto next = [&] {
      return RandomTensor(input.dtype, input.shape, range == choices.ranges.end() ? small : range->second, random,
                          input.Subject());
    };
    if (!input.is_sequence) {
      feeds.emplace(input.name, next());
      continue;
    }
    constexpr int kElements = 3;
    Sequence sequence(input.dtype);
    for (int i = 0; i < kElements; ++i) sequence.Append(next());
    feeds.emplace(input.name, std::move(sequence));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
