// SPDX-License-Identifier: Apache-2.0
// Small IR texts for tests, and nodes as one line each.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/errors.h"
#include "openvino_io/ir_reader.h"

namespace ONNX_LIGHT_NAMESPACE {

// Writes an IR: layers get ids 0, 1, ... in the order they are added; outputs are ports behind the inputs.
class IrText {
 public:
  explicit IrText(std::string_view version = "11") : version_(version) {}

  // Returns the id.
  int Add(std::string_view type, std::string_view opset, std::string_view data, std::vector<std::pair<int, int>> from,
          int outputs, std::string_view name = {}, std::string_view output_names = {}) {
    const int id = count_++;
    const std::string called = name.empty() ? fmt::format("l{}", id) : std::string(name);
    layers_ += fmt::format("<layer id=\"{}\" name=\"{}\" type=\"{}\" version=\"{}\">", id, called, type, opset);
    if (!data.empty()) layers_ += fmt::format("<data {} />", data);
    layers_ += "<input>";
    for (size_t i = 0; i < from.size(); ++i) {
      layers_ += fmt::format("<port id=\"{}\" precision=\"FP32\"/>", i);
      edges_ += fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>", from[i].first,
                            from[i].second, id, i);
    }
    layers_ += "</input><output>";
    for (int i = 0; i < outputs; ++i) {
      layers_ += fmt::format("<port id=\"{}\" precision=\"FP32\"{}/>", from.size() + i,
                             output_names.empty() ? "" : fmt::format(" names=\"{}\"", output_names));
    }
    layers_ += "</output></layer>\n";
    return id;
  }
  int Parameter(std::string_view name, std::string_view shape, std::string_view type = "f32") {
    return Add("Parameter", "opset1", fmt::format("shape=\"{}\" element_type=\"{}\"", shape, type), {}, 1, name);
  }
  // A Const whose bytes go to the end of the weights.
  int ConstBytes(std::string_view type, std::string_view shape, std::string_view bytes, std::string_view name = {}) {
    const std::string data = fmt::format("element_type=\"{}\" shape=\"{}\" offset=\"{}\" size=\"{}\"", type, shape,
                                         weights_.size(), bytes.size());
    weights_.append(bytes);
    return Add("Const", "opset1", data, {}, 1, name);
  }
  template <class T>
  int Const(std::string_view type, std::string_view shape, const std::vector<T>& values, std::string_view name = {}) {
    return ConstBytes(type, shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}, name);
  }
  int Ints(const std::vector<int64_t>& values, std::string_view name = {}) {
    return Const<int64_t>("i64", std::to_string(values.size()), values, name);
  }
  void Result(int from, int port = 0) { Add("Result", "opset1", "", {{from, port}}, 0); }
  void Raw(std::string_view layer, std::string_view edge = {}) {
    layers_ += layer;
    edges_ += edge;
  }

  std::string Xml() const {
    return fmt::format(
        "<?xml version=\"1.0\"?><net name=\"test\" version=\"{}\"><layers>{}</layers><edges>{}</edges></net>", version_,
        layers_, edges_);
  }
  const std::string& weights() const { return weights_; }
  std::string& weights() { return weights_; }
  ModelProto Parse() const { return ParseIr(Xml(), Bytes(weights_)); }

 private:
  std::string version_, layers_, edges_, weights_;
  int count_ = 0;
};

inline std::string Describe(const AttributeProto& a) {
  switch (a.type()) {
    case AttributeProto::INT:
      return fmt::format("{}={}", a.name().as_string(), a.i());
    case AttributeProto::FLOAT:
      return fmt::format("{}={}", a.name().as_string(), a.f());
    case AttributeProto::STRING:
      return fmt::format("{}={}", a.name().as_string(), a.s().view());
    case AttributeProto::INTS:
      return fmt::format("{}={}", a.name().as_string(), std::vector<int64_t>(a.ints()));
    case AttributeProto::FLOATS:
      return fmt::format("{}={}", a.name().as_string(), std::vector<float>(a.floats()));
    case AttributeProto::STRINGS: {
      std::string text;
      for (const Bytes& s : a.strings()) text += (text.empty() ? "" : ",") + s.as_string();
      return fmt::format("{}=[{}]", a.name().as_string(), text);
    }
    default:
      return a.name().as_string() + "=?";
  }
}

// "y = Gather(x, i) axis=1"
inline std::string Describe(const NodeProto& node) {
  const auto join = [](const auto& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i].as_string();
    return text;
  };
  std::string text =
      fmt::format("{} = {}{}({})", join(node.output()), node.domain().empty() ? "" : node.domain().as_string() + ".",
                  node.op_type().as_string(), join(node.input()));
  for (const AttributeProto& attribute : node.attribute()) text += " " + Describe(attribute);
  return text;
}
inline std::vector<std::string> Nodes(const ModelProto& model) {
  std::vector<std::string> lines;
  for (const NodeProto& node : model.graph().node()) lines.push_back(Describe(node));
  return lines;
}

// "x : 1[2,N_1]", with the number of the element type; "x : 1" when the rank is unknown.
inline std::string Describe(const ValueInfoProto& info) {
  std::string text = info.name().as_string();
  if (!info.has_type()) return text;
  text += fmt::format(" : {}", info.type().tensor_type().elem_type());
  if (!info.type().tensor_type().has_shape()) return text;
  std::vector<std::string> dims;
  for (const TensorShapeProto_Dimension& dim : info.type().tensor_type().shape().dim()) {
    dims.push_back(dim.has_dim_value()   ? std::to_string(dim.dim_value())
                   : dim.has_dim_param() ? dim.dim_param().as_string()
                                         : "?");
  }
  return text + fmt::format("[{}]", fmt::join(dims, ","));
}

// "c : 7[2] 1,2": int64 elements in words, other types by the number of their bytes.
inline std::string Describe(const TensorProto& tensor) {
  std::string text = fmt::format("{} : {}[{}]", tensor.name().as_string(), tensor.data_type(),
                                 fmt::join(std::vector<int64_t>(tensor.dims()), ","));
  if (tensor.data_type() != TensorProto::INT64) return text + fmt::format(" {} bytes", tensor.raw_data().size());
  std::vector<int64_t> values(tensor.raw_data().size() / 8);
  std::memcpy(values.data(), tensor.raw_data().data(), values.size() * 8);
  return text + fmt::format(" {}", fmt::join(values, ","));
}
inline std::vector<std::string> Initializers(const ModelProto& model) {
  std::vector<std::string> lines;
  for (const TensorProto& tensor : model.graph().initializer()) lines.push_back(Describe(tensor));
  return lines;
}

// One layer "l" over inputs "a" (f32), "b" (f32) and "n" (i32), constants by name.
struct LayerCase {
  IrText ir;
  int a, b, n;
  LayerCase() : a(ir.Parameter("a", "2,3")), b(ir.Parameter("b", "2,3")), n(ir.Parameter("n", "?", "i32")) {}
  std::vector<std::string> Lower(std::string_view type, std::string_view opset, std::string_view data,
                                 std::vector<int> from, int outputs = 1) {
    std::vector<std::pair<int, int>> edges;
    for (const int id : from) edges.emplace_back(id, 0);
    const int layer = ir.Add(type, opset, data, edges, outputs, "l");
    for (int i = 0; i < outputs; ++i) ir.Result(layer, static_cast<int>(from.size()) + i);
    return Nodes(ir.Parse());
  }
};

// The message of the E that fn throws; whatever else happens is told, too.
template <class E, class Fn>
std::string IrMessage(Fn fn) {
  try {
    fn();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing thrown";
}

}  // namespace ONNX_LIGHT_NAMESPACE
