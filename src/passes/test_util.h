// SPDX-License-Identifier: Apache-2.0
// Passes on graphs in ONNX text.
#pragma once

#include <gmock/gmock.h>

#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"
#include "ops/infer_graph.h"
#include "passes/optimize.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::OptimShape;
using onnx_optim::shapes::ShapesContext;
using onnx_optim::shapes::ShapeValue;

// What inference says of the main graph, and of bodies under the names of the main graph.
class Inferred : public TypeKnowledge {
 public:
  explicit Inferred(const ModelProto& model) { InferModel(context_, model, &record_); }
  TensorType TypeOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    if (known == nullptr) return TensorType::kUndefined;
    return known->IsSequence() ? known->SequenceOf().ElemDtype() : known->Dtype();
  }
  OptimShape ShapeOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    return known != nullptr && known->HasRank() ? known->Shape() : OptimShape::Unknown();
  }
  std::optional<OptimDim> NumberOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    return known == nullptr ? std::nullopt : known->ScalarValue();
  }
  double ElementsOf(const GraphProto&, std::string_view) const override { return 0; }
  const ShapeValue* Find(const GraphProto&, std::string_view value) const override { return Find(value); }

 private:
  const ShapeValue* Find(std::string_view value) const {
    const std::string name(value);
    if (const ShapeValue* known = context_.Find(name)) return known;
    for (const BodyRecord& body : record_.bodies)
      if (const auto it = body.values.find(name); it != body.values.end()) return &it->second;
    return nullptr;
  }
  ShapesContext context_;
  InferenceRecord record_;
};

inline ModelProto Model(const std::string& graph) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph);
}
inline std::string Text(const std::string& graph) { return PrintGraphText(Model(graph).graph()); }

// The graph after the pass, which is to count `count`; its notes go to `notes`.
inline std::string After(int64_t (*pass)(GraphEdit&), int64_t count, const std::string& graph, int64_t least_fused = 1,
                         int threads = 1, std::vector<std::string>* notes = nullptr) {
  ModelProto model = Model(graph);
  const Inferred types(model);
  EditContext context;
  context.types = &types;
  context.least_fused = least_fused;
  context.threads = threads;
  if (notes != nullptr) context.note = [notes](std::string note) { notes->push_back(std::move(note)); };
  context.opsets = {{"", 17}, {"onnxseq.internal", 1}, {"com.microsoft", 1}};
  int made = 0;
  context.new_name = [&](std::string_view name) { return std::string(name) + "__" + std::to_string(++made); };
  const Captures captures(model.graph());
  GraphEdit edit(*model.mutable_graph(), captures, nullptr, context);
  EXPECT_EQ(pass(edit), count) << graph;
  edit.Commit();
  return PrintGraphText(model.graph());
}

}  // namespace ONNX_LIGHT_NAMESPACE
