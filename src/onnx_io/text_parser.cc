// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/text_parser.h"

#include <optional>
#include <string>
#include <utility>

#include "onnx_io/text_parser_impl.h"

namespace ONNX_LIGHT_NAMESPACE {

// --- nodes and graphs ---

// Names of values, where nothing before a comma is the empty name: `x, , y`; a comma at the end adds nothing.
void TextParser::Names(Repeated<String>& names, char close) {
  while (in_.Peek() != close) {
    std::optional<std::string> name = in_.TryName();
    if (!name && in_.Peek() != ',') return;
    names.add(name.value_or(""));
    if (!in_.Match(',')) return;
  }
}

NodeProto TextParser::Node() {
  NodeProto node;
  if (in_.Match('[')) {
    node.set_name(in_.TryName().value_or(""));
    in_.Expect(']');
  }
  Names(*node.mutable_output(), '=');
  in_.Expect('=');
  std::string domain;
  std::string_view op_type = in_.PeekIdentifier();
  if (op_type.empty() && in_.Peek() != '.') in_.Fail(fmt::format("expected an operator, found {}", in_.NextWord()));
  in_.TryIdentifier();
  while (in_.Match('.')) {
    if (!op_type.empty()) domain.append(domain.empty() ? "" : ".").append(op_type);
    op_type = in_.Identifier("an operator");
  }
  node.set_domain(std::move(domain));
  node.set_op_type(op_type);
  if (in_.Match(':')) node.set_overload(in_.Identifier("an overload"));
  const bool attributes_first = in_.Match('<');
  if (attributes_first) Attributes(*node.mutable_attribute());
  in_.Expect('(');
  Names(*node.mutable_input(), ')');
  in_.Expect(')');
  if (!attributes_first && in_.Match('<')) Attributes(*node.mutable_attribute());
  return node;
}

void TextParser::BodyNodes(RepeatedMessages<NodeProto>& nodes) {
  in_.Expect('{');
  while (!in_.Match('}')) {
    if (in_.AtEnd()) in_.Fail("expected a node or '}', found the end of the text");
    nodes.push_back(Node());
  }
}

// Names with or without types up to `close`. With `initializers`, a value may follow a tensor: it becomes an
// initializer, beside the entry or, with `only_others`, in its place.
void TextParser::ValueInfos(RepeatedMessages<ValueInfoProto>& infos, char close,
                            RepeatedMessages<TensorProto>* initializers, bool only_others) {
  List(close, [&] {
    ValueInfoProto info;
    const size_t start = in_.at();
    if (IsType()) *info.mutable_type() = OneType();
    info.set_name(in_.Name("the name of a value"));
    if (initializers != nullptr && in_.Match('=')) {
      TensorProto& tensor = initializers->add();
      tensor.set_name(info.name());
      TensorRest(std::as_const(info).type(), start, tensor);
      if (only_others) return;
    }
    infos.push_back(std::move(info));
  });
}

GraphProto TextParser::Graph() {
  const Level level(*this);
  GraphProto graph;
  graph.set_name(in_.Name("the name of a graph"));
  in_.Expect('(');
  ValueInfos(*graph.mutable_input(), ')', graph.mutable_initializer(), false);
  in_.ExpectArrow();
  in_.Expect('(');
  ValueInfos(*graph.mutable_output(), ')', nullptr, false);
  if (in_.Match('<')) ValueInfos(*graph.mutable_value_info(), '>', graph.mutable_initializer(), true);
  BodyNodes(*graph.mutable_node());
  return graph;
}

// --- models and functions ---

// `<key: value, ...>` when it is there; keyword(key) reads the value, or answers false when it knows no such key.
template <class Keyword>
void TextParser::Header(Keyword keyword) {
  if (!in_.Match('<')) return;
  do {
    const size_t start = in_.at();
    const std::string_view key = in_.Identifier("a keyword");
    in_.Expect(':');
    if (!keyword(key)) in_.Fail(fmt::format("'{}' is no keyword here", key), start);
  } while (in_.Match(','));
  in_.Expect('>');
}

void TextParser::OpsetImports(RepeatedMessages<OperatorSetIdProto>& imports) {
  in_.Expect('[');
  List(']', [&] {
    OperatorSetIdProto& import = imports.add();
    import.set_domain(in_.StringLiteral());
    in_.Expect(':');
    import.set_version(in_.Integer());
  });
}

void TextParser::StringMap(RepeatedMessages<StringStringEntryProto>& entries) {
  List(']', [&] {
    StringStringEntryProto& entry = entries.add();
    entry.set_key(in_.StringLiteral());
    in_.Expect(':');
    entry.set_value(in_.StringLiteral());
  });
}

FunctionProto TextParser::Function() {
  FunctionProto function;
  Header([&](std::string_view key) {
    if (key == "domain") return function.set_domain(in_.StringLiteral()), true;
    if (key == "overload") return function.set_overload(in_.StringLiteral()), true;
    if (key == "doc_string") return function.set_doc_string(in_.StringLiteral()), true;
    if (key == "opset_import") return OpsetImports(*function.mutable_opset_import()), true;
    return false;
  });
  function.set_name(in_.Name("the name of a function"));
  if (in_.Match('<')) {
    do {
      std::string name = in_.Name("the name of an attribute");
      const char next = in_.Peek();
      if (next != ':' && next != '=') {
        function.add_attribute(std::move(name));
        continue;
      }
      AttributeProto& attribute = *function.add_attribute_proto();
      attribute.set_name(std::move(name));
      int32_t declared = 0;
      if (in_.Match(':')) {
        declared = AttributeType();
        attribute.set_type(static_cast<AttributeProto::AttributeType>(declared));
      }
      if (in_.Match('=')) AttributeValue(attribute, declared);
    } while (in_.Match(','));
    in_.Expect('>');
  }
  // Types in the lists of inputs and outputs are kept as value infos; the lists themselves hold names only.
  const auto formals = [&](Repeated<String>& names) {
    RepeatedMessages<ValueInfoProto> infos;
    in_.Expect('(');
    ValueInfos(infos, ')', nullptr, false);
    for (ValueInfoProto& info : infos) {
      names.add(info.name());
      if (info.has_type()) function.mutable_value_info()->push_back(std::move(info));
    }
  };
  formals(*function.mutable_input());
  in_.ExpectArrow();
  formals(*function.mutable_output());
  if (in_.Match('<')) ValueInfos(*function.mutable_value_info(), '>', nullptr, false);
  BodyNodes(*function.mutable_node());
  return function;
}

ModelProto TextParser::Model() {
  ModelProto model;
  Header([&](std::string_view key) {
    if (key == "ir_version") return model.set_ir_version(in_.Integer()), true;
    if (key == "model_version") return model.set_model_version(in_.Integer()), true;
    if (key == "producer_name") return model.set_producer_name(in_.StringLiteral()), true;
    if (key == "producer_version") return model.set_producer_version(in_.StringLiteral()), true;
    if (key == "domain") return model.set_domain(in_.StringLiteral()), true;
    if (key == "doc_string") return model.set_doc_string(in_.StringLiteral()), true;
    if (key == "opset_import") return OpsetImports(*model.mutable_opset_import()), true;
    if (key == "metadata_props") return in_.Expect('['), StringMap(*model.mutable_metadata_props()), true;
    return false;
  });
  *model.mutable_graph() = Graph();
  while (!in_.AtEnd()) *model.add_functions() = Function();
  return model;
}

namespace {

template <class Parse>
auto Whole(std::string_view text, Parse parse) {
  TextParser parser(text);
  auto message = parse(parser);
  parser.End();
  return message;
}

}  // namespace

ModelProto ParseModelText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Model(); });
}
GraphProto ParseGraphText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Graph(); });
}
FunctionProto ParseFunctionText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Function(); });
}
NodeProto ParseNodeText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Node(); });
}
RepeatedMessages<NodeProto> ParseNodesText(std::string_view text) {
  return Whole(text, [](TextParser& p) {
    RepeatedMessages<NodeProto> nodes;
    p.Nodes(nodes);
    return nodes;
  });
}
TypeProto ParseTypeText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Type(); });
}
TensorProto ParseTensorText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Tensor(); });
}
AttributeProto ParseAttributeText(std::string_view text) {
  return Whole(text, [](TextParser& p) { return p.Attribute(); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
