// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/text_printer.h"

#include <algorithm>

#include "onnx_io/text_printer_impl.h"
#include "onnx_io/text_words.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool IsIdentifier(std::string_view word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !word.empty() && letter(word.front()) &&
         std::ranges::all_of(word, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

// --- words ---

void TextPrinter::Quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
}

void TextPrinter::Name(std::string_view name) {
  if (IsIdentifier(name) && !IsTypeWord(name)) {
    out_ += name;
  } else {
    Quoted(name);
  }
}

void TextPrinter::Identifier(std::string_view what, std::string_view name) {
  if (!IsIdentifier(name)) throw Unsupported(fmt::format("the text syntax cannot name {} \"{}\"", what, name));
  out_ += name;
}

void TextPrinter::OpsetImports(const RepeatedMessages<OperatorSetIdProto>& imports) {
  Listed("[", imports, "]", [&](const OperatorSetIdProto& import) {
    Quoted(import.domain());
    Say(": {}", import.version());
  });
}

void TextPrinter::StringMap(const RepeatedMessages<StringStringEntryProto>& entries) {
  Listed("[", entries, "]", [&](const StringStringEntryProto& entry) {
    Quoted(entry.key());
    out_ += ": ";
    Quoted(entry.value());
  });
}

// --- nodes and graphs ---

void TextPrinter::Node(const NodeProto& node) {
  try {
    if (node.has_name()) {
      out_ += '[';
      Name(node.name());
      out_ += "] ";
    }
    Names(node.output());
    out_ += " = ";
    std::string_view domain = node.domain();
    while (!domain.empty()) {
      const size_t end = std::min(domain.find('.'), domain.size());
      if (end + 1 == domain.size()) Identifier("the domain", node.domain());  // a dot at the end
      if (!IsIdentifier(domain.substr(0, end))) Identifier("the domain", node.domain());
      Say("{}.", domain.substr(0, end));
      domain.remove_prefix(std::min(end + 1, domain.size()));
    }
    Identifier("the operator", node.op_type());
    if (!node.overload().empty()) {
      out_ += ':';
      Identifier("the overload", node.overload());
    }
    out_ += '(';
    Names(node.input());
    out_ += ')';
    if (node.attribute().empty()) return;
    Listed(" <", node.attribute(), ">", [&](const AttributeProto& attribute) { Attribute(attribute); });
  } catch (Error& error) {
    error.AddNode(node.op_type(), node.name());
    throw;
  }
}

void TextPrinter::Body(const RepeatedMessages<NodeProto>& nodes) {
  out_ += '{';
  ++indent_;
  for (const NodeProto& node : nodes) {
    NewLine();
    Node(node);
  }
  --indent_;
  if (!nodes.empty()) NewLine();
  out_ += '}';
}

void TextPrinter::ValueInfo(const ValueInfoProto& info) {
  const size_t start = out_.size();
  Type(info.type());
  if (out_.size() != start) out_ += ' ';
  Name(info.name());
}

// Initializers and what is known of values that are neither inputs nor outputs, between the head and the body.
void TextPrinter::Others(const RepeatedMessages<TensorProto>& initializers,
                         const RepeatedMessages<ValueInfoProto>& infos) {
  if (initializers.empty() && infos.empty()) {
    out_ += ' ';
    return;
  }
  std::string_view separator = "<";
  ++indent_;
  NewLine();
  const auto next = [&] {
    out_ += separator;
    if (separator != "<") NewLine();
    separator = ",";
  };
  for (const TensorProto& tensor : initializers) {
    next();
    Tensor(tensor, false);
  }
  for (const ValueInfoProto& info : infos) {
    next();
    ValueInfo(info);
  }
  out_ += '>';
  --indent_;
  NewLine();
}

void TextPrinter::Graph(const GraphProto& graph, const std::string& name) {
  if (!graph.sparse_initializer().empty()) {
    throw Unsupported(
        fmt::format("the text syntax has no sparse initializers, the graph has {}", graph.sparse_initializer().size()));
  }
  Name(name);
  const auto infos = [&](const ValueInfoProto& info) { ValueInfo(info); };
  Listed(" (", graph.input(), ")", infos);
  Listed(" => (", graph.output(), ")", infos);
  Others(graph.initializer(), graph.value_info());
  Body(graph.node());
}

// --- models and functions ---

namespace {

// An attribute of a function that has a type and no default; an empty list is one all the same.
bool IsDeclaration(const AttributeProto& attribute) {
  AttributeProto declared;
  declared.set_name(attribute.name());
  declared.set_type(attribute.type());
  return AttributeTypeName(attribute.type()) != "undefined" && attribute == declared;
}

// Between the entries of a header: `<` before the first, `,` before the others.
class Separator {
 public:
  std::string_view Next() { return std::exchange(text_, ", "); }
  bool used() const { return text_ != "<"; }

 private:
  std::string_view text_ = "<";
};

}  // namespace

void TextPrinter::Function(const FunctionProto& function) {
  Separator separator;
  const auto text = [&](std::string_view key, const std::string& value) {
    Say("{}{}: ", separator.Next(), key);
    Quoted(value);
  };
  if (function.has_domain()) text("domain", function.domain());
  if (function.has_overload()) text("overload", function.overload());
  if (!function.opset_import().empty()) {
    Say("{}opset_import: ", separator.Next());
    OpsetImports(function.opset_import());
  }
  if (function.has_doc_string()) text("doc_string", function.doc_string());
  if (separator.used()) {
    out_ += '>';
    NewLine();
  }
  Name(function.name());
  if (!function.attribute().empty() || !function.attribute_proto().empty()) {
    out_ += " <";
    Names(function.attribute());
    if (!function.attribute().empty() && !function.attribute_proto().empty()) out_ += ", ";
    Listed("", function.attribute_proto(), ">", [&](const AttributeProto& attribute) {
      Name(attribute.name());  // in quotes when need be, other than in a node
      if (!IsDeclaration(attribute)) return AttributeRest(attribute);
      Say(": {}", AttributeTypeName(attribute.type()));
    });
  }
  out_ += " (";
  Names(function.input());
  out_ += ") => (";
  Names(function.output());
  out_ += ')';
  Others({}, function.value_info());
  Body(function.node());
}

void TextPrinter::Model(const ModelProto& model) {
  if (!model.training_info().empty()) throw Unsupported("the text syntax has no training information, the model has");
  Separator separator;
  const auto number = [&](std::string_view key, int64_t value) { Say("{}{}: {}", separator.Next(), key, value); };
  const auto text = [&](std::string_view key, const std::string& value) {
    Say("{}{}: ", separator.Next(), key);
    Quoted(value);
  };
  if (model.has_ir_version()) number("ir_version", model.ir_version());
  if (!model.opset_import().empty()) {
    Say("{}opset_import: ", separator.Next());
    OpsetImports(model.opset_import());
  }
  if (model.has_producer_name()) text("producer_name", model.producer_name());
  if (model.has_producer_version()) text("producer_version", model.producer_version());
  if (model.has_domain()) text("domain", model.domain());
  if (model.has_model_version()) number("model_version", model.model_version());
  if (model.has_doc_string()) text("doc_string", model.doc_string());
  if (!model.metadata_props().empty()) {
    Say("{}metadata_props: ", separator.Next());
    StringMap(model.metadata_props());
  }
  if (separator.used()) {
    out_ += '>';
    NewLine();
  }
  Graph(model.graph(), model.graph().name());
  for (const FunctionProto& function : model.functions()) {
    NewLine();
    Function(function);
  }
  NewLine();
}

namespace {

template <class Print>
std::string Text(Print print) {
  TextPrinter printer;
  print(printer);
  return std::move(printer).Take();
}

}  // namespace

std::string PrintModelText(const ModelProto& model) {
  return Text([&](TextPrinter& p) { p.Model(model); });
}
std::string PrintGraphText(const GraphProto& graph) {
  return Text([&](TextPrinter& p) { p.Graph(graph, graph.name()); });
}
std::string PrintFunctionText(const FunctionProto& function) {
  return Text([&](TextPrinter& p) { p.Function(function); });
}
std::string PrintNodeText(const NodeProto& node) {
  return Text([&](TextPrinter& p) { p.Node(node); });
}
std::string PrintTypeText(const TypeProto& type) {
  return Text([&](TextPrinter& p) { p.Type(type); });
}
std::string PrintTensorText(const TensorProto& tensor) {
  return Text([&](TextPrinter& p) { p.Tensor(tensor, false); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
