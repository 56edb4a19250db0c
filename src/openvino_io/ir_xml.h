// SPDX-License-Identifier: Apache-2.0
// The layers and edges of a <net> or a <body> while they are written.
#pragma once

#include <cstdint>
#include <deque>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// What is known of a value that is written.
struct IrType {
  TensorType element = TensorType::kUndefined;
  bool ranked = false;        // the number of dims is known
  std::vector<int64_t> dims;  // -1 for a size not known

  static IrType Tensor(TensorType element, std::vector<int64_t> dims) {
    return {.element = element, .ranked = true, .dims = std::move(dims)};
  }
  int rank() const { return ranked ? static_cast<int>(dims.size()) : -1; }
};

// An output port of a layer. Its type lives as long as the IrXml it is of.
struct IrRef {
  int layer = -1;
  int port = 0;
  const IrType* type = nullptr;
};

// The attributes of a layer's <data>, in order.
using IrData = std::vector<std::pair<std::string, std::string>>;

struct IrLayerText {
  struct Output {
    IrType type;
    std::vector<std::string> names;  // of the tensor
  };
  std::string name, type, version;
  IrData data;
  std::vector<IrRef> inputs;
  std::vector<Output> outputs;
  std::string rt_info;  // XML
};

class IrXml {
 public:
  // Adds <layers> and <edges> to `parent`.
  explicit IrXml(pugi::xml_node parent);

  // Appends the layer, with its edges. Ports count from 0, inputs first.
  pugi::xml_node Add(const IrLayerText& layer, std::vector<IrRef>* outputs = nullptr);
  std::string_view LayerType(const IrRef& port) const;
  // Another name for the tensor on a port.
  void AddName(const IrRef& port, std::string_view name);
  // Puts this XML into the <rt_info> of the port.
  void AddRuntimeInfo(const IrRef& port, std::string_view xml);
  // The tensor on a port has this name only.
  void Rename(const IrRef& port, std::string_view name);

 private:
  pugi::xml_node NodeOf(const IrRef& port) const;
  pugi::xml_attribute NamesOf(const IrRef& port) const;

  pugi::xml_node layers_, edges_;
  std::deque<IrType> types_;
  std::vector<pugi::xml_node> by_id_;
};

// Writes the element of a layer, without id and edges, into `parent`.
pugi::xml_node AppendIrLayer(pugi::xml_node parent, const IrLayerText& layer);

// "a" and "b,c" -> "a,b\,c".
std::string JoinIrNames(const std::vector<std::string>& names);

// Values as attributes have them.
std::string IrText(bool value);
std::string IrText(double value);
std::string IrText(float value);
std::string IrText(const std::vector<int64_t>& values);
std::string IrText(const std::vector<float>& values);

}  // namespace ONNX_LIGHT_NAMESPACE
