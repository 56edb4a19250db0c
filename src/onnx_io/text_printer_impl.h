// SPDX-License-Identifier: Apache-2.0
// The text writer behind text_printer.h: nodes, graphs, models in text_printer.cc, types, tensors, attributes in
// text_print_values.cc.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Each member adds the text of a message to the end.
class TextPrinter {
 public:
  void Model(const ModelProto& model);
  void Graph(const GraphProto& graph, const std::string& name);
  void Function(const FunctionProto& function);
  void Node(const NodeProto& node);
  void Type(const TypeProto& type);
  // Name and values; in an attribute the syntax takes the name only when it is an identifier.
  void Tensor(const TensorProto& tensor, bool in_attribute);
  void Attribute(const AttributeProto& attribute);
  void Name(std::string_view name);
  std::string Take() && { return std::move(out_); }

 private:
  template <class... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void Quoted(std::string_view text);
  // An identifier as it is; Unsupported for what is none, saying what it should name.
  void Identifier(std::string_view what, std::string_view name);
  void NewLine() { Say("\n{:{}}", "", indent_ * 2); }
  template <class List, class One>
  void Listed(std::string_view open, const List& list, std::string_view close, One one) {
    out_ += open;
    std::string_view separator;
    for (const auto& item : list) {
      out_ += std::exchange(separator, ", ");
      one(item);
    }
    out_ += close;
  }
  void Names(const Repeated<String>& names) {
    Listed("", names, "", [&](const String& name) { Name(name); });
  }
  void OpsetImports(const RepeatedMessages<OperatorSetIdProto>& imports);
  void StringMap(const RepeatedMessages<StringStringEntryProto>& entries);
  void ValueInfo(const ValueInfoProto& info);
  void Others(const RepeatedMessages<TensorProto>& initializers, const RepeatedMessages<ValueInfoProto>& infos);
  void Body(const RepeatedMessages<NodeProto>& nodes);
  // What follows the attribute's name.
  void AttributeRest(const AttributeProto& attribute);
  void TensorValues(const TensorProto& tensor);
  void AttributeValue(const AttributeProto& attribute, int32_t type);

  std::string out_;
  int indent_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
