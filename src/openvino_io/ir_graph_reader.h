// SPDX-License-Identifier: Apache-2.0
// Layers of a model or a body to the nodes of a graph.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openvino_io/ir_lowering.h"

namespace ONNX_LIGHT_NAMESPACE {

// Both must outlive it. Layers that cannot be said are listed in the builder's model; what does not follow the format
// throws ModelParseError.
class IrGraphReader {
 public:
  // The value of the Parameter layer with this index.
  using ParameterValue = std::function<IrValue(int layer)>;

  IrGraphReader(const IrLayers& graph, IrBuilder& builder) : graph_(graph), builder_(builder) {}

  // Parameters become the graph's inputs, Results its outputs.
  void ReadModel();
  // Inputs and outputs of the graph are the caller's.
  void ReadBody(const ParameterValue& value_of);
  // What the Result layer with this index is given.
  IrValue& ResultValue(int layer) { return ValueAt(Layer(layer).sources.front()); }

 private:
  const IrLayer& Layer(int index) const { return graph_.layers[static_cast<size_t>(index)]; }
  IrValue& ValueAt(const IrSource& source) {
    return values_[static_cast<size_t>(source.layer)][static_cast<size_t>(source.output)];
  }
  const std::optional<Bytes>& weights() const { return builder_.model.weights; }

  void CheckPorts();
  std::string DefaultName(const IrSource& source) const;
  std::string WantedName(const IrSource& source) const;
  std::string WantedResultName(const IrLayer& result) const;
  void NameParameters(const ParameterValue& value_of);
  void NameResults();
  void NameOthers();
  template <class Fn>
  void Collect(const IrLayer& layer, Fn&& fn);
  void ReadLayer(int index);
  void ReadParameter(int index);
  void ReadConst(int index);
  static void ReadStrings(const IrLayer& layer, std::string_view bytes, int64_t count, TensorProto& tensor);
  void WriteResults();

  const IrLayers& graph_;
  IrBuilder& builder_;
  std::vector<std::vector<IrValue>> values_;  // by layer and output
  std::vector<std::string> result_names_;     // in file order
};

}  // namespace ONNX_LIGHT_NAMESPACE
