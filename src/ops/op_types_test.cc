// SPDX-License-Identifier: Apache-2.0
// Every element type that the specification lets an operator take or give is one its definition takes, or stands here
// with the reason why not.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ops/op_def.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kNoNumbers{TensorType::kString, TensorType::kBool, TensorType::kComplex64, TensorType::kComplex128};

struct Exception {
  std::string_view type;    // of operator
  std::string_view formal;  // "": all of them
  TypeSet types;
  std::string_view reason;
};
const Exception kExceptions[] = {
    {"Col2Im", "", kNoNumbers, "sums of text and truths mean nothing, and no model has complex images"},
    {"GridSample", "", kNoNumbers, "what lies between texts or truths means nothing, and no model has complex images"},
};

struct SchemaFormal {
  std::string side, name;
  TypeSet tensors, sequences;
};

TypeSet FromHex(const std::string& digits) {
  TypeSet types;
  std::from_chars(digits.data(), digits.data() + digits.size(), types.bits, 16);
  return types;
}

SchemaFormal ParseFormal(const std::string& word) {
  std::istringstream parts(word);
  SchemaFormal formal;
  std::string tensors, sequences;
  std::getline(parts, formal.side, ':');
  std::getline(parts, formal.name, ':');
  std::getline(parts, tensors, ':');
  std::getline(parts, sequences, ':');
  formal.tensors = FromHex(tensors);
  formal.sequences = FromHex(sequences);
  return formal;
}

// What the formal takes in one of the two forms.
TypeSet Taken(const Formal& formal, FormalKind alone) {
  const bool takes =
      formal.kind == alone || formal.kind == FormalKind::kTensorOrSequence || formal.kind == FormalKind::kAny;
  return takes ? formal.types : TypeSet{};
}

std::string Names(uint32_t bits) {
  std::string names;
  for (int32_t i = 0; i < 32; ++i)
    if ((bits >> i & 1) != 0) names.append(" ").append(onnx_optim::TensorTypeName(onnx_optim::DataTypeToTensorType(i)));
  return names;
}

TEST(OpTypes, AreThoseOfTheSpecification) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/op_types.txt");
  std::set<const Exception*> used;
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string domain, type, word;
    int64_t version = 0;
    words >> domain >> type >> version;
    const OpDef* op = FindOp(domain == "-" ? "" : domain, type, version);
    if (op == nullptr) continue;
    ++checked;
    size_t inputs = 0, outputs = 0;
    while (words >> word) {
      const SchemaFormal schema = ParseFormal(word);
      const bool input = schema.side == "in";
      const std::vector<Formal>& formals = input ? op->inputs : op->outputs;
      const size_t at = input ? inputs++ : outputs++;
      SCOPED_TRACE(type + "-" + std::to_string(version) + " " + schema.side + " " + schema.name);
      // Of outputs that only training has, there may be fewer.
      if (at >= formals.size() && !input) continue;
      ASSERT_LT(at, formals.size());
      uint32_t missing = (schema.tensors.bits & ~Taken(formals[at], FormalKind::kTensor).bits) |
                         (schema.sequences.bits & ~Taken(formals[at], FormalKind::kSequence).bits);
      for (const Exception& exception : kExceptions) {
        if (exception.type != type || (!exception.formal.empty() && exception.formal != schema.name)) continue;
        if ((missing & exception.types.bits) != 0) used.insert(&exception);
        missing &= ~exception.types.bits;
      }
      EXPECT_EQ(Names(missing), "");
    }
  }
  EXPECT_GT(checked, 300);
  for (const Exception& exception : kExceptions)
    EXPECT_TRUE(used.contains(&exception)) << exception.type << " takes all types now: " << exception.reason;
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
