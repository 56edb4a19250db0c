// SPDX-License-Identifier: Apache-2.0
// The recursive descent behind text_parser.h: nodes, graphs, models in text_parser.cc, types, tensors, attributes in
// text_values.cc.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "onnx_io/text_lexer.h"
#include "onnx_io/text_parser.h"

namespace ONNX_LIGHT_NAMESPACE {

class TextParser {
 public:
  explicit TextParser(std::string_view text) : in_(text) {}

  ModelProto Model();
  GraphProto Graph();
  FunctionProto Function();
  NodeProto Node();
  TypeProto Type();
  TensorProto Tensor();
  AttributeProto Attribute();
  void Nodes(RepeatedMessages<NodeProto>& nodes) {
    while (!in_.AtEnd()) nodes.push_back(Node());
  }
  void End() { in_.ExpectEnd(); }

 private:
  // Counts how deep graphs and types stand in each other.
  class Level {
   public:
    explicit Level(TextParser& parser) : parser_(parser) {
      if (parser.depth_ == kMaxTextDepth) {
        parser.in_.Fail(fmt::format("graphs and types are nested more than {} deep", kMaxTextDepth));
      }
      ++parser.depth_;
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TextParser& parser_;
  };

  // `one` for each part of a list separated by commas, up to and with `close`.
  template <class One>
  void List(char close, One one) {
    if (in_.Match(close)) return;
    do one();
    while (in_.Match(','));
    in_.Expect(close);
  }
  template <class Keyword>
  void Header(Keyword keyword);
  void OpsetImports(RepeatedMessages<OperatorSetIdProto>& imports);
  void StringMap(RepeatedMessages<StringStringEntryProto>& entries);
  void Names(Repeated<String>& names, char close);
  void ValueInfos(RepeatedMessages<ValueInfoProto>& infos, char close, RepeatedMessages<TensorProto>* initializers,
                  bool only_others);
  void BodyNodes(RepeatedMessages<NodeProto>& nodes);
  void Attributes(RepeatedMessages<AttributeProto>& attributes);
  int32_t AttributeType();
  bool IsType();
  TypeProto OneType();
  void TensorLiteral(const TypeProto& type, size_t type_at, TensorProto& tensor);
  void TensorRest(const TypeProto& type, size_t type_at, TensorProto& tensor);
  void AttributeValue(AttributeProto& attribute, int32_t declared);
  int32_t OneValue(AttributeProto& attribute, int32_t expected, bool in_list);

  TextLexer in_;
  int depth_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
