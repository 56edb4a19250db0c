// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "json_events.h"
#include "json_text.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::vector<ShapeProblem> ProblemsOf(const std::string& path) {
  SessionOptions options;
  options.threads = 1;
  try {
    return FindProblems(ReadModelFile(path), options);
  } catch (const std::exception& error) {
    return {{true, error.what()}};
  }
}

}  // namespace

int CheckCommand(const std::string& path, bool as_json) {
  const std::vector<ShapeProblem> problems = ProblemsOf(path);
  if (as_json) {
    JsonText json;
    json.Object();
    EmitText(json, "model", path);
    EmitProblems(json, problems);
    json.EndObject();
    fmt::print("{}\n", json.text());
  } else {
    for (const ShapeProblem& problem : problems)
      fmt::print("{}: {}\n", problem.is_error ? "error" : "warning", problem.message);
    if (problems.empty()) fmt::print("{}: no problems\n", path);
  }
  return !problems.empty() && problems.front().is_error ? 1 : 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
