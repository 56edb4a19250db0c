// SPDX-License-Identifier: Apache-2.0
// fields.inc says what the onnx package says (tests/data/onnx_schema.txt, written by tools/dump_onnx_schema.py).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Flat class name to the schema's dotted name.
const std::map<std::string, std::string>& DottedNames() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> dotted;
#define ONNXSEQ_NESTED(M, Name, Flat) dotted[#Flat] = #M "." #Name;
#include "onnx_proto/model/fields.inc"
    return dotted;
  }();
  return names;
}
std::string Dotted(const std::string& flat) {
  const auto it = DottedNames().find(flat);
  return it == DottedNames().end() ? flat : it->second;
}
std::string SchemaField(std::string name) {
  if (name.ends_with('_')) name.pop_back();
  return name;
}

std::string TypeText(const std::string& message, const std::string& kind, const std::string& type) {
  if (kind == "MESSAGE") return "message:" + Dotted(type);
  if (kind == "ENUM") return "enum:" + (type == "OperatorStatus" ? type : Dotted(message) + "." + type);
  static const std::map<std::string, std::pair<std::string, std::string>> kScalars = {
      {"INT32", {"int32", "int32_t"}}, {"INT64", {"int64", "int64_t"}},  {"UINT64", {"uint64", "uint64_t"}},
      {"FLOAT", {"float", "float"}},   {"DOUBLE", {"double", "double"}}, {"STRING", {"string", "String"}},
      {"BYTES", {"bytes", "Bytes"}}};
  const auto& [schema, cpp] = kScalars.at(kind);
  EXPECT_EQ(type, cpp);
  return schema;
}

std::set<std::string> OurSchema() {
  std::set<std::string> lines;
  const auto field = [&](const std::string& message, const std::string& label, const std::string& kind,
                         const std::string& type, const std::string& name, int number, const std::string& oneof) {
    lines.insert("field " + Dotted(message) + " " + SchemaField(name) + " " + std::to_string(number) + " " +
                 (label == "OPTIONAL" ? "optional " : "repeated ") + TypeText(message, kind, type) + " " + oneof +
                 " - " + (label == "PACKED" ? "packed" : "-"));
  };
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) field(#M, #label, #kind, #type, #name, number, "-");
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) \
  field(#M, "OPTIONAL", #kind, #type, #name, number, #oneof);
#define ONNXSEQ_ENUM_VALUE(M, E, name, number) lines.insert("enum " + Dotted(#M) + "." #E " " #name " " #number);
#define ONNXSEQ_TOP_ENUM_VALUE(E, name, number) \
  lines.insert(std::string("enum " #E " ") + (number == 0 && #E[0] == 'V' ? "_" : "") + #name " " #number);
#include "onnx_proto/model/fields.inc"
  return lines;
}

TEST(Schema, IsThePackages) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/onnx_schema.txt");
  ASSERT_TRUE(file.is_open());
  std::set<std::string> expected;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) expected.insert(line);
  EXPECT_GT(expected.size(), 200u);
  EXPECT_EQ(OurSchema(), expected);
}

TEST(Schema, FieldsStandInTheOrderOfTheirNumbers) {
  std::map<std::string, int> last;
  const auto check = [&](const std::string& message, int number) {
    EXPECT_GT(number, last[message]) << message;
    EXPECT_LT(number, 32) << "presence is kept in 32 bits";
    last[message] = number;
  };
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) check(#M, number);
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) check(#M, number);
#include "onnx_proto/model/fields.inc"
  EXPECT_EQ(last.size(), 33u);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
