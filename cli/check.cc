// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "commands.h"
#include "json_events.h"
#include "json_text.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "onnxseq/shapes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// What keeps the model from being read or run, and what inference finds; errors first.
std::vector<ShapeProblem> ProblemsOf(const std::string& path) {
  std::vector<ShapeProblem> problems;
  try {
    problems = InferShapes(ReadModelFile(path)).problems;
  } catch (const std::exception& error) {
    return {{true, error.what()}};
  }
  try {
    SessionOptions options;
    options.threads = 1;
    Session::Load(path, options);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    const bool known =
        std::any_of(problems.begin(), problems.end(), [&](const ShapeProblem& p) { return p.message == message; });
    if (!known) problems.push_back({true, message});
  }
  std::vector<ShapeProblem> sorted;
  for (const bool errors : {true, false}) {
    std::copy_if(problems.begin(), problems.end(), std::back_inserter(sorted),
                 [&](const ShapeProblem& problem) { return problem.is_error == errors; });
  }
  return sorted;
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
