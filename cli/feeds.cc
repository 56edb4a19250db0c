// SPDX-License-Identifier: Apache-2.0
#include "feeds.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "npy.h"
#include "npz.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "ops/op_def.h"
#include "parse.h"
#include "print_value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Which message a .pb file for a value of that type holds.
ValueFileKind KindOf(const std::string& type) {
  return type.starts_with("seq(")        ? ValueFileKind::kSequence
         : type.starts_with("map(")      ? ValueFileKind::kMap
         : type.starts_with("optional(") ? ValueFileKind::kOptional
                                         : ValueFileKind::kTensor;
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
      FailAbout(path, fmt::format("holds {} values, none of them named '{}'", values.size(), input.name));
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
      if (type == TensorType::kUndefined) FailAbout(name, fmt::format("'{}' names no element type", dtype));
      values.try_emplace(stem, Sequence(type));
    } else {
      values.insert_or_assign(name, tensor);
    }
  }
  for (const auto& [name, elements] : lists) {
    std::vector<Tensor> list;
    for (const auto& [index, tensor] : elements) {
      if (index != static_cast<int64_t>(list.size()))
        FailAbout(name, fmt::format("element {} of the sequence is missing", list.size()));
      if (!list.empty() && tensor.dtype() != list.front().dtype())
        FailAbout(name, fmt::format("element {} is {}, element 0 {}", index, onnx_optim::ToTypeString(tensor.dtype()),
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
  if (data.inputs.empty() && data.outputs.empty()) FailAbout(folder, "holds no input_0.pb and no output_0.pb");
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
