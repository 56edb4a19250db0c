// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of inference.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "onnx_io/text_parser.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "onnxseq/errors.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// Calls fn, which must throw E; the text of it.
template <class E, class Fn>
std::string TextOf(Fn fn) {
  try {
    fn();
  } catch (const E& e) {
    EXPECT_NE(dynamic_cast<const Error*>(&e), nullptr) << "not an Error: " << e.what();
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline std::vector<std::string> ProblemTexts(const onnx_optim::shapes::ShapesContext& ctx) {
  std::vector<std::string> texts;
  for (const auto& problem : ctx.Problems()) {
    const bool error = problem.level == onnx_optim::shapes::Problem::Level::kError;
    texts.push_back((error ? "error: " : "warning: ") + problem.message);
  }
  return texts;
}

}  // namespace ONNX_LIGHT_NAMESPACE
