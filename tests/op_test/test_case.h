// SPDX-License-Identifier: Apache-2.0
// The tests in a .test file (src/ops/ADDING_AN_OP.md says how they are written), as values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/session.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

struct TestCase {
  std::string name;
  int line = 0;  // of the `test` line, from 1
  ModelProto model;
  ValueMap inputs;
  std::vector<std::pair<std::string, std::optional<Value>>> outputs;
  std::vector<std::pair<std::string, std::string>> shapes;
  std::optional<std::string> error;
  std::optional<std::string> shape_error;
  double rtol = 1e-5, atol = 1e-6;
};

// Throws std::runtime_error, `line 7: ...`, for what is not written as it should be.
std::vector<TestCase> ParseTestCases(std::string_view text);
// How many `test` lines there are, counted without the parser.
int CountTests(std::string_view text);

}  // namespace ONNX_LIGHT_NAMESPACE
