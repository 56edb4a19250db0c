// SPDX-License-Identifier: Apache-2.0
// Bodies over all elements, as batch_cases.txt has them: a title, the body, and what becomes of it. In the body's
// inputs a named dim is one that differs between elements; what begins with u is the same for all.
// ONNXSEQ_PRINT_CASES=1 prints the file as it would have to be.
#include "passes/batch/batch_body.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Case {
  std::string title, body, wanted;
};

std::vector<Case> ReadCases(const std::string& path, std::string& preface) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string* to = &preface;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      to = &cases.emplace_back(Case{line.substr(3), "", ""}).body;
    } else if (line == "--") {
      to = &cases.back().wanted;
    } else {
      *to += line + "\n";
    }
  }
  return cases;
}

std::string Batched(const std::string& body) {
  const ModelProto model = ParseModelText("<ir_version: 11, opset_import: [\"\" : 26]>\n" + body);
  BatchRequest request;
  request.body = &model.graph();
  request.model = &model;
  std::map<std::string, int> lengths;
  for (const ValueInfoProto& info : model.graph().input()) {
    const auto& type = info.type().tensor_type();
    BatchInput& input = request.inputs.emplace_back();
    input.dtype = onnx_optim::DataTypeToTensorType(type.elem_type());
    input.form = info.name().as_string().starts_with("u") ? BatchForm::kUniform : BatchForm::kStacked;
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_param()) {
        input.form = BatchForm::kPacked;
        input.axis = static_cast<int>(input.dims.size());
        input.lengths = lengths.emplace(std::string(dim.dim_param()), static_cast<int>(lengths.size())).first->second;
      }
      input.dims.push_back(dim.has_dim_param() ? 7 : dim.dim_value());
    }
  }
  std::string why_not;
  const std::optional<BatchedBody> batched = BatchBody(request, why_not);
  if (!batched) return "not: " + why_not + "\n";
  std::string text = PrintGraphText(batched->model.graph());
  if (!text.ends_with('\n')) text += '\n';
  for (const std::string& node : batched->per_element) text += "element by element: " + node + "\n";
  return text;
}

TEST(BatchBody, BodiesBecomeWhatTheCasesSay) {
  std::string preface;
  const std::vector<Case> cases = ReadCases(ONNXSEQ_SOURCE_DIR "/src/passes/batch/batch_cases.txt", preface);
  const bool print = std::getenv("ONNXSEQ_PRINT_CASES") != nullptr;
  if (print) std::printf("%s", preface.c_str());
  for (const auto& [title, body, wanted] : cases) {
    const std::string text = Batched(body);
    if (print) {
      std::printf("== %s\n%s--\n%s\n", title.c_str(), body.c_str(), text.c_str());
    } else {
      EXPECT_EQ(text + "\n", wanted) << title;
    }
  }
  EXPECT_GT(cases.size(), 60u);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
