// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/shapes.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/visible_text.h"
#include "commands.h"
#include "json_events.h"
#include "json_text.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "parse.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::ShapeValue;

std::pair<std::string, std::string> SplitAtEquals(const std::string& text, std::string_view option,
                                                  std::string_view form) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(fmt::format("{} {}: expected {}", option, text, form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

ShapeOptions ParseOptions(const ShapesArguments& arguments) {
  ShapeOptions options;
  for (const std::string& text : arguments.dims) {
    const auto [name, number] = SplitAtEquals(text, "--dim", "NAME=SIZE");
    const std::optional<int64_t> size = ParseInt(number);
    if (!size || *size < 0) throw UsageError(fmt::format("--dim {}: '{}' is no size", text, number));
    options.dims[name] = *size;
  }
  for (const std::string& text : arguments.shapes) {
    const auto [name, dims] = SplitAtEquals(text, "--shape", "NAME=DIM,DIM,...");
    std::vector<std::string>& shape = options.shapes[name];
    for (size_t at = 0; at < dims.size();) {
      // A comma inside parentheses belongs to an expression: max(N,1).
      size_t end = at;
      for (int depth = 0; end < dims.size() && (depth > 0 || dims[end] != ','); ++end)
        depth += (dims[end] == '(') - (dims[end] == ')');
      shape.push_back(dims.substr(at, end - at));
      at = end + 1;
    }
  }
  return options;
}

// The table a person reads: values in the order of the graph, each body below the node it belongs to.
class ShapeTable {
 public:
  explicit ShapeTable(const InferredShapes& shapes) {
    for (const InferredGraph& graph : shapes.graphs) graphs_.emplace(graph.path, &graph);
  }

  std::string Of(const GraphProto& graph) {
    AddGraph(graph, "", 0);
    for (Row& row : rows_) row = {VisibleText(row.name), VisibleText(row.text)};
    size_t width = 0;
    for (const Row& row : rows_) {
      if (!row.text.empty()) width = std::max(width, row.name.size());
    }
    std::string out;
    for (const Row& row : rows_) {
      out += row.text.empty() ? fmt::format("{}\n", row.name) : fmt::format("{:<{}}  {}\n", row.name, width, row.text);
    }
    return out;
  }

 private:
  struct Row {
    std::string name;
    std::string text;  // "" for a heading
  };

  void AddValue(const InferredGraph& graph, const std::string& name, int depth, std::set<std::string>& seen) {
    const auto found = graph.values.find(name);
    if (found == graph.values.end() || !seen.insert(name).second) return;
    const ShapeValue& value = found->second;
    std::string text = value.ToString();
    if (value.IsTensor() && value.HasFullValue() && value.Elements()->size() <= 16) {
      text += " = {";
      for (const auto& element : *value.Elements())
        text += fmt::format("{}{}", text.back() == '{' ? "" : ",", element->ToString());
      text += '}';
    }
    rows_.push_back({fmt::format("{:{}}{}", "", depth * 2, name), text});
  }

  void AddGraph(const GraphProto& proto, const std::string& path, int depth) {
    const auto found = graphs_.find(path);
    if (found == graphs_.end()) return;
    const InferredGraph& graph = *found->second;
    std::set<std::string> seen;
    for (const ValueInfoProto& input : proto.input()) AddValue(graph, input.name(), depth, seen);
    for (const TensorProto& constant : proto.initializer()) AddValue(graph, constant.name(), depth, seen);
    int index = 0;
    for (const NodeProto& node : proto.node()) {
      const std::string name = node.name();
      const std::string place =
          path + "/" + (name.empty() ? fmt::format("{}_{}", std::string(node.op_type()), index) : name);
      ++index;
      for (const AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        const std::string body = place + "/" + std::string(attribute.name());
        if (!graphs_.contains(body)) continue;
        rows_.push_back({fmt::format("{:{}}{} of {}:", "", depth * 2, std::string_view(attribute.name()),
                                     std::string_view(body).substr(path.size() + 1, place.size() - path.size() - 1)),
                         ""});
        AddGraph(attribute.g(), body, depth + 1);
      }
      for (const auto& output : node.output()) AddValue(graph, output, depth, seen);
    }
    for (const auto& [name, value] : graph.values) AddValue(graph, name, depth, seen);
  }

  std::map<std::string, const InferredGraph*> graphs_;
  std::vector<Row> rows_;
};

}  // namespace

int ShapesCommand(const ShapesArguments& arguments) {
  ExternalDataReport external;
  ModelProto model = ReadModelFile(arguments.model, &external);
  const ShapeOptions options = ParseOptions(arguments);
  InferredShapes shapes = InferShapes(model, options);
  for (const std::string& message : external.missing) shapes.problems.push_back({false, message});
  bool has_error = false;
  for (const ShapeProblem& problem : shapes.problems) has_error = has_error || problem.is_error;
  if (arguments.json) {
    JsonText json;
    EmitInferredShapes(json, arguments.model, shapes);
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}", ShapeTable(shapes).Of(model.graph()));
    for (const ShapeProblem& problem : shapes.problems) {
      fmt::print("{}: {}\n", problem.is_error ? "error" : "warning", problem.message);
    }
  }
  if (!arguments.output.empty()) {
    WriteShapes(model, options);
    WriteModelFile(model, arguments.output, AsRead(external));
  }
  return has_error ? 1 : 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
