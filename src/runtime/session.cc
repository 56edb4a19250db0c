// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/cpu_features.h"
#include "onnx_io/reader.h"
#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "runtime/session_impl.h"

namespace ONNX_LIGHT_NAMESPACE {

RunObserver::~RunObserver() = default;

Session Session::Load(const std::string& path, const SessionOptions& options) {
  return FromModel(ReadModelFile(path), options);
}

Session Session::Parse(std::string_view bytes, const SessionOptions& options) {
  return FromModel(TranslateErrors([&] { return ParseModel(bytes, nullptr); }), options);
}

Session Session::FromModel(ModelProto model, const SessionOptions& options) {
  return TranslateErrors([&] {
    ApplyIsaEnvironment();
    return Session(std::make_shared<const Impl>(std::move(model), options));
  });
}

std::span<const ValueDescription> Session::inputs() const { return impl_->input_descriptions; }
std::span<const ValueDescription> Session::outputs() const { return impl_->output_descriptions; }
const ModelProto& Session::model() const { return impl_->model; }
std::string Session::Explain() const { return impl_->Explain(); }

ValueMap Session::Run(const ValueMap& inputs, std::span<const std::string> outputs, const RunOptions& options) const {
  return TranslateErrors([&] { return impl_->Run(inputs, outputs, options); });
}

void Session::Trim() const { impl_->blocks.Trim(); }

std::vector<ShapeProblem> FindProblems(const ModelProto& model, const SessionOptions& options) {
  std::vector<ShapeProblem> problems;
  try {
    problems = InferShapes(model).problems;
  } catch (const std::exception& error) {
    return {{true, error.what()}};
  }
  try {
    SessionOptions quiet = options;
    quiet.on_warning = nullptr;  // inference has said it
    static_cast<void>(Session::FromModel(model, quiet));
  } catch (const std::exception& error) {
    const std::string message = error.what();
    // Inference may have said the same, perhaps as a warning.
    const auto same = std::ranges::find(problems, message, &ShapeProblem::message);
    if (same == problems.end())
      problems.push_back({true, message});
    else
      same->is_error = true;
  }
  std::vector<ShapeProblem> sorted;
  for (const bool errors : {true, false})
    std::ranges::copy_if(problems, std::back_inserter(sorted),
                         [&](const ShapeProblem& problem) { return problem.is_error == errors; });
  return sorted;
}

}  // namespace ONNX_LIGHT_NAMESPACE
