// SPDX-License-Identifier: Apache-2.0
// A body inside a layer (TensorIterator, Loop, If): its layers, what is mapped to the layer's ports, its graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openvino_io/ir_graph_reader.h"

namespace ONNX_LIGHT_NAMESPACE {

// One <input> or <output> of a port map.
struct IrPortMapping {
  int port = -1;            // of the layer, by position
  int layer = -1;           // of the body, by position
  std::optional<int> axis;  // sliced, or concatenated
  bool backwards = false;
};

class IrBody {
 public:
  // `name` is the body's element; bodies that stand in each other too deep are refused.
  IrBody(IrLowering& l, const char* name);

  // The <input> or <output> elements of the port map that have no purpose of their own.
  std::vector<IrPortMapping> Inputs(pugi::xml_node map) const { return Mappings(map, "input", "Parameter"); }
  std::vector<IrPortMapping> Outputs(pugi::xml_node map) const { return Mappings(map, "output", "Result"); }
  // The layer with this purpose, by position; -1 when the map has none.
  int Purpose(pugi::xml_node map, const char* side, std::string_view type, std::string_view purpose) const;
  // Parameter of the body -> Result, by position.
  std::map<int, int> BackEdges() const;
  // Fails the layer unless each of its outputs is mapped once, no Parameter is fed twice, and what a back edge feeds
  // has a first value that is no slice.
  void Check(const std::vector<IrPortMapping>& inputs, const std::vector<IrPortMapping>& outputs,
             const std::map<int, int>& back_edges) const;

  const IrLayer& Layer(int index) const { return layers_.layers[static_cast<size_t>(index)]; }
  GraphProto& graph() { return graph_; }

  // A new input of the graph for a Parameter, like `outer`.
  IrValue AddInput(int parameter, const IrValue& outer);
  // A node of the graph, named after what it gives.
  NodeProto& Node(std::string_view op_type, std::vector<std::string> inputs, std::string output);
  void AxisNode(std::string_view op_type, const std::string& from, int64_t axis, const std::string& to);
  // The name of a new output of the graph.
  std::string AddOutput(const std::string& hint);
  // The name of what a Result gives.
  std::string Use(IrValue& value) const;

  // Reads the layers; each Parameter is one of `parameters`. False when some cannot be said: they are listed then.
  bool Read(const std::map<int, IrValue>& parameters);
  IrValue& ResultValue(int layer) { return reader_.ResultValue(layer); }
  // Moves the graph into an attribute of `node`.
  void MoveTo(NodeProto& node, std::string_view attribute);

 private:
  std::vector<IrPortMapping> Mappings(pugi::xml_node map, const char* side, std::string_view type) const;
  int64_t Number(pugi::xml_node node, const char* attribute, int64_t absent) const;
  int FindLayer(pugi::xml_node node, const char* attribute, std::string_view type) const;

  IrLowering& l_;
  IrLayers layers_;
  GraphProto graph_;
  IrBuilder builder_;
  IrGraphReader reader_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
