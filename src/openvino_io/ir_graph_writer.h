// SPDX-License-Identifier: Apache-2.0
// A graph of nodes to the layers of a <net> or a <body>.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_proto/onnx.h"
#include "openvino_io/ir_lowering.h"
#include "openvino_io/ir_weights.h"
#include "openvino_io/ir_writer.h"
#include "openvino_io/ir_xml.h"

namespace ONNX_LIGHT_NAMESPACE {

// What the graphs of one model share.
struct IrWriting {
  const IrTypeSource& types;
  bool lower;
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain, "" for ai.onnx
  IrWeights weights;
  std::vector<std::string> unsupported;  // a text for each node, input or output that cannot be said
};

// The elements as raw_data, wherever the message has them. Throws InvalidArgument when they are not what its dims say.
Bytes ConstantBytes(const TensorProto& tensor);

class IrGraphWriter {
 public:
  // Layers go into `parent`. `outer` is the graph around a body, null for the model's. Everything must outlive it.
  IrGraphWriter(IrWriting& writing, const GraphProto& graph, pugi::xml_node parent, IrGraphWriter* outer);

  // All of the model's graph: inputs as Parameters, outputs as Results.
  void WriteModel();
  // The nodes alone, whose inputs are defined.
  void WriteNodes();

  IrWriting& writing() { return writing_; }
  // 0 for the model's graph, 1 for a body in it.
  int depth() const { return outer_ == nullptr ? 0 : outer_->depth() + 1; }
  const GraphProto& graph() const { return graph_; }
  IrXml& xml() { return xml_; }

  // The port a value is on. A constant gets its layer when it is first asked for, an outer value of a body a Parameter,
  // which captures() lists. Throws InvalidArgument for a name that no node before this one, input or initializer has.
  IrRef ValueOf(std::string_view name);
  void Define(std::string_view name, const IrRef& port) { values_.insert_or_assign(std::string(name), port); }
  // The value is the one on `port`, under another name.
  void Alias(std::string_view name, const IrRef& port);
  // The alias, an output of the graph, was a Result and nothing else when it was read.
  void KeepResult(std::string_view name) { kept_results_.emplace(name); }
  bool IsDefined(std::string_view name) const { return values_.contains(std::string(name)); }
  // The tensor of a value that is constant, here or in a graph around; null otherwise.
  const TensorProto* ConstantOf(std::string_view name) const;
  void DefineConstant(std::string_view name, TensorProto tensor);
  // What inference knows of a value, here or in a graph around.
  IrType TypeOf(std::string_view name) const;
  // "a sequence" for a value that is no tensor, "" for a tensor or when nothing is known.
  std::string_view KindOf(std::string_view name) const;

  IrRef AddConst(const TensorProto& tensor);
  IrRef AddParameter(const std::string& name, const IrType& type, std::string_view shape = {});
  // The Result layer of a value; returns its id.
  int AddResult(const std::string& name, const IrRef& from, bool named);

  // The value is of this graph, not of one around.
  bool IsOwn(std::string_view name) const;
  // A node of this graph or of a body in it, or an output, uses the value.
  bool IsUsed(std::string_view name) const;
  static bool Uses(const NodeProto& node, std::string_view name);
  // WriteNodes leaves this node out.
  void Skip(const NodeProto& node) { skipped_.insert(&node); }
  bool IsSkipped(const NodeProto& node) const { return skipped_.contains(&node); }

  struct Capture {
    std::string name;
    int parameter;  // id of the layer
  };
  const std::vector<Capture>& captures() const { return captures_; }

 private:
  // ir_restore.cc
  // The nodes from number `first` on are what a layer became when it was read: writes that layer and returns how many
  // they are; 0 when there is no such layer, or it would not become these very nodes again.
  int RestoreLayer(int first);
  IrValue KnownValue(const std::string& name);
  // Of a constant that is no value of the graph.
  IrRef ConstantPort(const TensorProto& tensor);

  void AddInput(const ValueInfoProto& info);
  void AddOutput(const std::string& name);
  void FindVariables();
  void WriteVariable(const NodeProto& node, const NodeProto& described);
  template <class Fn>
  void Collect(const NodeProto& node, Fn fn);

  IrWriting& writing_;
  const GraphProto& graph_;
  IrGraphWriter* outer_;
  IrXml xml_;
  std::unordered_map<std::string, IrRef> values_;
  std::unordered_map<std::string_view, const TensorProto*> constants_;
  std::deque<TensorProto> made_constants_;
  std::deque<std::string> made_names_;
  std::unordered_map<std::string, IrValue> known_;  // as the reader will know it
  std::deque<IrConstant> known_constants_;
  std::multimap<std::string, std::pair<TensorProto, IrRef>> hidden_constants_;  // by name
  std::set<std::string> aliases_, kept_results_;                                // outputs of the graph
  std::set<std::pair<int, int>> given_;                                         // ports that are outputs of the model
  std::vector<Capture> captures_;
  // Inputs and outputs that are variables' first and next values; the nodes that read and write them, and those that
  // have the metadata, which may be the same.
  std::set<std::string_view> variables_;
  std::map<const NodeProto*, const NodeProto*> variable_nodes_;
  std::set<const NodeProto*> skipped_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
