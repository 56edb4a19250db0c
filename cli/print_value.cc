// SPDX-License-Identifier: Apache-2.0
#include "print_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/visible_text.h"
#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Calls fn with element i: an int64_t, uint64_t, bool, float, double, std::complex<double> or std::string. Types
// without a C++ type are a float or int64_t.
template <class Fn>
auto VisitElement(const Tensor& tensor, int64_t i, Fn&& fn) {
  const auto at = static_cast<size_t>(i);
  switch (tensor.dtype()) {
    case TensorType::kFloat:
      return fn(tensor.View<float>()[at]);
    case TensorType::kDouble:
      return fn(tensor.View<double>()[at]);
    case TensorType::kFloat16:
      return fn(static_cast<float>(tensor.View<Float16>()[at]));
    case TensorType::kBfloat16:
      return fn(static_cast<float>(tensor.View<BFloat16>()[at]));
    case TensorType::kInt8:
      return fn(int64_t{tensor.View<int8_t>()[at]});
    case TensorType::kInt16:
      return fn(int64_t{tensor.View<int16_t>()[at]});
    case TensorType::kInt32:
      return fn(int64_t{tensor.View<int32_t>()[at]});
    case TensorType::kInt64:
      return fn(tensor.View<int64_t>()[at]);
    case TensorType::kUint8:
      return fn(uint64_t{tensor.View<uint8_t>()[at]});
    case TensorType::kUint16:
      return fn(uint64_t{tensor.View<uint16_t>()[at]});
    case TensorType::kUint32:
      return fn(uint64_t{tensor.View<uint32_t>()[at]});
    case TensorType::kUint64:
      return fn(tensor.View<uint64_t>()[at]);
    case TensorType::kBool:
      return fn(tensor.View<bool>()[at]);
    case TensorType::kComplex64:
      return fn(std::complex<double>(tensor.View<std::complex<float>>()[at]));
    case TensorType::kComplex128:
      return fn(tensor.View<std::complex<double>>()[at]);
    case TensorType::kString:
      return fn(tensor.View<std::string>()[at]);
    default: {
      const Tensor element = tensor.Part(i, Shape{});
      if (IsFloatTensorType(tensor.dtype())) return fn(AsType(element, TensorType::kFloat).View<float>()[0]);
      return fn(AsType(element, TensorType::kInt64).View<int64_t>()[0]);
    }
  }
}

struct ToText {
  std::string operator()(int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(uint64_t number) const { return fmt::format("{}", number); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(float number) const { return fmt::format("{}", number); }
  std::string operator()(double number) const { return fmt::format("{}", number); }
  std::string operator()(std::complex<double> number) const {
    return fmt::format("{}{:+}j", number.real(), number.imag());
  }
  std::string operator()(const std::string& text) const {
    JsonText quoted;
    quoted.String(text);
    return quoted.text();
  }
};

struct ToJson {
  JsonText& json;
  void operator()(int64_t number) const { json.Int(number); }
  void operator()(uint64_t number) const { json.UInt(number); }
  void operator()(bool flag) const { json.Bool(flag); }
  void operator()(float number) const { json.Float(number); }
  void operator()(double number) const { json.Float(number); }
  void operator()(std::complex<double> number) const {
    json.Array();
    json.Float(number.real());
    json.Float(number.imag());
    json.EndArray();
  }
  void operator()(const std::string& text) const { json.String(text); }
};

// Appends the part of the tensor from `axis` on that starts at element `first`; each axis shows its first and last
// `edge` places.
void AppendView(std::string& out, const Tensor& tensor, int axis, int64_t first, int64_t edge) {
  if (axis == tensor.rank()) {
    out += ElementText(tensor, first);
    return;
  }
  int64_t stride = 1;
  for (int a = axis + 1; a < tensor.rank(); ++a) stride *= tensor.dim(a);
  out += '[';
  const int64_t dim = tensor.dim(axis);
  for (int64_t i = 0; i < dim; ++i) {
    if (i > 0) out += ", ";
    if (dim > 2 * edge && i == edge) {
      out += "...";
      i = dim - edge - 1;
      continue;
    }
    AppendView(out, tensor, axis + 1, first + i * stride, edge);
  }
  out += ']';
}

void EmitTensor(JsonText& json, const Tensor& tensor) {
  json.Object();
  json.Key("kind");
  json.String("tensor");
  json.Key("dtype");
  json.String(onnx_optim::NumpyTypeName(tensor.dtype()));
  json.Key("shape");
  json.Array();
  for (const int64_t dim : tensor.shape()) json.Int(dim);
  json.EndArray();
  json.Key("data");
  json.Array();
  for (int64_t i = 0; i < tensor.NumElements(); ++i) VisitElement(tensor, i, ToJson{json});
  json.EndArray();
  json.EndObject();
}

// One line for each element of a sequence or map, and for what is in it.
void AppendElements(std::string& out, const Value& value, int indent) {
  const Sequence& elements = value.IsMap() ? value.map().values() : value.sequence();
  constexpr int64_t kShown = 8;
  for (int64_t i = 0; i < std::min(elements.size(), kShown); ++i) {
    const Value element = elements.ValueAt(i);
    const std::string key = value.IsMap() ? ElementText(value.map().keys(), i) : fmt::format("{}", i);
    out += fmt::format("{:{}}[{}] {}", "", indent, key, element.TypeString());
    if (element.IsTensor()) {
      out += fmt::format(" = {}\n", ShortView(element.tensor()));
    } else {
      out += '\n';
      AppendElements(out, element, indent + 2);
    }
  }
  if (elements.size() > kShown) out += fmt::format("{:{}}... {} more\n", "", indent, elements.size() - kShown);
}

void EmitElements(JsonText& json, const Sequence& elements) {
  json.Array();
  for (int64_t i = 0; i < elements.size(); ++i) EmitValue(json, elements.ValueAt(i));
  json.EndArray();
}

}  // namespace

std::string ElementText(const Tensor& tensor, int64_t i) { return VisitElement(tensor, i, ToText{}); }

std::string ShortView(const Tensor& tensor, int64_t limit) {
  std::string out;
  const int64_t whole = std::max<int64_t>(tensor.NumElements(), 1);
  AppendView(out, tensor, 0, 0,
             tensor.NumElements() <= limit ? whole
             : tensor.rank() <= 1          ? 4
             : tensor.rank() == 2          ? 2
                                           : 1);
  return out;
}

std::string DescribeValue(const std::string& name, const Value& value) {
  if (value.IsNone()) return fmt::format("{}: nothing\n", VisibleText(name));
  if (value.IsTensor())
    return fmt::format("{}: {} = {}\n", VisibleText(name), value.TypeString(), ShortView(value.tensor()));
  std::string out = fmt::format("{}: {}\n", VisibleText(name), value.TypeString());
  AppendElements(out, value, 2);
  return out;
}

void EmitValue(JsonText& json, const Value& value) {
  if (value.IsTensor()) return EmitTensor(json, value.tensor());
  json.Object();
  json.Key("kind");
  json.String(value.IsNone() ? "none" : value.IsMap() ? "map" : "sequence");
  if (value.IsSequence()) {
    if (value.sequence().HoldsTensors()) {
      json.Key("dtype");
      json.String(onnx_optim::NumpyTypeName(value.sequence().dtype()));
    }
    json.Key("elements");
    EmitElements(json, value.sequence());
  } else if (value.IsMap()) {
    json.Key("keys");
    EmitTensor(json, value.map().keys());
    json.Key("values");
    EmitElements(json, value.map().values());
  }
  json.EndObject();
}

}  // namespace ONNX_LIGHT_NAMESPACE
