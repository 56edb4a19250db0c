// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <queue>
#include <unordered_map>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// `node` stands at this byte; 0 when pugixml cannot say.
int64_t OffsetOf(pugi::xml_node node) { return std::max<int64_t>(node.offset_debug(), 0); }

[[noreturn]] void FailAt(pugi::xml_node node, const std::string& where, const std::string& fact) {
  throw ModelParseError(fact, OffsetOf(node), where);
}

template <class T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int64_t RequiredId(pugi::xml_node node, const char* attribute, const std::string& where) {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (found.empty()) FailAt(node, where, fmt::format("attribute '{}' of <{}> is missing", attribute, node.name()));
  const auto value = ParseWhole<int64_t>(found.value());
  if (!value || *value < 0) {
    FailAt(node, where,
           fmt::format("attribute '{}' of <{}> must be an integer >= 0, got {}", attribute, node.name(),
                       QuoteForMessage(found.value())));
  }
  return *value;
}

// "a,b" -> a, b; a comma inside a name is written "\,".
std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
    } else if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      name += text[++i];
    } else {
      name += text[i];
    }
  }
  return names;
}

std::vector<IrPort> ReadPorts(const IrLayer& layer, const char* side) {
  std::vector<IrPort> ports;
  for (const pugi::xml_node node : layer.node.child(side).children("port")) {
    IrPort port;
    port.id = RequiredId(node, "id", layer.Where());
    port.names = SplitNames(node.attribute("names").value());
    for (const pugi::xml_node dim : node.children("dim")) port.dims.push_back(dim.text().as_llong(-1));
    ports.push_back(std::move(port));
  }
  return ports;
}

int OpsetOf(std::string_view version) {
  constexpr std::string_view kPrefix = "opset";
  if (!version.starts_with(kPrefix)) return -1;
  const auto number = ParseWhole<int>(version.substr(kPrefix.size()));
  return number && *number >= 1 && *number <= kMaxIrOpset ? *number : -1;
}

void ReadVersion(pugi::xml_node net, IrDocument& document) {
  const pugi::xml_attribute version = net.attribute("version");
  if (version.empty()) FailAt(net, "net", "attribute 'version' is missing");
  const auto number = ParseWhole<int64_t>(version.value());
  if (!number) {
    FailAt(net, "net", fmt::format("attribute 'version' must be an integer, got {}", QuoteForMessage(version.value())));
  }
  if (*number != 10 && *number != 11) {
    throw Unsupported(fmt::format("the file is OpenVINO IR version {}, versions 10 and 11 are read", *number));
  }
  document.version = static_cast<int>(*number);
}

int FindPort(const std::vector<IrPort>& ports, int64_t id) {
  const auto found = std::find_if(ports.begin(), ports.end(), [id](const IrPort& port) { return port.id == id; });
  return found == ports.end() ? -1 : static_cast<int>(found - ports.begin());
}

void ReadEdges(pugi::xml_node parent, const std::unordered_map<int64_t, int>& index_of, IrLayers& graph) {
  for (const pugi::xml_node node : parent.child("edges").children("edge")) {
    const auto layer_at = [&](const char* attribute) {
      const int64_t id = RequiredId(node, attribute, "edge");
      const auto found = index_of.find(id);
      if (found == index_of.end())
        FailAt(node, "edge", fmt::format("attribute '{}' names layer {}, there is none", attribute, id));
      return found->second;
    };
    const int from = layer_at("from-layer"), to = layer_at("to-layer");
    const int64_t from_port = RequiredId(node, "from-port", "edge"), to_port = RequiredId(node, "to-port", "edge");
    const int output = FindPort(graph.layers[from].outputs, from_port);
    const int input = FindPort(graph.layers[to].inputs, to_port);
    if (output < 0)
      FailAt(node, "edge", fmt::format("{} has no output port {}", graph.layers[from].Where(), from_port));
    if (input < 0) FailAt(node, "edge", fmt::format("{} has no input port {}", graph.layers[to].Where(), to_port));
    IrSource& source = graph.layers[to].sources[input];
    if (source.layer >= 0) {
      FailAt(node, "edge",
             fmt::format("input port {} of {} has an edge already, from {}", to_port, graph.layers[to].Where(),
                         graph.layers[source.layer].Where()));
    }
    source = {from, output};
  }
  for (const IrLayer& layer : graph.layers) {
    for (size_t i = 0; i < layer.sources.size(); ++i) {
      if (layer.sources[i].layer < 0)
        layer.Fail(fmt::format("input port {}", layer.inputs[i].id), "no edge leads here");
    }
  }
}

void Sort(IrLayers& graph) {
  const size_t count = graph.layers.size();
  std::vector<int> missing(count, 0);
  std::vector<std::vector<int>> users(count);
  for (size_t i = 0; i < count; ++i) {
    for (const IrSource& source : graph.layers[i].sources) {
      ++missing[i];
      users[source.layer].push_back(static_cast<int>(i));
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push(static_cast<int>(i));
  }
  graph.order.reserve(count);
  while (!ready.empty()) {
    const int layer = ready.top();
    ready.pop();
    graph.order.push_back(layer);
    for (const int user : users[layer]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (missing[i] > 0) graph.order.push_back(static_cast<int>(i));
  }
}

}  // namespace

std::string QuoteForMessage(std::string_view text) {
  constexpr size_t kLongest = 80;
  if (text.size() <= kLongest) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}...\"", text.substr(0, kLongest));
}

std::string IrLayer::Where() const { return fmt::format("layer {} {} ({})", id, QuoteForMessage(name), type); }

void IrLayer::Fail(std::string_view subject, const std::string& fact) const {
  FailAt(node, subject.empty() ? Where() : fmt::format("{}, {}", Where(), subject), fact);
}

IrLayer ReadIrLayer(pugi::xml_node node) {
  IrLayer layer;
  layer.node = node;
  layer.id = RequiredId(node, "id", "layer");
  layer.name = node.attribute("name").value();
  layer.type = node.attribute("type").value();
  if (layer.type.empty()) layer.Fail("attribute 'type'", "is missing");
  if (node.attribute("version").empty()) layer.Fail("attribute 'version'", "is missing");
  layer.version = node.attribute("version").value();
  layer.opset = OpsetOf(layer.version);
  layer.data = node.child("data");
  layer.inputs = ReadPorts(layer, "input");
  layer.outputs = ReadPorts(layer, "output");
  layer.sources.resize(layer.inputs.size());
  return layer;
}

void ReadIrLayers(pugi::xml_node parent, IrLayers& graph) {
  std::unordered_map<int64_t, int> index_of;
  for (const pugi::xml_node node : parent.child("layers").children("layer")) {
    graph.layers.push_back(ReadIrLayer(node));
    const IrLayer& layer = graph.layers.back();
    const auto [other, is_new] = index_of.emplace(layer.id, static_cast<int>(graph.layers.size()) - 1);
    if (!is_new) layer.Fail("attribute 'id'", fmt::format("{} has it too", graph.layers[other->second].Where()));
  }
  if (graph.layers.empty()) FailAt(parent, "net", "there are no layers");
  ReadEdges(parent, index_of, graph);
  Sort(graph);
}

void ParseIrDocument(std::string_view text, IrDocument& document) {
  const pugi::xml_parse_result result = document.xml.load_buffer(text.data(), text.size());
  if (!result)
    throw ModelParseError(fmt::format("the XML cannot be read: {}", result.description()), result.offset, "");
  const pugi::xml_node net = document.xml.child("net");
  if (net.empty()) throw ModelParseError("there is no <net> element: not an OpenVINO IR file", 0, "");
  document.name = net.attribute("name").value();
  ReadVersion(net, document);
  ReadIrLayers(net, document);
}

}  // namespace ONNX_LIGHT_NAMESPACE
