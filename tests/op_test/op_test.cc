// SPDX-License-Identifier: Apache-2.0
// Runs every .test file beside an operator: each test in it as it is, optimised, saved and loaded again, plain and
// optimised, and with its shapes inferred in both precisions and held against the run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "compare_values.h"
#include "onnx_io/reader.h"
#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"
#include "onnx_io/writer.h"
#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "onnxseq/shapes.h"
#include "runtime/shape_check.h"
#include "test_case.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::ShapesContext;
using onnx_optim::shapes::ShapeValue;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> TestFiles() {
  std::istringstream list(ReadAll(ONNXSEQ_OP_TEST_LIST));
  std::vector<std::string> files;
  for (std::string line; std::getline(list, line);)
    if (!line.empty()) files.push_back(line);
  return files;
}

SessionOptions Options(int threads, bool optimize = true) {
  setenv("ONNXSEQ_FUSE_FROM", "1", 1);  // the values here are small
  SessionOptions options;
  options.threads = threads;
  options.optimize = optimize;
  options.seed = 7;
  return options;
}

// What the run ends with: its message, "" when it ends well.
std::string ErrorOf(const TestCase& test, bool optimize) {
  try {
    Session::FromModel(test.model, Options(1, optimize)).Run(test.inputs);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void ExpectOutputs(const TestCase& test, const ValueMap& got, std::string_view mode) {
  for (const auto& [name, expected] : test.outputs) {
    ASSERT_TRUE(got.contains(name)) << mode << ": no output " << name;
    if (!expected) continue;
    EXPECT_EQ(Difference(got.at(name), *expected, test.rtol, test.atol), "") << mode << ": output " << name;
  }
}

void ExpectSame(const ValueMap& got, const ValueMap& expected, std::string_view mode) {
  for (const auto& [name, value] : expected)
    EXPECT_EQ(Difference(got.at(name), value, 0, 0), "") << mode << ": output " << name;
}

void RunPlain(const TestCase& test) {
  const ValueMap plain = Session::FromModel(test.model, Options(1, false)).Run(test.inputs);
  ExpectOutputs(test, plain, "plain");
  ExpectSame(Session::FromModel(test.model, Options(2, false)).Run(test.inputs), plain, "two threads");
  // No test has a Conv that BatchNormalization follows: no arithmetic is in another order.
  ExpectSame(Session::FromModel(test.model, Options(1)).Run(test.inputs), plain, "optimised");
  ExpectSame(Session::FromModel(OptimizeModel(test.model), Options(1, false)).Run(test.inputs), plain,
             "saved optimised");
}

void RunRoundTripped(const TestCase& test) {
  const std::string bytes = SerializeModel(test.model);
  const ModelProto again = ParseModel(bytes, nullptr);
  EXPECT_TRUE(again == test.model) << "round trip: the model differs";
  EXPECT_EQ(SerializeModel(again), bytes) << "round trip: the bytes differ";
  ExpectOutputs(test, Session::Parse(bytes, Options(1)).Run(test.inputs), "round trip");
}

void RunAsText(const TestCase& test) {
  std::string text;
  try {
    text = PrintModelText(test.model);
  } catch (const Unsupported&) {
    return;  // sparse tensors, which the syntax does not have
  }
  ExpectOutputs(test, Session::FromModel(ParseModelText(text), Options(1)).Run(test.inputs), "as text");
}

void ExpectNoContradiction(const TestCase& test, ShapeCheck check, int threads, std::string_view precision) {
  RunOptions watched;
  watched.observer = &check;
  Session::FromModel(test.model, Options(threads)).Run(test.inputs, {}, watched);
  EXPECT_THAT(check.contradictions(), ::testing::IsEmpty()) << precision << " against the run";
  EXPECT_GT(check.checked(), 0) << precision;
}

// What the documented precision knows of the main graph.
InferredShapes DocumentedShapes(const ModelProto& model) {
  ShapesContext context;
  for (const OperatorSetIdProto& opset : model.opset_import()) context.SetOpsetVersion(opset.domain(), opset.version());
  ComputeShapeGraph(context, model.graph());
  InferredShapes shapes;
  InferredGraph& main = shapes.graphs.emplace_back();
  for (const std::string& name : context.Names()) main.values.emplace(name, context.GetValue(name));
  return shapes;
}

const ShapeValue* FindIn(const InferredShapes& inferred, const std::string& name) {
  for (const InferredGraph& graph : inferred.graphs) {
    const auto it = graph.values.find(name);
    if (it != graph.values.end()) return &it->second;
  }
  return nullptr;
}

void CheckShapes(const TestCase& test) {
  const InferredShapes inferred = InferShapes(test.model);
  for (const auto& [name, expected] : test.shapes) {
    const ShapeValue* value = FindIn(inferred, name);
    EXPECT_EQ(value == nullptr ? "nothing" : value->ToString(), expected) << "exact: shape of " << name;
  }
  std::vector<std::string> errors;
  for (const ShapeProblem& problem : inferred.problems)
    if (problem.is_error) errors.push_back(problem.message);
  if (test.shape_error) {
    EXPECT_THAT(errors, ::testing::Contains(*test.shape_error)) << "exact";
  } else if (!test.error) {
    EXPECT_THAT(errors, ::testing::IsEmpty()) << "exact";
  }
  if (test.error || test.shape_error) return;
  for (const int threads : {1, 2}) ExpectNoContradiction(test, ShapeCheck(test.model, inferred), threads, "exact");
  ExpectNoContradiction(test, ShapeCheck(test.model, DocumentedShapes(test.model)), 1, "documented");
}

void RunTest(const TestCase& test) {
  if (test.error || test.shape_error) {
    const std::string error = ErrorOf(test, false);
    EXPECT_EQ(ErrorOf(test, true), error) << "optimised";
    if (test.error) {
      EXPECT_EQ(error, *test.error) << "plain";
    } else {
      // Inference is sound: what it refuses cannot run.
      EXPECT_NE(error, "") << "runs, though inference reports: " << *test.shape_error;
    }
    CheckShapes(test);
    return;
  }
  RunPlain(test);
  RunRoundTripped(test);
  RunAsText(test);
  CheckShapes(test);
}

class OpTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OpTest, Runs) {
  const std::string& path = GetParam();
  const std::string text = ReadAll(path);
  const std::vector<TestCase> cases = ParseTestCases(text);
  int ran = 0;
  std::set<std::string> names;
  for (const TestCase& test : cases) {
    const ::testing::ScopedTrace trace(path.c_str(), test.line, "test " + test.name);
    EXPECT_TRUE(names.insert(test.name).second) << "two tests of one name";
    try {
      RunTest(test);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "ended with " << e.what();
    }
    ++ran;
  }
  EXPECT_GT(ran, 0) << "no test in " << path;
  EXPECT_EQ(ran, CountTests(text)) << "not every test ran";
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  const size_t file = info.param.rfind('/'), family = info.param.rfind('/', file - 1);
  std::string name = info.param.substr(family + 1, info.param.rfind('.') - family - 1);
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, OpTest, ::testing::ValuesIn(TestFiles()), NameOf);

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
