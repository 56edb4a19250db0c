// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <map>

#include "base/checked.h"
#include "base/visible_text.h"
#include "commands.h"
#include "json_text.h"
#include "onnx_optim/shapes/shape_value.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "onnxseq/model_io.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Summary {
  std::map<std::string, int64_t> operators;  // by "domain.OpType", bodies and functions included
  int64_t nodes = 0;
  int64_t bodies = 0;
  int64_t constants = 0;
  int64_t constant_elements = 0;
};

void CountNode(const NodeProto& node, Summary& summary);

void CountGraph(const GraphProto& graph, Summary& summary) {
  for (const NodeProto& node : graph.node()) CountNode(node, summary);
  for (const TensorProto& tensor : graph.initializer()) {
    ++summary.constants;
    const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    const auto sum = CheckedAdd(summary.constant_elements, CheckedProduct(dims).value_or(0));
    summary.constant_elements = sum.value_or(summary.constant_elements);
  }
}

void CountNode(const NodeProto& node, Summary& summary) {
  ++summary.nodes;
  const std::string domain = node.domain();
  ++summary.operators[(domain.empty() || domain == "ai.onnx" ? "" : domain + ".") + std::string(node.op_type())];
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) {
      ++summary.bodies;
      CountGraph(attribute.g(), summary);
    }
    for (const GraphProto& graph : attribute.graphs()) {
      ++summary.bodies;
      CountGraph(graph, summary);
    }
  }
}

std::string DeclaredType(const ValueInfoProto& value, onnx_optim::shapes::ShapesContext& ctx) {
  return onnx_optim::shapes::FromTypeProto(value.type(), ctx).ToString();
}

}  // namespace

int InfoCommand(const std::string& path, bool as_json) {
  ExternalDataReport external;
  const ModelProto model = ReadModelFile(path, &external);
  for (const std::string& message : external.missing) fmt::print(stderr, "warning: {}\n", message);
  Summary summary;
  CountGraph(model.graph(), summary);
  for (const FunctionProto& function : model.functions()) {
    for (const NodeProto& node : function.node()) CountNode(node, summary);
  }
  onnx_optim::shapes::ShapesContext ctx;
  for (const ValueInfoProto& input : model.graph().input()) onnx_optim::shapes::DeclareSymbols(input.type(), ctx);

  if (as_json) {
    JsonText json;
    const auto text = [&](std::string_view key, const std::string& value) {
      json.Key(key);
      json.String(value);
    };
    const auto number = [&](std::string_view key, int64_t value) {
      json.Key(key);
      json.Int(value);
    };
    json.Object();
    text("model", path);
    number("ir_version", model.ir_version());
    text("producer", model.producer_name());
    text("producer_version", model.producer_version());
    json.Key("opsets");
    json.Object();
    for (const auto& opset : model.opset_import()) number(std::string(opset.domain()), opset.version());
    json.EndObject();
    const auto values = [&](std::string_view key, const auto& list) {
      json.Key(key);
      json.Array();
      for (const ValueInfoProto& value : list) {
        json.Object();
        text("name", value.name());
        text("type", DeclaredType(value, ctx));
        json.EndObject();
      }
      json.EndArray();
    };
    values("inputs", model.graph().input());
    values("outputs", model.graph().output());
    number("nodes", summary.nodes);
    number("bodies", summary.bodies);
    number("functions", static_cast<int64_t>(model.functions().size()));
    number("constants", summary.constants);
    number("constant_elements", summary.constant_elements);
    json.Key("operators");
    json.Object();
    for (const auto& [name, count] : summary.operators) number(name, count);
    json.EndObject();
    json.EndObject();
    fmt::print("{}\n", json.text());
    return 0;
  }

  const std::string producer = model.producer_name(), version = model.producer_version();
  fmt::print("{}: ONNX IR version {}{}{}\n", path, int64_t{model.ir_version()},
             VisibleText(producer.empty() ? "" : ", made by " + producer),
             VisibleText(version.empty() ? "" : " " + version));
  for (const auto& opset : model.opset_import()) {
    const std::string domain = opset.domain();
    fmt::print("opset   {} {}\n", domain.empty() ? "ai.onnx" : VisibleText(domain), int64_t{opset.version()});
  }
  for (const ValueInfoProto& input : model.graph().input())
    fmt::print("input   {}: {}\n", VisibleText(input.name()), VisibleText(DeclaredType(input, ctx)));
  for (const ValueInfoProto& output : model.graph().output())
    fmt::print("output  {}: {}\n", VisibleText(output.name()), VisibleText(DeclaredType(output, ctx)));
  fmt::print("{} nodes, {} bodies, {} functions, {} constants of {} elements\n", summary.nodes, summary.bodies,
             model.functions().size(), summary.constants, summary.constant_elements);
  for (const auto& [name, count] : summary.operators) fmt::print("{:>8} {}\n", count, VisibleText(name));
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
