// SPDX-License-Identifier: Apache-2.0
// The XML half of an IR file as layers with ports, edges resolved to indices, and typed access to a layer's attributes.
// Structure only: what a layer means is ir_lowering's.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The newest operator set a layer may name ("opset17").
inline constexpr int kMaxIrOpset = 17;

struct IrPort {
  int64_t id = 0;
  std::vector<std::string> names;  // of the tensor, outputs only
  std::vector<int64_t> dims;       // as the port shows them, -1 for any: a hint; none for a scalar or an unknown rank
};

// Where an input comes from: an output of a layer, both by position.
struct IrSource {
  int layer = -1;  // -1: no edge leads here
  int output = -1;
};

struct IrLayer {
  int64_t id = 0;
  std::string name;
  std::string type;
  std::string version;  // "opset5"
  int opset = -1;       // 5; -1 when `version` names no operator set of ours
  pugi::xml_node node;
  pugi::xml_node data;  // the <data> element; null when there is none
  std::vector<IrPort> inputs;
  std::vector<IrPort> outputs;
  std::vector<IrSource> sources;  // one for each input

  // `layer 7 "lstm" (LSTMSequence)`
  std::string Where() const;
  // Throws ModelParseError about this layer; `subject` is a part of it (`attribute 'clip'`) or empty.
  [[noreturn]] void Fail(std::string_view subject, const std::string& fact) const;
};

// A dim of a Parameter: min == max for a fixed one, max -1 for no upper bound.
struct IrDim {
  int64_t min = 0;
  int64_t max = -1;
  bool fixed() const { return min == max; }
};

// The attributes of a layer's <data>. Lists are comma separated, spaces around elements allowed; of an attribute given
// twice the first counts. Getters throw ModelParseError naming layer and attribute when the text is not of the kind,
// and those without a value for absence when the attribute is missing. A view: the layer must outlive it.
class IrAttributes {
 public:
  explicit IrAttributes(const IrLayer& layer) : layer_(&layer) {}

  bool Has(const char* name) const { return !layer_->data.attribute(name).empty(); }
  std::string String(const char* name) const;
  std::string String(const char* name, std::string_view absent) const;
  int64_t Int(const char* name) const;
  int64_t Int(const char* name, int64_t absent) const;
  float Float(const char* name, float absent) const;
  double Double(const char* name) const;
  // true, false, 1, 0 in any case.
  bool Bool(const char* name, bool absent) const;
  // Empty when absent.
  std::vector<int64_t> Ints(const char* name) const;
  std::vector<float> Floats(const char* name) const;
  std::vector<std::string> Strings(const char* name) const;
  // The dims of a Const: integers >= 0, none for a scalar.
  std::vector<int64_t> FixedShape(const char* name) const;
  // The dims of a Parameter: "4", "?", "-1", "1..8", "2..", "..8"; nothing for "...", a rank not known.
  std::optional<std::vector<IrDim>> PartialShape(const char* name) const;
  // kUndefined for a type IR has and ONNX has not (u1, u3, u6, nf4, ...); throws for a name that IR does not have
  // either.
  TensorType ElementType(const char* name) const;

 private:
  [[noreturn]] void FailAttribute(const char* name, const std::string& fact) const;
  const IrLayer* layer_;
};

// The layers of a model, or of a body inside one of its layers; ids count for each anew.
struct IrLayers {
  std::vector<IrLayer> layers;  // in file order
  // Indices of `layers`, sources before those they feed, file order otherwise; layers on a cycle come last.
  std::vector<int> order;
};

struct IrDocument : IrLayers {
  pugi::xml_document xml;
  std::string name;
  int version = 0;  // 10 or 11
};

// Fills `document` from the text of an .xml. Throws ModelParseError (offset, layer) for text that is no XML and for
// structure that does not hold: duplicate ids, edges to nowhere, missing attributes; Unsupported for an IR version
// other than 10 and 11. No recursion and no entity expansion: work and memory are linear in the text.
void ParseIrDocument(std::string_view text, IrDocument& document);

// The layers and edges of `parent`, <net> or <body>. Throws as ParseIrDocument for structure that does not hold.
void ReadIrLayers(pugi::xml_node parent, IrLayers& graph);

// The layer that `node` is, its edges left open. Throws as ParseIrDocument for what the element lacks.
IrLayer ReadIrLayer(pugi::xml_node node);

// What IR calls an element type ("f32"), nothing for one it has not, and how ports say it ("FP32").
std::string_view IrElementName(TensorType type);
std::string_view IrPrecision(TensorType type);
// The element type of that name; kUndefined for one that IR or ONNX has not.
TensorType IrElementType(std::string_view name);

// `"text"`, shortened when it is long: what a message shows of a file's text.
std::string QuoteForMessage(std::string_view text);

}  // namespace ONNX_LIGHT_NAMESPACE
