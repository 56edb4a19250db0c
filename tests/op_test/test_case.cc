// SPDX-License-Identifier: Apache-2.0
#include "test_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "onnx_io/text_parser.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The first word, taken off `text`.
std::string_view TakeWord(std::string_view& text) {
  text = Trim(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = Trim(text.substr(end));
  return word;
}

struct Line {
  int number;
  std::string text;
};

// Goes over `text` outside of strings: calls fn(i, c) and stops when it returns false.
template <class Fn>
void OutsideStrings(std::string_view text, Fn fn) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && in_string) {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && !fn(i, text[i])) {
      return;
    }
  }
}

std::string_view WithoutComment(std::string_view line) {
  size_t end = line.size();
  OutsideStrings(line, [&](size_t i, char c) {
    if (c != '#') return true;
    end = i;
    return false;
  });
  return line.substr(0, end);
}

int OpenBrackets(std::string_view line) {
  int open = 0;
  OutsideStrings(line, [&](size_t, char c) {
    if (c == '[' || c == '(' || c == '{') ++open;
    if (c == ']' || c == ')' || c == '}') --open;
    return true;
  });
  return open;
}

// Messages and types stand as they are: no comment, no continuation.
bool IsVerbatim(std::string_view line) {
  const std::string_view word = TakeWord(line);
  return word == "error" || word == "shape_error" || word == "shape";
}

std::vector<Line> LogicalLines(std::string_view text) {
  std::vector<Line> lines;
  int number = 0, open = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view raw = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    const bool verbatim = open == 0 && IsVerbatim(raw);
    const std::string_view line = Trim(verbatim ? raw : WithoutComment(raw));
    if (line.empty()) continue;
    if (open > 0) {
      lines.back().text.append("\n").append(line);
    } else {
      lines.push_back({number, std::string(line)});
    }
    if (!verbatim) open = std::max(0, open + OpenBrackets(line));
  }
  return lines;
}

template <class T>
Tensor Narrowed(const TensorProto& proto) {
  const Tensor wide = TensorFromProto(proto);
  Tensor narrow(kTensorTypeOf<T>, wide.shape());
  const std::span<const float> from = wide.View<float>();
  for (size_t i = 0; i < from.size(); ++i) narrow.MutableView<T>()[i] = T(from[i]);
  return narrow;
}

Tensor ParseTensor(std::string_view text) {
  // A scalar may be written with empty brackets, which the text syntax keeps for tensors of unknown rank.
  std::string spelled(text);
  const size_t brackets = spelled.find("[]");
  if (brackets != spelled.npos && brackets < spelled.find('{')) spelled.erase(brackets, 2);
  // The text syntax gives these as bits; here they are numbers.
  if (spelled.starts_with("float16")) return Narrowed<Float16>(ParseTensorText("float" + spelled.substr(7)));
  if (spelled.starts_with("bfloat16")) return Narrowed<BFloat16>(ParseTensorText("float" + spelled.substr(8)));
  return TensorFromProto(ParseTensorText(spelled));
}

// What stands between the commas that are in no brackets.
std::vector<std::string_view> Listed(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  const auto add = [&](size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    if (part.find_first_not_of(" \t\r\n") != part.npos) parts.push_back(part);
    begin = end + 1;
  };
  OutsideStrings(text, [&](size_t i, char c) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == ',' && depth == 0) add(i);
    return true;
  });
  add(text.size());
  return parts;
}

// `map(int64[2] {1, 2}, float[2] {10, 20})`: a vector of keys, and the values in a row.
Map ParseMap(std::string_view text) {
  text = text.substr(std::min(text.find("map(") + 4, text.size()));
  const std::vector<std::string_view> parts = Listed(text.substr(0, text.rfind(')')));
  if (parts.size() != 2) throw std::runtime_error("a map is map(KEYS, VALUES)");
  const Tensor values = ParseTensor(Trim(parts[1]));
  if (values.rank() != 1) throw std::runtime_error("the values of a map are a vector of scalars");
  std::vector<Tensor> scalars;
  for (int64_t i = 0; i < values.NumElements(); ++i) scalars.push_back(values.Part(i, Shape{}));
  return Map(ParseTensor(Trim(parts[0])), Sequence(values.dtype(), std::move(scalars)));
}

// `maps [MAP, MAP, ...]`
Sequence ParseMaps(std::string_view text) {
  const size_t open = text.find('['), last = text.rfind(']');
  if (open == text.npos || last == text.npos || last < open) throw std::runtime_error("maps are maps [MAP, ...]");
  std::vector<Value> maps;
  for (const std::string_view map : Listed(text.substr(open + 1, last - open - 1))) maps.emplace_back(ParseMap(map));
  return Sequence::OfValues(std::move(maps));
}

Value ParseValue(std::string_view text) {
  text = Trim(text);
  if (text == "none") return Value();
  if (text.starts_with("map(")) return ParseMap(text);
  if (text.starts_with("maps")) return ParseMaps(text);
  if (!text.starts_with("seq(")) return ParseTensor(text);
  const size_t close = text.find(')'), open = text.find('[', close), last = text.rfind(']');
  if (close == text.npos || open == text.npos || last == text.npos || last < open)
    throw std::runtime_error("a sequence is seq(type) [TENSOR, ...]");
  const std::string type(Trim(text.substr(4, close - 4)));
  const TensorType dtype = onnx_optim::TensorTypeFromName(type);
  if (dtype == TensorType::kUndefined) throw std::runtime_error("no element type is named " + type);
  std::vector<Tensor> elements;
  for (const std::string_view element : Listed(text.substr(open + 1, last - open - 1)))
    elements.push_back(ParseTensor(element));
  return Sequence(dtype, std::move(elements));
}

void SetTensorType(const Tensor& tensor, bool with_shape, TypeProto* type) {
  TypeProto::Tensor& tensor_type = *type->mutable_tensor_type();
  tensor_type.set_elem_type(onnx_optim::TensorTypeToDataType(tensor.dtype()));
  if (!with_shape) return;
  TensorShapeProto& shape = *tensor_type.mutable_shape();
  for (const int64_t dim : tensor.shape()) shape.add_dim()->set_dim_value(dim);
}

// The type of a graph input that is not declared: the value's own.
void SetTypeOf(const Value& value, TypeProto* type) {
  if (value.IsTensor()) return SetTensorType(value.tensor(), true, type);
  if (value.IsMap()) {
    type->mutable_map_type()->set_key_type(onnx_optim::TensorTypeToDataType(value.map().key_type()));
    const Tensor scalar(value.map().values().dtype(), Shape{});
    return SetTensorType(scalar, true, type->mutable_map_type()->mutable_value_type());
  }
  if (!value.IsSequence()) throw std::runtime_error("an absent optional needs a declared type");
  TypeProto* elem = type->mutable_sequence_type()->mutable_elem_type();
  if (!value.sequence().HoldsTensors()) return SetTypeOf(value.sequence().ValueAt(0), elem);
  SetTensorType(Tensor(value.sequence().dtype(), Shape{0}), false, elem);
}

// `NAME [: TYPE] [= VALUE]`
struct Declaration {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::string> value;
};
Declaration ParseDeclaration(std::string_view text) {
  Declaration d;
  size_t equals = text.npos;
  OutsideStrings(text, [&](size_t i, char c) {
    if (c != '=') return true;
    equals = i;
    return false;
  });
  std::string_view head = text.substr(0, equals);
  if (equals != text.npos) d.value = std::string(Trim(text.substr(equals + 1)));
  const size_t colon = head.find(':');
  if (colon != head.npos) d.type = std::string(Trim(head.substr(colon + 1)));
  d.name = std::string(Trim(head.substr(0, colon)));
  if (d.name.empty()) throw std::runtime_error("a name is missing");
  return d;
}

class Parser {
 public:
  std::vector<TestCase> Parse(std::string_view text) {
    for (const Line& line : LogicalLines(text)) {
      try {
        std::string_view rest = line.text;
        const std::string_view word = TakeWord(rest);
        if (word == "test") {
          Finish();
          cases_.emplace_back();
          cases_.back().name = std::string(rest);
          cases_.back().line = line.number;
        } else if (cases_.empty()) {
          throw std::runtime_error("the first line must be `test NAME`");
        } else {
          Add(word, rest);
        }
      } catch (const std::exception& e) {
        throw std::runtime_error(fmt::format("line {}: {}", line.number, e.what()));
      }
    }
    Finish();
    return std::move(cases_);
  }

 private:
  void Add(std::string_view word, std::string_view rest) {
    TestCase& test = cases_.back();
    GraphProto& graph = *test.model.mutable_graph();
    if (word == "opset") {
      AddOpset("", rest);
    } else if (word == "domain") {
      const std::string_view domain = TakeWord(rest);
      AddOpset(std::string(domain), rest);
    } else if (word == "input") {
      const Declaration d = ParseDeclaration(rest);
      ValueInfoProto& info = *graph.add_input();
      info.set_name(d.name);
      if (!d.value && !d.type) throw std::runtime_error("an input needs a value or a type");
      const Value value = d.value ? ParseValue(*d.value) : Value();
      if (d.type) {
        info.set_type(ParseTypeText(*d.type));
      } else {
        SetTypeOf(value, info.mutable_type());
      }
      if (d.value) test.inputs[d.name] = value;
    } else if (word == "const") {
      const Declaration d = ParseDeclaration(rest);
      if (!d.value) throw std::runtime_error("a const needs a value");
      graph.add_initializer()->CopyFrom(TensorToProto(ParseTensor(*d.value), d.name));
    } else if (word == "node") {
      nodes_.append(rest).append("\n");
    } else if (word == "output") {
      const Declaration d = ParseDeclaration(rest);
      graph.add_output()->set_name(d.name);
      test.outputs.emplace_back(d.name, d.value ? std::optional(ParseValue(*d.value)) : std::nullopt);
    } else if (word == "shape") {
      const size_t equals = rest.find('=');
      if (equals == rest.npos) throw std::runtime_error("a shape is `shape NAME = TEXT`");
      test.shapes.emplace_back(Trim(rest.substr(0, equals)), Trim(rest.substr(equals + 1)));
    } else if (word == "error") {
      test.error = std::string(rest);
    } else if (word == "shape_error") {
      test.shape_error = std::string(rest);
    } else if (word == "tolerance") {
      test.rtol = ParseNumber(TakeWord(rest));
      if (!rest.empty()) test.atol = ParseNumber(rest);
    } else {
      throw std::runtime_error(fmt::format("'{}' begins no line of a test", word));
    }
  }

  static double ParseNumber(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw std::runtime_error(fmt::format("'{}' is no number", text));
    return value;
  }
  void AddOpset(const std::string& domain, std::string_view version) {
    OperatorSetIdProto& opset = *cases_.back().model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(static_cast<int64_t>(ParseNumber(version)));
  }

  // The nodes of the test so far are parsed as one text.
  void Finish() {
    if (cases_.empty()) return;
    TestCase& test = cases_.back();
    if (test.name.empty()) throw std::runtime_error(fmt::format("line {}: a test needs a name", test.line));
    try {
      test.model.set_ir_version(10);
      test.model.mutable_graph()->set_name(test.name);
      for (const NodeProto& node : ParseNodesText(nodes_)) test.model.mutable_graph()->add_node()->CopyFrom(node);
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("line {}: the nodes of test {}: {}", test.line, test.name, e.what()));
    }
    if (test.model.graph().node_size() == 0)
      throw std::runtime_error(fmt::format("line {}: test {} has no node", test.line, test.name));
    if (test.outputs.empty())
      throw std::runtime_error(fmt::format("line {}: test {} has no output", test.line, test.name));
    nodes_.clear();
  }

  std::vector<TestCase> cases_;
  std::string nodes_;
};

}  // namespace

std::vector<TestCase> ParseTestCases(std::string_view text) { return Parser().Parse(text); }

int CountTests(std::string_view text) {
  int count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (text.substr(begin, end - begin).starts_with("test ")) ++count;
    begin = end + 1;
  }
  return count;
}

}  // namespace ONNX_LIGHT_NAMESPACE
