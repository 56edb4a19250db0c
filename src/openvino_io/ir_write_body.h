// SPDX-License-Identifier: Apache-2.0
// A body of a Loop, Scan or If while it is written: its own layers, and which of them stand for what outside.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openvino_io/ir_node_writer.h"

namespace ONNX_LIGHT_NAMESPACE {

class IrBodyWriter {
 public:
  // `name` is the element the layers go into.
  IrBodyWriter(IrNodeWriter& w, const GraphProto& graph, const char* name)
      : w_(w),
        graph_(graph),
        root_(scratch_.append_child(name)),
        layers_(w.graph().writing(), graph, root_, &w.graph()) {
    if (layers_.depth() > kMostBodyDepth)
      w.Refuse("", fmt::format("bodies stand in each other more than {} deep", kMostBodyDepth));
  }

  const GraphProto& graph() const { return graph_; }
  std::string InputName(int i) const { return graph_.input(i).name(); }
  std::string OutputName(int i) const { return graph_.output(i).name(); }
  // Some node of the body, or of bodies in it, or an output uses the value.
  bool IsUsed(std::string_view name) const { return layers_.IsUsed(name); }
  bool IsDefined(std::string_view name) const { return layers_.IsDefined(name); }
  // The Parameter of a body input; returns the id of the layer.
  int AddParameter(int input);
  // The Parameter of a body input that is one slice of an outer value along `axis`, which the slice keeps.
  int AddSlice(int input, int64_t axis);
  // Gathers of one slice of an outer value at the iteration, which is a body input, become Parameters.
  struct Slice {
    std::string outer;
    int64_t axis;
    int parameter;
  };
  std::vector<Slice> AddGatheredSlices(const std::string& iteration);
  // Before the nodes are written: an output that is concatenated along `axis`, one of which any shape will do.
  void DeclarePart(int output, int64_t axis);
  void DeclareOneElement(int output);
  void WriteNodes() { layers_.WriteNodes(); }
  // The Result of a body output; returns the id of the layer.
  int AddResult(int output);
  // The Result of a declared part, with the axis.
  int AddPart(int output, int64_t axis);
  const std::vector<IrGraphWriter::Capture>& captures() const { return layers_.captures(); }
  // Puts the layers into the layer they belong to.
  void MoveTo(pugi::xml_node layer) { layer.append_copy(root_); }

 private:
  const NodeProto* Producer(std::string_view name) const;
  // What gives this output and nothing else, when it is of this type.
  const NodeProto* OnlyFor(int output, std::string_view op_type) const;
  bool IsAxis(const NodeProto& node, int64_t axis) const;
  IrRef AxisLayer(const char* type, const IrRef& value, int64_t axis, IrType result);

  IrNodeWriter& w_;
  const GraphProto& graph_;
  pugi::xml_document scratch_;
  pugi::xml_node root_;
  IrGraphWriter layers_;
};

// Adds an <input> or <output> to a port map; with an axis, of slices one by one.
void AddMapping(pugi::xml_node map, const char* side, int port, int layer, std::optional<int64_t> axis = {},
                bool backwards = false);

}  // namespace ONNX_LIGHT_NAMESPACE
